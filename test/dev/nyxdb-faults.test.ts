import { once } from 'node:events';
import type { NyxdbFault } from '@nn-runtime/dev';
import t from 'tap';
import { WebSocket } from 'ws';
import { engine, hex, id, request } from './fixtures/wire.js';

const platform = await engine(t, {
  endpoints: [
    { name: 'one', using: 'app_sessions', sql: 'SELECT 1 AS x' },
    { name: 'many', using: 'app_sessions', stream: true, sql: 'SELECT count(*) AS x FROM fills' },
  ],
});
const ID = '33'.repeat(16);
const ZERO = '00'.repeat(16);
const good = `${ID} 00 00000004 780a310a`;
const revocation = `${ZERO} 01 0000000c 61757468207265766f6b6564`;

/** What one execute is answered with under a fault, message by message, until a plain one follows. */
async function played(fault: NyxdbFault): Promise<Buffer[]> {
  const wire = await platform.as('local-ana');
  platform.nyxdb.setFaults([fault]);
  wire.send(request(0x0b, id(0x33), 'one'));
  wire.send(request(0x0b, id(0x44), 'one'));
  const messages: Buffer[] = [];
  for (;;) {
    const message = await wire.next();
    if (message.subarray(0, 16).equals(id(0x44))) return messages;
    messages.push(message);
  }
}

t.test('a frame damaged in each way', async (t) => {
  const cases: [NyxdbFault, string[]][] = [
    [{ on: 'exec', do: 'truncate' }, [`${ID} 00 00000004 780a31`]],
    [{ on: 'exec', do: 'trailing' }, [`${good} 00`]],
    [{ on: 'exec', do: 'split' }, [`${ID} 00 00000004`, '780a310a']],
    [{ on: 'exec', do: 'duplicate' }, [good, good]],
    [{ on: 'exec', do: 'merge' }, [`${good} ${good}`]],
    [{ on: 'exec', do: 'stall' }, []],
    [{ on: 'exec', do: 'delay', ms: 5 }, [good]],
    [{ on: 'exec', do: 'zeroId' }, [`${ZERO} 00 00000004 780a310a`]],
    [{ on: 'exec', do: 'status', status: 0xd0 }, [`${ID} d0 00000004 780a310a`]],
    [{ on: 'exec', do: 'overCap' }, [`${ID} 00 ffffffff`]],
    [{ on: 'exec', do: 'body', body: 'a\tb\n1\n' }, [`${ID} 00 00000006 6109620a310a`]],
    [{ on: 'exec', do: 'body', body: hex('fffe') }, [`${ID} 00 00000002 fffe`]],
    [{ on: 'exec', do: 'send', bytes: new Uint8Array(0) }, ['']],
  ];
  for (const [fault, expected] of cases) t.same(await played(fault), expected.map(hex), fault.do);
  const [text] = await played({ on: 'exec', do: 'text' });
  t.equal(text?.toString('latin1').startsWith('text: 333'), true, 'as a text message');
  const [wrong] = await played({ on: 'exec', do: 'wrongId' });
  t.not(wrong?.toString('hex', 0, 16), ID);
  t.same(wrong?.subarray(16), hex('00 00000004 780a310a'));
});

t.test('the end instead of an answer', async (t) => {
  for (const [fault, code] of [
    [{ on: 'exec', do: 'close', code: 1000 }, 1000],
    [{ on: 'exec', do: 'close', code: 4999 }, 4999],
    [{ on: 'exec', do: 'reset' }, 1006],
  ] as [NyxdbFault, number][]) {
    const wire = await platform.as('local-ana');
    platform.nyxdb.setFaults([fault]);
    wire.send(request(0x0b, id(0x33), 'one'));
    t.equal(await wire.closed, code);
  }
  const wire = await platform.as('local-ana');
  platform.nyxdb.setFaults([{ on: 'exec', do: 'revoke' }]);
  wire.send(request(0x0b, id(0x33), 'one'));
  t.same(await wire.next(), hex(revocation));
  await wire.closed;
});

