import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { WebSocket } from 'ws';
import { ask } from './fixtures/http.js';
import { engine, hex, id, request } from './fixtures/wire.js';

const ID = '000102030405060708090a0b0c0d0e0f';
const platform = await engine(t, {
  sessions: [{ token: 't0k', claims: { user_id: 'u1', tenant: 'org_local', role: 'member' } }],
});

t.test('the bytes of the contract: authenticate, execute, cancel', async (t) => {
  await platform.nyxdb.write(
    "INSERT INTO fills VALUES (7, 'u1', 'BTC-USD', 'buy', 0.5, 64000.25, '2026-11-30 10:00:00'), (8, 'u2', 'BTC-USD', 'buy', 1, 1, NULL)",
  );
  const wire = await platform.open();
  wire.send(hex(`09 ${ID} 00000010 6170705f73657373696f6e7300 74306b`));
  t.same(await wire.next(), hex(`${ID} 00 0000000e 61757468656e746963617465640a`));
  wire.send(hex(`0b ${ID} 00000010 6d795f66696c6c73 00 4254432d555344`));
  const text =
    'fill_id\tinstrument\tside\tquantity\tprice\texecuted_at\n7\tBTC-USD\tbuy\t0.5000\t64000.25\t2026-11-30 10:00:00.000000\n';
  t.same(await wire.next(), Buffer.concat([hex(`${ID} 00 0000006c`), Buffer.from(text)]));
  wire.send(hex(`0a ${ID} 00000010 a0a1a2a3a4a5a6a7a8a9aaabacadaeaf`));
  const row = Buffer.from('query_id\tcancel_requested\n0\t0\n');
  t.same(await wire.next(), Buffer.concat([hex(`${ID} 00 0000001e`), row]));
});

t.test('a failed authentication and a wrong parameter, as bytes', async (t) => {
  const wire = await platform.open();
  wire.send(hex(`09 ${ID} 00000010 6170705f73657373696f6e7300 6e6f6e`));
  t.same(await wire.next(), hex(`${ID} 01 0000000b 61757468206661696c6564`));
  const other = await platform.as('t0k');
  other.send(hex(`0b ${ID} 00000008 6d795f66696c6c73`));
  t.same(await other.next(), hex(`${ID} 01 00000011 696e76616c696420706172616d65746572`));
});

t.test('one empty parameter is not no parameter', async (t) => {
  const wire = await platform.as('t0k');
  wire.send(hex(`0b ${ID} 00000009 6d795f66696c6c73 00`));
  t.same(await wire.answer(), {
    id: ID,
    status: 0,
    body: 'fill_id\tinstrument\tside\tquantity\tprice\texecuted_at\n',
  });
});

t.test('what is no frame ends the connection', async (t) => {
  const cases: [string, Buffer | string, number][] = [
    ['an empty message', Buffer.alloc(0), 1002],
    ['twenty bytes', hex(`0b ${ID} 000000`), 1002],
    ['a length that is short', hex(`0b ${ID} 00000001 6161`), 1002],
    ['a length that is long', hex(`0b ${ID} 00000005 61616161`), 1002],
    ['four gigabytes declared', hex(`0b ${ID} ffffffff`), 1002],
    ['two frames in one message', hex(`0f ${ID} 00000000 0f ${ID} 00000000`), 1002],
    ['a zero request id', hex(`0b ${'00'.repeat(16)} 00000001 61`), 1002],
    ['a text message', 'ok', 1003],
    ['a text message with the bytes of a frame', request(0x0b, id(1), 'one').toString('latin1'), 1003],
    ['a payload over 1 MiB', request(0x0b, id(1), Buffer.alloc(1_048_577)), 1009],
  ];
  for (const [name, bytes, code] of cases) {
    const wire = await platform.as('t0k');
    wire.socket.send(bytes);
    wire.send(request(0x0b, id(1), 'my_fills\0BTC-USD'));
    t.equal(await wire.closed, code, name);
    await t.rejects(wire.next(), /closed/, `${name}: nothing is answered any more`);
  }
});

t.test('a request with a payload of 1 MiB, the most a client sends by default, is taken', async (t) => {
  const wire = await platform.as('t0k');
  const payload = `my_fills\0${'x'.repeat(1_048_576 - 9)}`;
  t.same(await wire.ask(0x0b, payload), [0, 'fill_id\tinstrument\tside\tquantity\tprice\texecuted_at\n']);
});

t.test('operations that are not spoken here', async (t) => {
  const wire = await platform.open();
  t.same(await wire.ask(0x0f, 'anything'), [1, 'dev: capability not supported']);
  for (const op of [0x00, 0x08, 0x0d, 0x0e, 0x10, 0xff])
    t.same(await wire.ask(op), [1, 'dev: unknown operation'], String(op));
  await wire.authenticate('t0k');
  t.same(await wire.ask(0x0f), [1, 'dev: capability not supported']);
});

t.test('a payload that is not UTF-8', async (t) => {
  const open = await platform.open();
  t.same(await open.ask(0x09, hex('6170705f73657373696f6e7300 fffe')), [1, 'auth failed']);
  const wire = await platform.as('t0k');
  t.same(await wire.ask(0x0b, hex('6d795f66696c6c73 00 ff')), [1, 'invalid parameter']);
});

t.test('only this machine may open a connection, and no page of another origin', async (t) => {
  const refused = async (headers: Record<string, string>) => {
    const socket = new WebSocket(platform.nyxdbUrl, { headers });
    const [error] = await once(socket, 'error');
    return String(error);
  };
  t.match(await refused({ origin: 'https://attacker.example' }), '403');
  t.match(await refused({ origin: 'null' }), '403');
  t.match(await refused({ origin: 'http://127.0.0.1.attacker.example' }), '403');
  t.match(await refused({ host: 'attacker.example' }), '403');
  const { port } = new URL(platform.nyxdbUrl);
  for (const origin of ['http://localhost:5173', 'http://127.0.0.1:8080', 'http://[::1]:1']) {
    const socket = new WebSocket(platform.nyxdbUrl, { headers: { origin } });
    t.teardown(() => socket.terminate());
    await once(socket, 'open');
  }
  const elsewhere = connect(Number(port), '127.0.0.2');
  const [error] = await once(elsewhere, 'error');
  t.equal(error.code, 'ECONNREFUSED');
});

t.test('a subprotocol that a client offers is not taken', async (t) => {
  const socket = new WebSocket(platform.nyxdbUrl, ['nyxdb.edge-auth.v1']);
  const [error] = await once(socket, 'error');
  t.equal(error.message, 'Server sent no subprotocol');
});

t.test('a request that is no upgrade is told so', async (t) => {
  const answer = await ask(platform.nyxdbUrl.replace('ws:', 'http:'));
  t.equal(answer.status, 426);
  t.equal(answer.headers.upgrade, 'websocket');
});
