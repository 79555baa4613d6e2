import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { createRuntime, type Identity, isPerson } from '@nn-runtime/core';
import t from 'tap';
import { answerJson, answerKeys, type Handler, startScriptedBroker } from '../broker.js';
import { frameworks } from '../frameworks.js';
import { RawConnection, requestText } from '../raw-http.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

/** Nobody is ever taken for somebody else, however requests meet (reference case 59; design I10). */

const environmentKey = makeKey('k1');
const key = makeKey('k2');
const PEOPLE = Array.from({ length: 50 }, (_, index) => {
  const subject = `person-${String(index).padStart(2, '0')}`;
  const claims = {
    sub: subject,
    sid: `session of ${subject}`,
    email: `${subject}@example.org`,
    jti: subject,
  };
  return { subject, identity: token(key, claims) };
});
type Ask = { readonly who: string; readonly lines: readonly string[] };
/** Four requests for each of fifty people, those of one person far apart; and nobody, and junk, between them. */
const ASKS: readonly Ask[] = Array.from({ length: 4 }, () => PEOPLE)
  .flat()
  .flatMap(({ subject, identity }, index): Ask[] => {
    const own = { who: subject, lines: [`X-NNumbers-Identity: ${identity}`] };
    if (index % 10 === 3) return [own, { who: 'anonymous', lines: [] }];
    if (index % 10 === 7)
      return [own, { who: 'refused', lines: [`X-NNumbers-Identity: ${identity.slice(0, -9)}`] }];
    return [own];
  });

const EVERYONE_AS_THEMSELVES = ASKS.map(({ who }) => [who, who]);

function whoIs(status: number, body: { kind?: string; subject?: string; [name: string]: unknown }): string {
  if (status === 401) return 'refused';
  if (body.kind === 'anonymous') return 'anonymous';
  const { subject = '?' } = body;
  const whole = body.sessionId === `session of ${subject}` && body.email === `${subject}@example.org`;
  const { sub, jti } = body.claims as { sub: string; jti: string };
  return whole && sub === subject && jti === subject ? subject : `a mixture: ${JSON.stringify(body)}`;
}

/** An answer that waits until it is let go. */
function held(handler: Handler): { handler: Handler; arrived: Promise<void>; release(): void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return {
    handler: (request, response, body) => {
      arrive();
      void released.then(() => handler(request, response, body));
    },
    arrived,
    release,
  };
}

/** Resolves when that many requests have reached the server on that port: Node tells of each. */
function arrivals(port: number, count: number): Promise<void> {
  return new Promise((resolve) => {
    let arrived = 0;
    const listener = (message: unknown): void => {
      if ((message as { request: IncomingMessage }).request.socket.localPort !== port) return;
      arrived += 1;
      if (arrived < count) return;
      unsubscribe('http.server.request.start', listener);
      resolve();
    };
    subscribe('http.server.request.start', listener);
  });
}

for (const framework of frameworks) {
  for (const maxIdentities of [10_000, 3, 0]) {
    t.test(`${framework.name}, keeping ${maxIdentities} identities`, async (t) => {
      const broker = await startScriptedBroker();
      const app = await framework.start({
        env: environment([environmentKey], broker.url),
        now: () => NOW_MS,
        maxIdentities,
      });
      t.teardown(async () => {
        await app.close();
        await broker.close();
      });

      t.test('all at once on connections of their own, while nobody has the key yet', async (t) => {
        const keys = held(answerKeys(key));
        broker.onKeys(keys.handler);
        const allHere = arrivals(app.port, ASKS.length);
        const answers = ASKS.map(async ({ who, lines }) => {
          const connection = await RawConnection.open(app.port);
          const { status, body } = await connection.request(lines);
          connection.close();
          return [who, whoIs(status, JSON.parse(body))];
        });
        await Promise.all([allHere, keys.arrived]);
        keys.release();
        const taken = await Promise.all(answers);
        t.strictSame(taken, EVERYONE_AS_THEMSELVES);
        t.equal(broker.countOf('/v1/jwks'), 1, 'for one question for keys');
        t.ok(ASKS.length > 200);
      });

      t.test('all on one connection, one after the other', async (t) => {
        const connection = await RawConnection.open(app.port);
        const taken: string[][] = [];
        for (const { who, lines } of ASKS) {
          const { status, body } = await connection.request(lines);
          taken.push([who, whoIs(status, JSON.parse(body))]);
        }
        connection.close();
        t.strictSame(taken, EVERYONE_AS_THEMSELVES);
      });

      t.test('each asks for data as itself', async (t) => {
        const warnings: string[] = [];
        const onWarning = (warning: Error): void => void warnings.push(warning.message);
        process.on('warning', onWarning);
        t.teardown(() => process.off('warning', onWarning));
        const waiting: (() => void)[] = [];
        broker.onQuery((request, response, body) => {
          const [, payload = ''] = String(request.headers['x-nnumbers-identity']).split('.');
          const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString());
          const answer = answerJson(200, { columns: [{ name: 'who', type: 'varchar' }], rows: [[sub]] });
          waiting.push(() => answer(request, response, body));
          // The last to ask is answered first.
          if (waiting.length === PEOPLE.length) for (const go of waiting.reverse()) go();
        });
        const answers = PEOPLE.map(async ({ subject, identity }) => {
          const response = await fetch(`${app.url}/query?sql=SELECT%201`, {
            headers: { 'X-NNumbers-Identity': identity },
          });
          return [subject, await response.json()];
        });
        for (const [subject, body] of await Promise.all(answers)) {
          t.strictSame(body, { columns: [{ name: 'who', type: 'varchar' }], rows: [[subject]] });
        }
        t.strictSame(warnings, [], 'and Node sees no leak in fifty queries at once');
      });
    });
  }

  t.test(`${framework.name}: pipelined on one connection, while nobody has the key yet`, async (t) => {
    const broker = await startScriptedBroker();
    const app = await framework.start({ env: environment([environmentKey], broker.url), now: () => NOW_MS });
    const connection = await RawConnection.open(app.port);
    t.teardown(async () => {
      connection.close();
      await app.close();
      await broker.close();
    });
    const keys = held(answerKeys(key));
    broker.onKeys(keys.handler);
    const allHere = arrivals(app.port, ASKS.length);
    connection.write(ASKS.map(({ lines }) => requestText(lines)).join(''));
    const answers = ASKS.map(() => connection.answer());
    await Promise.all([allHere, keys.arrived]);
    keys.release();
    const taken = (await Promise.all(answers)).map(({ status, body }, index) => [
      ASKS[index]?.who,
      whoIs(status, JSON.parse(body)),
    ]);
    t.strictSame(taken, EVERYONE_AS_THEMSELVES);
  });

  t.test(`${framework.name}: what a handler does to its identity stays without effect`, async (t) => {
    const broker = await startScriptedBroker();
    const done: string[] = [];
    const app = await framework.start(
      { env: environment([key], broker.url), now: () => NOW_MS },
      { visit: ({ identity }) => done.push(...changesThatWorked(identity)) },
    );
    t.teardown(async () => {
      await app.close();
      await broker.close();
    });
    const rich = token(key, {
      jti: 'rich',
      groups: ['staff', { of: ['acme'] }],
      address: { city: 'Recife' },
    });
    const connection = await RawConnection.open(app.port);
    const before = JSON.parse((await connection.request([`X-NNumbers-Identity: ${rich}`])).body);
    const after = JSON.parse((await connection.request([`X-NNumbers-Identity: ${rich}`])).body);
    const nobody = await connection.request([]);
    connection.close();
    t.strictSame(done, []);
    t.strictSame(before.claims.groups, ['staff', { of: ['acme'] }]);
    t.equal(before.subject, 'ana-0001');
    t.equal(before.issuedAt, '2026-11-30T12:00:00.000Z');
    t.strictSame(after, before);
    t.strictSame(JSON.parse(nobody.body), { kind: 'anonymous' });
    t.equal(({} as Record<string, unknown>).admin, undefined);
  });
}

