import {
  authText,
  callText,
  createRequestIds,
  decodeRequest,
  decodeResponse,
  decodeText,
  encodeRequest,
  encodeResponse,
  encodeText,
  FrameError,
  parseTsv,
} from '@nn-runtime/nyxdb/frames';
import t, { type Test } from 'tap';
import { hex } from './engine.js';

const ID = hex('000102030405060708090a0b0c0d0e0f');
const id = '000102030405060708090a0b0c0d0e0f';
const CAP = 16_777_216;

const refuses = (t: Test, run: () => unknown, reason: string, what: string): void => {
  try {
    run();
    t.fail(`${what} was accepted`);
  } catch (error) {
    t.ok(error instanceof FrameError, what);
    t.match(error, { name: 'FrameError', reason }, what);
  }
};

t.test('a random source that stops gives no id of before (R13)', async (t) => {
  let calls = 0;
  const nextId = createRequestIds((bytes) => {
    if (++calls === 1) bytes.fill(7);
  });
  const ids = 4096 / 16;
  for (let count = 0; count < ids; count++) nextId();
  t.throws(nextId, TypeError);
});

t.test('requests are the golden vectors byte for byte (R3, R5, R12, R29, R39)', async (t) => {
  const vectors: readonly (readonly [string, number, string, Uint8Array])[] = [
    [
      'auth',
      0x09,
      `09 ${id} 00000010 6170705f73657373696f6e73 00 74306b`,
      encodeText(authText('app_sessions', 't0k')),
    ],
    ['auth, only provider', 0x09, `09 ${id} 00000004 00 74306b`, encodeText(authText(null, 't0k'))],
    [
      'exec without parameters',
      0x0b,
      `0b ${id} 00000008 6d795f66696c6c73`,
      encodeText(callText('my_fills', [])),
    ],
    [
      'exec with one parameter',
      0x0b,
      `0b ${id} 00000010 6d795f66696c6c73 00 4254432d555344`,
      encodeText(callText('my_fills', ['BTC-USD'])),
    ],
    [
      'exec with one empty parameter',
      0x0b,
      `0b ${id} 00000009 6d795f66696c6c73 00`,
      encodeText(callText('my_fills', [''])),
    ],
    [
      'subscribe',
      0x0c,
      `0c ${id} 0000000c 626f6f6b 00 4254432d555344`,
      encodeText(callText('book', ['BTC-USD'])),
    ],
    [
      'cancel',
      0x0a,
      `0a ${id} 00000010 a0a1a2a3a4a5a6a7a8a9aaabacadaeaf`,
      hex('a0a1a2a3a4a5a6a7a8a9aaabacadaeaf'),
    ],
    ['text beyond ASCII', 0x0b, `0b ${id} 00000008 66 00 c3a9 f09f9880`, encodeText(callText('f', ['é😀']))],
  ];
  for (const [what, op, bytes, payload] of vectors) {
    t.same(Buffer.from(encodeRequest(op, ID, payload)), hex(bytes), what);
    const read = decodeRequest(hex(bytes), CAP);
    t.same(
      [read.op, Buffer.from(read.requestId), Buffer.from(read.payload)],
      [op, ID, Buffer.from(payload)],
      what,
    );
  }
});

t.test('responses are the golden vectors byte for byte (R4)', async (t) => {
  const vectors: readonly (readonly [string, string, number, string])[] = [
    [id, `${id} 00 0000000e 61757468656e746963617465640a`, 0x00, 'authenticated\n'],
    [id, `${id} 01 0000000b 61757468206661696c6564`, 0x01, 'auth failed'],
    ['00'.repeat(16), `${'00'.repeat(16)} 01 0000000c 61757468207265766f6b6564`, 0x01, 'auth revoked'],
    [
      id,
      `${id} 00 0000001f 71756572795f69640963616e63656c5f7265717565737465640a34320931 0a`,
      0x00,
      'query_id\tcancel_requested\n42\t1\n',
    ],
  ];
  for (const [requestId, bytes, status, text] of vectors) {
    t.same(Buffer.from(encodeResponse(hex(requestId), status, encodeText(text))), hex(bytes), text);
    const read = decodeResponse(hex(bytes), CAP);
    t.same(
      [Buffer.from(read.requestId), read.status, decodeText(read.payload)],
      [hex(requestId), status, text],
    );
  }
});

