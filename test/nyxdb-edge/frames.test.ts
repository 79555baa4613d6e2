import { once } from 'node:events';
import t from 'tap';
import { hex, REVOCATION, response } from '../nyxdb/engine.js';
import { until } from '../nyxdb/time.js';
import { AUTH, type Client, EXEC, request, startEdge } from './edge.js';

const ana = { authenticate: () => ({ provider: 'app_sessions', token: 't0k' }) };

/** A payload that the contract would have for an operation. */
const payloadFor = (op: number): string | Buffer =>
  op === 0x09 ? 'app_sessions\0t0k' : op === 0x0a ? Buffer.alloc(16, 7) : 'my_fills';

for (const [mode, changes, allowed] of [
  ['clients authenticate themselves', {}, [0x09, 0x0a, 0x0b, 0x0c]],
  ['the same, with capabilities', { allowCapability: true }, [0x09, 0x0a, 0x0b, 0x0c, 0x0f]],
  ['the edge authenticates', ana, [0x0a, 0x0b, 0x0c]],
] as const)
  t.test(
    `every operation but these ends the relay, and none of it reaches the engine: ${mode} (E5, C-60)`,
    async (t) => {
      const { connect, engine } = await startEdge(t, changes);
      const passed: number[] = [];
      const offset = 'authenticate' in changes ? 1 : 0;
      for (let op = 0; op < 256; op++) {
        const client = await connect();
        const peer = await engine.peer();
        if (offset === 1) await peer.authenticate();
        const frame = request(op, payloadFor(op));
        client.socket.send(frame);
        // The engine has a frame, or the client its end: whichever comes.
        const closed = await Promise.race([client.closed, peer.next().then(() => undefined)]);
        if (closed === undefined) {
          passed.push(op);
          t.same(peer.frames[offset], frame);
          client.socket.close();
        } else {
          t.same(closed, { code: 4403, reason: 'operation' }, `operation ${op}`);
          t.equal(peer.frames.length, offset, `operation ${op}`);
        }
        await peer.closed;
      }
      t.same(passed, allowed);
    },
  );

t.test('OP_AUTH has exactly one NUL: an operator comes not in from out here (C-59, R25)', async (t) => {
  const { connect, engine } = await startEdge(t);
  for (const payload of ['\0system\0root\0password', 'app_sessions', '', 'a\0b\0c', 'a\0\0', '\0\0']) {
    const client = await connect();
    client.socket.send(request(0x09, payload));
    t.same(await client.closed, { code: 4403, reason: 'operation' }, JSON.stringify(payload));
    await (await engine.peer()).closed;
  }
  t.same(
    engine.peers.flatMap(({ frames }) => frames),
    [],
  );
  const client = await connect();
  client.socket.send(request(0x09, '\0t0k'));
  t.equal((await (await engine.peer()).next()).subarray(21).toString(), '\0t0k', 'the only provider');
});

t.test('OP_AUTH once for each socket (R20)', async (t) => {
  const { connect, engine } = await startEdge(t);
  const client = await connect();
  client.socket.send(AUTH);
  const peer = await engine.peer();
  peer.answer(await peer.next(), 0x01, 'auth failed');
  t.equal((await client.message(0)).subarray(21).toString(), 'auth failed');
  client.socket.send(AUTH);
  t.same(await client.closed, { code: 4403, reason: 'operation' });
  await peer.closed;
  t.equal(peer.frames.length, 1);
});