t.test('a script chooses the operation and the count, over all connections', async (t) => {
  const wire = await platform.as('local-ana');
  const body = (text: string) => ({ do: 'body', body: text }) as const;
  platform.nyxdb.setFaults([
    { on: 'exec', nth: 2, ...body('second') },
    { on: 'exec', nth: 4, repeat: true, ...body('later') },
    { on: 'cancel', ...body('ack') },
    { on: 'auth', ...body('authenticated') },
  ]);
  const answers: string[] = [];
  for (let count = 0; count < 5; count++) answers.push((await wire.ask(0x0b, 'one'))[1]);
  t.same(answers, ['x\n1\n', 'second', 'x\n1\n', 'later', 'later']);
  t.same(await wire.ask(0x0a, id(1)), [0, 'ack']);
  const other = await platform.open();
  t.same(await other.ask(0x09, 'app_sessions\0local-ana'), [0, 'authenticated']);
  t.same((await other.ask(0x0b, 'one'))[1], 'later');
  platform.nyxdb.setFaults([]);
  t.same((await other.ask(0x0b, 'one'))[1], 'x\n1\n');
});

t.test('faults of a stream', async (t) => {
  const wire = await platform.as('local-ana');
  platform.nyxdb.setFaults([
    { on: 'delta', nth: 1, do: 'body', body: '~\t7\t1\n' },
    { on: 'delta', nth: 3, do: 'delay', ms: 20 },
    { on: 'end', do: 'duplicate' },
  ]);
  t.same(await wire.ask(0x0c, 'many'), [0xd0, 'x\n27\n']);
  for (let count = 0; count < 3; count++)
    await platform.nyxdb.write('INSERT INTO fills (fill_id) VALUES (1)');
  platform.nyxdb.drain();
  const bodies: string[] = [];
  for (let count = 0; count < 5; count++) bodies.push((await wire.answer()).body);
  t.same(
    bodies,
    ['~\t7\t1\n', '~\t0\t29\n', '~\t0\t30\n', '', ''],
    'a delayed frame keeps its place, also before the end',
  );
  t.equal(await wire.closed, 1000);
});

t.test('faults of the handshake', async (t) => {
  const upgrade = async (fault: NyxdbFault): Promise<string> => {
    platform.nyxdb.setFaults([fault]);
    const socket = new WebSocket(platform.nyxdbUrl, { handshakeTimeout: 200 });
    const [error] = await once(socket, 'error');
    return String(error);
  };
  t.match(await upgrade({ on: 'connect', do: 'truncate' }), '503');
  t.match(await upgrade({ on: 'connect', do: 'reset' }), /ECONNRESET|socket hang up/);
  t.match(await upgrade({ on: 'connect', do: 'stall' }), 'timed out');
  platform.nyxdb.setFaults([{ on: 'connect', do: 'close', code: 1013 }]);
  t.equal(await (await platform.open()).closed, 1013);
  await platform.as('local-ana');
});

t.test('every close code that a script may name reaches the client', async (t) => {
  for (const code of [1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 4999]) {
    platform.nyxdb.setFaults([{ on: 'connect', do: 'close', code }]);
    t.equal(await (await platform.open()).closed, code);
  }
});

t.test('a script at fault is refused', async (t) => {
  const wrong: object[] = [
    { on: 'exec', do: 'explode' },
    { on: 'everything', do: 'stall' },
    { on: 'exec', do: 'status', status: 256 },
    { on: 'exec', do: 'delay' },
    { on: 'exec', do: 'stall', nth: 0 },
    { on: 'exec', do: 'stall', ms: 5 },
    // A timer of 2^31 ms fires at once.
    { on: 'exec', do: 'delay', ms: 2_147_483_648 },
    // RFC 6455 section 7.4: nobody may send these, and ws would throw in the middle of an upgrade or a write.
    ...[999, 1004, 1005, 1006, 1015, 1016, 2999, 5000].map((code) => ({ on: 'connect', do: 'close', code })),
  ];
  for (const fault of wrong)
    t.throws(() => platform.nyxdb.setFaults([fault as NyxdbFault]), TypeError, JSON.stringify(fault));
});