t.test('lengths are big-endian and stay unsigned (R5)', async (t) => {
  const payload = new Uint8Array(0x00010203);
  t.same(Buffer.from(encodeRequest(0x0b, ID, payload).subarray(17, 21)), hex('00 01 02 03'));
  t.equal(decodeResponse(encodeResponse(ID, 0, payload), CAP).payload.length, 0x00010203);
  refuses(
    t,
    () => decodeResponse(hex(`${id} 00 80000000`), 0x7fffffff),
    'over-cap',
    'a length with its top bit set',
  );
});

t.test(
  'a message that is not exactly one frame is refused, and named (R2, R6, R7, C-01 to C-10)',
  async (t) => {
    const good = `${id} 00 00000002 610a`;
    const cases: readonly (readonly [string, string, string])[] = [
      ['C-01 an empty message', '', 'short-frame'],
      ['C-02 twenty bytes', `${id} 00 000000`, 'short-frame'],
      ['C-04 a length too short', `${id} 00 00000001 6162`, 'trailing-bytes'],
      ['C-05 a length too long', `${id} 00 00000005 61626364`, 'truncated'],
      ['C-06 four declared GiB', `${id} 00 ffffffff`, 'over-cap'],
      ['C-08 two frames', `${good} ${good}`, 'trailing-bytes'],
      ['C-09 the head of a split frame', `${id} 00 00000002`, 'truncated'],
      ['C-10 a trailing NUL', `${good} 00`, 'trailing-bytes'],
    ];
    for (const [what, bytes, reason] of cases) {
      refuses(t, () => decodeResponse(hex(bytes), CAP), reason, what);
      refuses(t, () => decodeRequest(hex(bytes), CAP), reason, what);
    }
    t.same(decodeResponse(hex(`${id} 00 00000000`), CAP).payload.length, 0, 'C-03: a frame all the same');
    const over = Buffer.alloc(21 + 5);
    over.writeUInt32BE(5, 17);
    refuses(t, () => decodeResponse(over, 4), 'over-cap', 'C-07: one byte over the cap, really sent');
    t.equal(decodeResponse(over, 5).payload.length, 5, 'the cap itself is allowed');
    refuses(
      t,
      () => decodeResponse(Buffer.alloc(21 + 6), 5),
      'over-cap',
      'more than the cap behind a small length',
    );
  },
);

t.test('nothing is allocated for a declared length (R7, C-06)', async (t) => {
  const frame = hex(`${id} 00 ffffffff`);
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 1000; round++)
    refuses(
      { ok() {}, match() {}, fail: t.fail.bind(t) } as unknown as Test,
      () => decodeResponse(frame, CAP),
      'over-cap',
      'x',
    );
  t.ok(process.memoryUsage().arrayBuffers - before < 1_048_576);
});

