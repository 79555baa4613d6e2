import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import type { ClientEvent } from '@nn-runtime/nyxdb';
import { createEndpointClient } from '@nn-runtime/nyxdb/node';
import t from 'tap';
import { payloadOf, REVOCATION, startEngine } from './engine.js';

const TOKEN = 'canary-token';
const SECRETS = /canary/;

t.test(
  'token, parameters and cells are in no error, event, URL, header, close reason or inspection (R26)',
  async (t) => {
    const engine = await startEngine(t);
    const seen: unknown[] = [];
    const events: ClientEvent[] = [];
    const hear = (message: unknown): void => void seen.push(message);
    subscribe('nn-runtime:nyxdb', hear);
    t.teardown(() => unsubscribe('nn-runtime:nyxdb', hear));
    const client = createEndpointClient({
      url: engine.url,
      authenticate: () => ({ provider: 'canary-provider', token: TOKEN }),
      onEvent: (event) => events.push(event),
    });
    t.teardown(() => void client.close());
    const reasons: string[] = [];
    const errors: unknown[] = [];
    const fail = async (
      answer: (request: Buffer) => readonly [number, string] | undefined,
    ): Promise<void> => {
      const call = client.execute('my_fills', ['canary-parameter']);
      const known = engine.peers.at(-1);
      const peer = known !== undefined && known.socket.readyState === 1 ? known : await engine.peer();
      peer.socket.once('close', (_code, reason) => reasons.push(String(reason)));
      let request = await peer.next();
      if (request.readUInt8(0) === 0x09) {
        t.equal(payloadOf(request), `canary-provider\0${TOKEN}`, 'the one place for a token');
        const refusal = answer(request);
        peer.answer(request, ...(refusal ?? ([0x00, 'authenticated\n'] as const)));
        if (refusal === undefined) request = await peer.next();
      }
      const reply = answer(request);
      if (reply === undefined) peer.send(REVOCATION);
      else if (request.readUInt8(0) === 0x0b) peer.answer(request, ...reply);
      await call.then(
        () => t.fail('must reject'),
        (error) => errors.push(error),
      );
      if ((errors.at(-1) as { code: string }).code !== 'APPLICATION_ERROR') await peer.closed;
    };
    const onExec = (status: number, body: string) => (request: Buffer) =>
      request.readUInt8(0) === 0x09 ? undefined : ([status, body] as const);
    await fail((request) => (request.readUInt8(0) === 0x09 ? ([0x01, 'auth failed'] as const) : undefined));
    await fail((request) =>
      request.readUInt8(0) === 0x09 ? ([0x01, `no user for ${TOKEN}`] as const) : undefined,
    );
    await fail(onExec(0x01, `select canary_column where token = '${TOKEN}'`));
    await fail(onExec(0x00, 'canary_column\tb\ncanary-cell\n'));
    await fail(onExec(0x02, 'canary'));
    await fail(() => undefined);
    client.setAuthenticate(() => {
      throw new Error(`cannot renew ${TOKEN}`);
    });
    await client.execute('a', ['canary-parameter']).catch((error) => errors.push(error));
    t.throws(() => createEndpointClient({ url: engine.url, authenticate: TOKEN as never }), TypeError);
    for (const wrong of ['canary\0', 'canary\ud800'])
      await client.execute('a', [wrong]).catch((error) => errors.push(error));

    t.equal(errors.length, 9);
    for (const error of errors as Error[]) {
      const sinks = [
        error.message,
        error.stack,
        inspect(error, { depth: 9 }),
        JSON.stringify(error),
        inspect(error.cause),
      ];
      t.notMatch(sinks.join('\n'), SECRETS, error.message);
    }
    t.match(
      errors.map((error) => (error as { code?: string }).code),
      [
        'AUTH_FAILED',
        'PROTOCOL_ERROR',
        'APPLICATION_ERROR',
        'PROTOCOL_ERROR',
        'PROTOCOL_ERROR',
        'AUTH_REVOKED',
        'CREDENTIALS_UNAVAILABLE',
        undefined,
        undefined,
      ],
    );
    t.ok(seen.length > 5, 'the diagnostics channel spoke');
    t.same(seen, events, 'and the observer heard the same');
    t.notMatch(inspect(seen, { depth: 9 }), SECRETS);
    t.notMatch(inspect(client, { depth: 9, showHidden: true }), SECRETS);
    t.notMatch(JSON.stringify(client.info()), SECRETS);
    for (const peer of engine.peers) t.notMatch(`${peer.path}${JSON.stringify(peer.headers)}`, SECRETS);
    t.ok(reasons.length > 0);
    t.same(new Set(reasons), new Set(['']), 'close reasons are empty');
  },
);

for (const [how, onEvent] of [
  [
    'throws',
    () => {
      throw new Error('observer');
    },
  ],
  // Nobody handles it: a rejection would end the process, and fails this test.
  ['rejects', () => Promise.reject(new Error('observer'))],
] as const)
  t.test(`an observer that ${how} changes nothing`, async (t) => {
    const engine = await startEngine(t);
    const client = createEndpointClient({
      url: engine.url,
      authenticate: () => ({ provider: 'p', token: 't' }),
      onEvent,
    });
    t.teardown(() => void client.close());
    const call = client.execute('a');
    const peer = await engine.ready();
    peer.answer(await peer.next(), 0x00, 'a\n');
    t.same((await call).columns, ['a']);
  });