t.test('directly: 200 at once for 50 people while nobody has the key yet', async (t) => {
  const broker = await startScriptedBroker();
  const keys = held(answerKeys(key));
  broker.onKeys(keys.handler);
  const runtime = createRuntime({ env: environment([environmentKey], broker.url), now: () => NOW_MS });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  const asked = Array.from({ length: 4 }, () => PEOPLE).flat();
  const pending = Promise.all(asked.map(({ identity }) => runtime.authenticate(identity)));
  await keys.arrived;
  keys.release();
  const taken = (await pending).map(({ identity }) => whoIs(200, JSON.parse(JSON.stringify(identity))));
  t.strictSame(
    taken,
    asked.map(({ subject }) => subject),
  );
  t.equal(broker.countOf('/v1/jwks'), 1);
  t.equal(runtime.status().identities, 50);
});

t.test('directly: callers are frozen through and through', async (t) => {
  const runtime = createRuntime({ env: environment([key]), now: () => NOW_MS });
  t.teardown(() => runtime.close());
  for (const header of [undefined, token(key, { groups: [{ of: ['acme'] }] })]) {
    const caller = await runtime.authenticate(header);
    t.strictSame(changesThatWorked(caller.identity), []);
    t.ok(Object.isFrozen(caller));
    t.ok(Object.isFrozen(caller.queryMesh));
    t.throws(() => Object.assign(caller, { identity: { kind: 'anonymous' } }), TypeError);
    t.throws(() => Object.assign(caller.queryMesh, { who: 'eva' }), TypeError);
  }
});

/** Tries to change whatever there is, and names what was changed. */
function changesThatWorked(identity: Identity): string[] {
  const worked: string[] = [];
  const before = JSON.stringify(identity);
  const visited = new Set<object>();
  const attack = (target: object, path: string): void => {
    if (visited.has(target)) return;
    visited.add(target);
    const attempts: Record<string, () => unknown> = {
      'add a member': () => Reflect.set(target, 'admin', true),
      'define a member': () => Reflect.defineProperty(target, 'admin', { value: true }),
      'change the prototype': () => Reflect.setPrototypeOf(target, { admin: true }),
      'push an element': () => Array.isArray(target) && Reflect.set(target, target.length, 'admin'),
    };
    for (const name of Reflect.ownKeys(target)) {
      const value = name === 'length' ? 0 : 'eva';
      attempts[`set ${String(name)}`] = () => Reflect.set(target, name, value);
      attempts[`delete ${String(name)}`] = () => Reflect.deleteProperty(target, name);
      attempts[`redefine ${String(name)}`] = () => Reflect.defineProperty(target, name, { value });
    }
    for (const [attempt, run] of Object.entries(attempts)) {
      if (run() === true) worked.push(`${path}: ${attempt}`);
    }
    for (const [name, value] of Object.entries(target)) {
      if (value instanceof Date) {
        value.setTime(0);
        Object.assign(value, { toJSON: () => 'eva' });
      } else if (typeof value === 'object' && value !== null) attack(value, `${path}.${name}`);
    }
  };
  attack(identity, 'identity');
  if (JSON.stringify(identity) !== before) worked.push('the identity is another one');
  if (isPerson(identity)) {
    const { issuedAt } = identity;
    if (issuedAt === identity.issuedAt) worked.push('a Date is shared');
  }
  return worked;
}