t.test('what cannot be framed is a TypeError that does not quote it (R23, R30, R32, C-48)', async (t) => {
  const runs: readonly (() => unknown)[] = [
    () => authText('', 'secret'),
    () => authText('a\0secret', 't'),
    () => authText('a', 'secret\0'),
    () => authText('a', ''),
    () => authText('a', '\ud800secret'),
    () => authText(undefined as unknown as null, 't'),
    () => callText('', []),
    () => callText('a\0secret', []),
    () => callText('a', ['secret\0']),
    () => callText('a', ['secret\udc00']),
    () => callText('a', [null as unknown as string]),
    () => callText('a', [{ toString: () => 'secret' } as unknown as string]),
    () => encodeRequest(256, ID, ID),
    () => encodeRequest(1.5, ID, ID),
    () => encodeResponse(ID, -1, ID),
    () => encodeRequest(9, ID.subarray(1), ID),
  ];
  for (const run of runs)
    try {
      run();
      t.fail(`accepted: ${run}`);
    } catch (error) {
      t.ok(error instanceof TypeError, String(run));
      t.notMatch(String((error as Error).stack), /secret[^')]/, String(run));
    }
});

t.test('the shape of an operator cannot be built (R25)', async (t) => {
  t.throws(() => authText(null, 'system\0user\0password'), TypeError);
  t.throws(() => authText('\0system', 'user\0password'), TypeError);
});

t.test(
  'a request id is never zero, never given twice, and no other given out changes (R13, C-15)',
  async (t) => {
    let fills = 0;
    const zeroOnce = createRequestIds((bytes) =>
      fills++ === 0 ? bytes.fill(0) : crypto.getRandomValues(bytes),
    );
    t.notSame(zeroOnce(), new Uint8Array(16));
    t.equal(fills, 2, 'the second draw was used');

    let part = 0;
    const zeroFirst = createRequestIds((bytes) => bytes.fill(7).fill(0, 0, part++ === 0 ? 16 : 0));
    t.same(zeroFirst(), new Uint8Array(16).fill(7), 'a zero id among others is skipped');

    const next = createRequestIds((bytes) => crypto.getRandomValues(bytes));
    const kept = next();
    const copy = kept.slice();
    const seen = new Set<string>();
    for (let count = 0; count < 1_000_000; count++) seen.add(Buffer.from(next()).toString('latin1'));
    t.equal(seen.size, 1_000_000);
    t.same(kept, copy, 'an id given out stays as it was when the pool is filled again');

    t.throws(
      createRequestIds(() => {}),
      TypeError,
      'a source that gives nothing is found out',
    );
  },
);

t.test('strict UTF-8, and a leading U+FEFF is kept (R12)', async (t) => {
  t.equal(decodeText(hex('efbbbf 61')), '\ufeffa');
  for (const bytes of ['ff', 'c0 80', 'ed a0 80', 'f4 90 80 80', 'e2 82'])
    refuses(t, () => decodeText(hex(bytes)), 'utf8', bytes);
});

const limits = { maxRows: 3, maxColumns: 3 };
const table = (text: string, finalLf: 'optional' | 'required' = 'optional') =>
  parseTsv(text, { finalLf }, limits);

t.test('tables are read by their header, cells verbatim (R34, C-41 to C-44)', async (t) => {
  const cases: readonly (readonly [string, string[], string[][]])[] = [
    ['a\tb\n', ['a', 'b'], []],
    ['a', ['a'], []],
    ['a\n1', ['a'], [['1']]],
    ['a\n', ['a'], []],
    ['a\n\n', ['a'], [['']]],
    ['a\n\n\n', ['a'], [[''], ['']]],
    ['\n', [''], []],
    ['\t\n\t\n', ['', ''], [['', '']]],
    [
      'a\tb\tc\n1\t\t3\n\t\t\n',
      ['a', 'b', 'c'],
      [
        ['1', '', '3'],
        ['', '', ''],
      ],
    ],
    ['a\r\n\\t\r\n', ['a\r'], [['\\t\r']]],
    ['\ufeffa\nNULL\n\\N\n', ['\ufeffa'], [['NULL'], ['\\N']]],
    ['a\tb\n1\t2', ['a', 'b'], [['1', '2']]],
    ['a\tb\n1\t', ['a', 'b'], [['1', '']]],
  ];
  for (const [text, columns, rows] of cases) t.same(table(text), { columns, rows }, JSON.stringify(text));
});

t.test('a row of another width is refused, never padded (R34, C-44)', async (t) => {
  for (const text of [
    'a\tb\n1\n',
    'a\tb\n1',
    'a\n1\t2\n',
    'a\n1\t2',
    'a\tb\n1\t2\t3\n',
    'a\tb\n1\t2\n\n',
    'a\tb\n\n1\t2\n',
  ])
    refuses(t, () => table(text), 'tsv-columns', JSON.stringify(text));
  refuses(t, () => table(''), 'tsv-no-header', 'an empty body (C-03)');
  refuses(t, () => table('a\n1', 'required'), 'tsv-final-lf', 'C-42: where the profile requires the last LF');
  t.same(table('a\n1\n', 'required').rows, [['1']]);
});

t.test('tables past the limits are refused in bounded time (C-94)', async (t) => {
  t.same(table('a\tb\tc\n1\t2\t3\n1\t2\t3\n1\t2\t3\n').rows.length, 3, 'the limits themselves are allowed');
  refuses(t, () => table('a\tb\tc\td\n'), 'over-cap', 'columns');
  refuses(t, () => table('a\n1\n2\n3\n4\n'), 'over-cap', 'rows');
  refuses(t, () => table('\t'.repeat(1_000_000)), 'over-cap', 'a header of a million columns');
  refuses(t, () => table(`a\n${'\n'.repeat(10_000_000)}`), 'over-cap', 'ten million rows');
  // With the next tab looked for again on every line this takes minutes: each look runs to the end of the text.
  const rows = 300_000;
  const tall = parseTsv(
    `a\n${'x\n'.repeat(rows)}`,
    { finalLf: 'optional' },
    { maxRows: rows, maxColumns: 1 },
  );
  t.equal(tall.rows.length, rows);
  const small = (maxRows: number, maxColumns: number) =>
    parseTsv('a\tb\n1\t2\n3\t4\n', { finalLf: 'optional' }, { maxRows, maxColumns });
  for (const none of [Number.POSITIVE_INFINITY, 2 ** 32 - 1, 2 ** 32])
    t.same(small(none, none).columns, ['a', 'b'], 'no limit is no limit of zero');
  refuses(t, () => small(0.5, 2), 'over-cap', 'a limit between two numbers is one');
});