const big = Buffer.concat([hex('0b 000102030405060708090a0b0c0d0e0f ffffffff'), Buffer.from('x')]);
for (const [what, bytes, code, reason] of [
  ['empty (C-01)', Buffer.alloc(0), 4002, 'malformed'],
  ['20 bytes (C-02)', EXEC.subarray(0, 20), 4002, 'malformed'],
  ['a length too short (C-04, C-10)', Buffer.concat([EXEC, Buffer.alloc(1)]), 4002, 'malformed'],
  ['a length too long (C-05, C-09)', EXEC.subarray(0, -1), 4002, 'malformed'],
  ['two frames (C-08)', Buffer.concat([EXEC, EXEC]), 4002, 'malformed'],
  ['4 GiB declared (C-06)', big, 4009, 'over-cap'],
  ['a zero id', request(0x0b, 'my_fills', '0'.repeat(32)), 4002, 'malformed'],
  ['a cancel of 15 bytes', request(0x0a, Buffer.alloc(15, 1)), 4002, 'malformed'],
  ['a cancel of 17 bytes', request(0x0a, Buffer.alloc(17, 1)), 4002, 'malformed'],
] as const)
  t.test(`a client's message that is no request ends the relay: ${what} (R10)`, async (t) => {
    const { connect, edge, engine } = await startEdge(t);
    const client = await connect();
    const peer = await engine.peer();
    await until(() => edge.status().live === 1);
    client.socket.send(bytes);
    t.same(await client.closed, { code, reason });
    t.equal(await peer.closed, 1000);
    t.same(peer.frames, []);
  });

t.test('text ends the relay, also text that spells a frame (E7, C-11, C-12)', async (t) => {
  const { connect, engine } = await startEdge(t);
  for (const text of ['ok', EXEC.toString('latin1'), '']) {
    const client = await connect();
    const peer = await engine.peer();
    client.socket.send(text, { binary: false });
    t.same(await client.closed, { code: 4002, reason: 'text-message' });
    await peer.closed;
    t.same(peer.frames, []);
  }
});

const small = { limits: { maxRequestBytes: 1_000, maxResponseBytes: 2_000, maxHeldBytes: 2_000 } };

t.test('caps hold on both sides, to the byte (E6, C-07)', async (t) => {
  const { connect, engine } = await startEdge(t, small);
  const client = await connect();
  const peer = await engine.peer();
  const largest = request(0x0b, Buffer.alloc(1_000, 0x61));
  client.socket.send(largest);
  t.same(await peer.next(), largest);
  const answer = response(largest.subarray(1, 17), 0, Buffer.alloc(2_000, 0x62));
  peer.send(answer);
  t.same(await client.message(0), answer);

  client.socket.send(request(0x0b, Buffer.alloc(1_001, 0x61)));
  t.equal((await client.closed).code, 1009, "ws's own refusal, before it is received");
  await peer.closed;
  t.equal(peer.frames.length, 1);

  const second = await connect();
  const other = await engine.peer();
  other.send(response(largest.subarray(1, 17), 0, Buffer.alloc(2_001, 0x62)));
  t.same(await second.closed, { code: 4009, reason: 'over-cap' });
  t.same(second.messages, []);

  const third = await connect();
  const endless = await engine.peer();
  for (const size of [2_021, 1]) endless.socket.send(Buffer.alloc(size), { fin: false });
  t.same(await third.closed, { code: 4009, reason: 'over-cap' }, 'before the end of it came');
});

t.test('a flood of fragments is cut off (C-69, E6)', async (t) => {
  const { connect, engine } = await startEdge(t);
  const { socket, closed } = await connect();
  const peer = await engine.peer();
  for (let index = 0; index < 64; index++) socket.send(Buffer.alloc(1), { fin: false });
  socket.send(Buffer.alloc(1), { fin: false });
  t.equal((await closed).code, 1008);
  await peer.closed;
  t.same(peer.frames, []);
  t.test('as many as are allowed make one message', async (t) => {
    const { socket } = await connect();
    const peer = await engine.peer();
    for (let at = 0; at < EXEC.length - 1; at++) socket.send(EXEC.subarray(at, at + 1), { fin: false });
    socket.send(EXEC.subarray(-1), { fin: true });
    t.same(await peer.next(), EXEC);
  });
});

const answered = (client: Client) => client.messages.map((message) => message.toString('hex'));

