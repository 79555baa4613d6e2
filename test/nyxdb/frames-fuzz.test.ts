import {
  decodeRequest,
  decodeResponse,
  decodeText,
  encodeRequest,
  encodeResponse,
  FrameError,
  parseTsv,
} from '@nn-runtime/nyxdb/frames';
import t from 'tap';
import fc from '../property.js';
import { hex } from './engine.js';

const CAP = 4096;

/** The grammar again, as the contract words it, by other means than the codec's. */
const isFrame = (bytes: Buffer): boolean =>
  bytes.length >= 21 && bytes.readUInt32BE(17) <= CAP && bytes.readUInt32BE(17) === bytes.length - 21;

/** A table, as docs/nyxdb.md words it: every line has as many tabs as the header, and the last LF ends the last line. */
const tableOf = (text: string): string[][] | undefined => {
  if (text === '') return undefined;
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n').map((line) => line.split('\t'));
  const width = lines[0]?.length;
  return width !== undefined &&
    width <= 16 &&
    lines.length <= 65 &&
    lines.every((cells) => cells.length === width)
    ? lines
    : undefined;
};

// A small generator of our own with a fixed seed: 100,000 frames in a second, the same ones each time.
let state = 0x2545f491;
const random = (below: number): number => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
};

const SEEDS = [
  '09 000102030405060708090a0b0c0d0e0f 00000010 6170705f73657373696f6e73 00 74306b',
  '0b 000102030405060708090a0b0c0d0e0f 00000010 6d795f66696c6c73 00 4254432d555344',
  '0a 000102030405060708090a0b0c0d0e0f 00000010 a0a1a2a3a4a5a6a7a8a9aaabacadaeaf',
  '000102030405060708090a0b0c0d0e0f 00 0000000e 61757468656e746963617465640a',
  '000102030405060708090a0b0c0d0e0f 01 0000000b 61757468206661696c6564',
  '00000000000000000000000000000000 01 0000000c 61757468207265766f6b6564',
  '000102030405060708090a0b0c0d0e0f 00 0000000c 61 09 62 0a 31 09 32 0a 33 09 34 0a',
].map(hex);

const pick = (): Buffer => SEEDS[random(SEEDS.length)] ?? Buffer.alloc(0);

const mutate = (): Buffer => {
  let bytes = Buffer.from(pick());
  for (let times = random(3); times >= 0; times--) {
    const at = random(bytes.length + 1);
    const kind = random(6);
    if (kind === 0 && at < bytes.length) bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random(8)), at);
    else if (kind === 1) bytes = bytes.subarray(0, at);
    else if (kind === 2) bytes = Buffer.concat([bytes, pick().subarray(0, at)]);
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, at), pick().subarray(random(22))]);
    else if (kind === 4)
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([random(256)]), bytes.subarray(at)]);
    else if (bytes.length >= 21)
      bytes.writeUInt32BE([0, 1, bytes.length - 21, CAP, CAP + 1, 0xffffffff][random(6)] ?? 0, 17);
    bytes = Buffer.from(bytes);
  }
  return bytes;
};

t.test(
  '100,000 mutated and spliced frames: accepted exactly when they are frames, and nothing but a FrameError else',
  async (t) => {
    let accepted = 0;
    let tables = 0;
    for (let count = 0; count < 100_000; count++) {
      const bytes = mutate();
      const valid = isFrame(bytes);
      for (const decode of [decodeResponse, decodeRequest])
        try {
          const frame = decode(bytes, CAP);
          if (!valid) t.fail(`outside the grammar: ${bytes.toString('hex')}`);
          accepted++;
          if (Buffer.compare(frame.payload, bytes.subarray(21)) !== 0) t.fail('another payload');
          const again =
            'op' in frame
              ? encodeRequest(frame.op, frame.requestId, frame.payload)
              : encodeResponse(frame.requestId, frame.status, frame.payload);
          if (Buffer.compare(again, bytes) !== 0) t.fail('not the bytes it was read from');
          const text = decodeText(frame.payload);
          const expected = tableOf(text);
          const table = parseTsv(text, { finalLf: 'optional' }, { maxRows: 64, maxColumns: 16 });
          tables++;
          if (JSON.stringify([table.columns, ...table.rows]) !== JSON.stringify(expected))
            t.fail(`not the table: ${text}`);
        } catch (error) {
          if (!(error instanceof FrameError)) throw error;
          if (valid && !/^(utf8|tsv-.*|over-cap)$/.test(error.reason))
            t.fail(`a frame was refused: ${bytes.toString('hex')}`);
        }
    }
    t.ok(accepted > 10_000, `${accepted} were frames`);
    t.ok(tables > 1_000, `${tables} held tables`);
  },
);

t.test('every prefix of a frame is refused, byte by byte, and only the whole is accepted', async (t) => {
  for (const whole of SEEDS)
    for (let length = 0; length <= whole.length; length++) {
      const prefix = whole.subarray(0, length);
      try {
        decodeResponse(prefix, CAP);
        t.equal(length, whole.length);
      } catch (error) {
        t.match(error, { reason: length < 21 ? 'short-frame' : 'truncated' });
        t.not(length, whole.length);
      }
    }
});

t.test('reading what was written gives it back (R3, R4)', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 255 }),
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      fc.uint8Array({ maxLength: 600 }),
      (octet, id, payload) => {
        const request = decodeRequest(encodeRequest(octet, id, payload), CAP);
        const response = decodeResponse(encodeResponse(id, octet, payload), CAP);
        return [request, response].every(
          (frame) =>
            ('op' in frame ? frame.op : frame.status) === octet &&
            Buffer.compare(frame.requestId, id) === 0 &&
            Buffer.compare(frame.payload, payload) === 0,
        );
      },
    ),
  );
});

t.test('a table is read exactly as its grammar splits it', async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'é', '\t', '\n', '\r', '\\', '\ufeff'),
    maxLength: 40,
  });
  fc.assert(
    fc.property(text, (body) => {
      const expected = tableOf(body);
      try {
        const { columns, rows } = parseTsv(body, { finalLf: 'optional' }, { maxRows: 64, maxColumns: 16 });
        return JSON.stringify([columns, ...rows]) === JSON.stringify(expected);
      } catch (error) {
        return error instanceof FrameError && expected === undefined;
      }
    }),
    { numRuns: 20_000 },
  );
});
