import t from 'tap';
import { payloadOf } from '../nyxdb/engine.js';
import { AUTH, EXEC, startEdge } from './edge.js';

t.test('a page authenticates itself and calls, through the edge', async (t) => {
  const { connect, engine } = await startEdge(t);
  const client = await connect();
  client.socket.send(AUTH);
  const peer = await engine.peer();
  t.same(await peer.next(), AUTH, 'byte for byte');
  peer.answer(AUTH, 0x00, 'authenticated\n');
  t.equal(
    (await client.message(0)).toString('hex'),
    `000102030405060708090a0b0c0d0e0f000000000e61757468656e746963617465640a`,
  );
  client.socket.send(EXEC);
  t.same(await peer.next(), EXEC);
  peer.answer(EXEC, 0x00, 'a\n1\n');
  t.equal((await client.message(1)).subarray(21).toString(), 'a\n1\n');
});

t.test('the edge authenticates for the person, who holds no token', async (t) => {
  const { connect, engine } = await startEdge(t, {
    authenticate: ({ organization, subject }) => ({
      provider: 'app_sessions',
      token: `t0k-of-${organization.id}-${subject}`,
    }),
  });
  const client = await connect();
  client.socket.send(EXEC);
  const peer = await engine.peer();
  const auth = await peer.authenticate();
  t.equal(auth[0], 0x09);
  t.equal(payloadOf(auth), 'app_sessions\0t0k-of-org-51c2-ana-0001');
  t.same(await peer.next(), EXEC, 'what came early was held');
  peer.answer(EXEC, 0x00, 'a\n1\n');
  t.equal(
    (await client.message(0)).subarray(21).toString(),
    'a\n1\n',
    'the answer to OP_AUTH was not passed on',
  );
});