for (const [what, bytes, reason, code] of [
  ['short', EXEC.subarray(0, 20), 'engine-protocol', 4502],
  ['cut off', response(Buffer.alloc(16, 7), 0, 'abc').subarray(0, -1), 'engine-protocol', 4502],
  [
    'two in one',
    Buffer.concat([response(Buffer.alloc(16, 7), 0, 'a'), response(Buffer.alloc(16, 7), 0, 'a')]),
    'engine-protocol',
    4502,
  ],
  ['4 GiB declared', Buffer.concat([Buffer.alloc(16, 7), hex('00 ffffffff')]), 'over-cap', 4009],
  ['a zero id without a revocation (C-20)', response(Buffer.alloc(16), 0, 'a'), 'engine-protocol', 4502],
  [
    'a revocation with an LF (C-36)',
    response(Buffer.alloc(16), 1, 'auth revoked\n'),
    'engine-protocol',
    4502,
  ],
  ['a revocation of status 0', response(Buffer.alloc(16), 0, 'auth revoked'), 'engine-protocol', 4502],
] as const)
  t.test(`an engine's message that is no response ends both, and is not passed on: ${what}`, async (t) => {
    const { connect, engine } = await startEdge(t);
    const client = await connect();
    const peer = await engine.peer();
    peer.send(bytes);
    t.same(await client.closed, { code, reason });
    await peer.closed;
    t.same(answered(client), []);
  });

t.test('text from the engine ends both, also text that spells a response (C-71, E7)', async (t) => {
  for (const text of ['a\n1\n', `${'x'.repeat(16)}\0\0\0\0\x02a\n`]) {
    const { connect, engine } = await startEdge(t);
    const client = await connect();
    const peer = await engine.peer();
    peer.socket.send(text);
    t.same(await client.closed, { code: 4502, reason: 'engine-protocol' });
    await peer.closed;
    t.same(answered(client), []);
  }
});

t.test("text that spells the answer to the edge's OP_AUTH authenticates nobody (E7, E11)", async (t) => {
  const random = { fill: (bytes: Uint8Array) => bytes.fill(7), fraction: () => 0.5 };
  const { connect, engine } = await startEdge(t, { ...ana, random });
  const client = await connect();
  client.socket.send(EXEC);
  const peer = await engine.peer();
  await peer.next();
  peer.socket.send(`${'\x07'.repeat(16)}\0\0\0\0\x0eauthenticated\n`);
  t.same(await client.closed, { code: 4502, reason: 'engine-protocol' });
  await peer.closed;
  t.equal(peer.frames.length, 1);
});

for (const [mode, changes] of [
  ['clients authenticate themselves', {}],
  ['the edge authenticates', ana],
] as const)
  t.test(`a revocation passes byte for byte, then both end: ${mode} (E17)`, async (t) => {
    const { connect, engine } = await startEdge(t, changes);
    const client = await connect();
    const peer = await engine.peer();
    if ('authenticate' in changes) await peer.authenticate();
    peer.send(REVOCATION);
    peer.send(response(Buffer.alloc(16, 7), 0, 'too late'));
    t.same(await client.closed, { code: 4401, reason: 'revoked' });
    t.same(answered(client), [
      '0000000000000000000000000000000001 0000000c 61757468207265766f6b6564'.replaceAll(' ', ''),
    ]);
    t.equal(await peer.closed, 1000);
  });

t.test('any answer of the engine passes byte for byte, whatever its status and id', async (t) => {
  const { connect, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  const frames = Array.from({ length: 256 }, (_, status) =>
    response(Buffer.alloc(16, 255 - (status % 255)), status, Buffer.alloc(status, status)),
  );
  for (const frame of frames) peer.send(frame);
  await client.message(255);
  t.same(client.messages, frames);
});

t.test('a large answer arrives as one message (E6)', async (t) => {
  const { connect, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  const frame = response(Buffer.alloc(16, 7), 0, Buffer.alloc(16_777_216, 0x61));
  const received = once(client.socket, 'message');
  peer.send(frame);
  const [data] = await received;
  t.ok(frame.equals(data));
});
