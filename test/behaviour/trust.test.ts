import t, { type Test } from 'tap';
import { answerJson, answerKeys, type Handler, type ScriptedBroker, startScriptedBroker } from '../broker.js';
import { type Door, doors } from '../doors.js';
import { claims, environment, headerOf, makeKey, NOW_MS, type SigningKey, signParts } from '../tokens.js';

/** Which keys count, as requests see it (reference cases 42 to 50). The key store's own rules are tested with the key store. */

const k1 = makeKey('k1');
const k2 = makeKey('k2');
const k3 = makeKey('k3');

interface Scene {
  readonly broker: ScriptedBroker;
  readonly clock: { nowMs: number };
  /** How a new identity of that key is taken now: `person`, or the reason. */
  take(key: SigningKey): Promise<string>;
}

async function scene(t: Test, door: Door, options: { keySetTimeoutMs?: number } = {}): Promise<Scene> {
  const broker = await startScriptedBroker();
  broker.onKeys(answerKeys(k2));
  const clock = { nowMs: NOW_MS };
  const env = environment([k1], broker.url);
  const open = await door.open({ env, now: () => clock.nowMs, random: () => 0, ...options });
  t.teardown(async () => {
    await open.close();
    await broker.close();
  });
  return {
    broker,
    clock,
    take: async (key) => {
      const value = signParts(key, JSON.stringify(headerOf(key)), JSON.stringify(claims({}, clock.nowMs)));
      const { status, outcome } = await open.ask(value);
      const expected = outcome === 'person' ? 200 : outcome === 'keys-unavailable' ? 503 : 401;
      return status === expected ? outcome : `${outcome} with ${status}`;
    },
  };
}

const MINUTE_MS = 60_000;
/** What is no key set, or none of any use, however it is sent. */
const NO_KEYS: Readonly<Record<string, Handler>> = {
  'status 500': answerJson(500, { keys: [k3.jwk] }),
  'status 404': answerJson(404, {}),
  'status 201': answerJson(201, { keys: [k3.jwk] }),
  'a redirect': (request, response) =>
    response.writeHead(302, { location: `http://${request.headers.host}/elsewhere` }).end(),
  HTML: (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
  'broken JSON': (_request, response) => response.writeHead(200).end('{"keys":['),
  nothing: (_request, response) => response.writeHead(200).end(),
  '{}': answerJson(200, {}),
  'keys as an object': answerJson(200, { keys: {} }),
  'keys of null': answerJson(200, { keys: [null] }),
  'no keys': answerJson(200, { keys: [] }),
  'a private key': answerJson(200, { keys: [{ ...k3.privateKey.export({ format: 'jwk' }), kid: 'k3' }] }),
  '257 KiB': (_request, response) =>
    response.writeHead(200).end(JSON.stringify({ keys: [k3.jwk] }).padEnd(257 * 1024)),
  'a reset': (request) => request.socket.resetAndDestroy(),
};

for (const door of doors) {
  t.test(`${door.name}: a key of the environment counts whatever the broker publishes`, async (t) => {
    const { broker, clock, take } = await scene(t, door);
    t.equal(await take(k2), 'person');
    t.equal(await take(k1), 'person');
    broker.onKeys(answerKeys(k3));
    clock.nowMs += 20 * MINUTE_MS;
    t.equal(await take(k3), 'person');
    t.equal(await take(k1), 'person');
    const usurper = makeKey('k1');
    broker.onKeys(answerKeys(usurper));
    clock.nowMs += 20 * MINUTE_MS;
    t.equal(await take(usurper), 'signature');
    t.equal(await take(k1), 'person');
  });

  t.test(`${door.name}: a key that was withdrawn is gone with the next good answer`, async (t) => {
    const { broker, take } = await scene(t, door);
    t.equal(await take(k2), 'person');
    broker.onKeys(answerKeys(k3));
    t.equal(await take(k2), 'person', 'until there is one');
    t.equal(await take(k3), 'person', 'a key rotated in is found at once');
    t.equal(await take(k2), 'unknown-key');
    t.equal(broker.countOf('/v1/jwks'), 3);
  });

  t.test(`${door.name}: a broker that is down`, async (t) => {
    const { broker, clock, take } = await scene(t, door);
    broker.onKeys(answerJson(500, {}));
    t.equal(await take(k2), 'keys-unavailable', 'nobody can say yet');
    t.equal(await take(k1), 'person');
    clock.nowMs += MINUTE_MS;
    broker.onKeys(answerKeys(k2));
    t.equal(await take(k2), 'person');
    broker.onKeys(answerJson(500, {}));
    clock.nowMs += 5 * MINUTE_MS - 1;
    t.equal(await take(k2), 'person', 'fresh');
    t.equal(await take(k3), 'unknown-key', 'a fresh set knows who is unknown');
    clock.nowMs += 10 * MINUTE_MS;
    t.equal(await take(k2), 'person', 'stale, and still trusted');
    t.equal(await take(k3), 'keys-unavailable', 'a stale set does not');
    clock.nowMs += 1;
    t.equal(await take(k2), 'keys-unavailable', 'fifteen minutes old');
    t.equal(await take(k1), 'person');
    broker.onKeys(answerKeys(k2));
    clock.nowMs += MINUTE_MS;
    t.equal(await take(k2), 'person', 'and healed');
  });

  t.test(
    `${door.name}: an answer that is no key set replaces nothing, and the next good one heals`,
    async (t) => {
      for (const [name, answer] of Object.entries(NO_KEYS)) {
        const { broker, clock, take } = await scene(t, door);
        broker.onKeys(answer);
        t.equal(await take(k3), 'keys-unavailable', `${name}, at first`);
        clock.nowMs += MINUTE_MS;
        broker.onKeys(answerKeys(k2));
        t.equal(await take(k2), 'person', `${name}, healed`);
        broker.onKeys(answer);
        t.equal(await take(k3), 'unknown-key', `${name}, later`);
        t.equal(await take(k2), 'person', `${name}, and k2 still counts`);
        t.equal(broker.countOf('/elsewhere'), 0, `${name}, nothing followed`);
      }
    },
  );

  t.test(`${door.name}: an answer that hangs or drips takes its deadline and no more`, async (t) => {
    const drips = new Set<NodeJS.Timeout>();
    t.teardown(() => drips.forEach(clearInterval));
    const slow: Record<string, Handler> = {
      'no answer': () => undefined,
      'a body that never ends': (_request, response) => response.writeHead(200).write('{"keys":['),
      'a byte now and then': (_request, response) => {
        response.writeHead(200);
        drips.add(setInterval(() => response.write(' '), 5));
      },
    };
    for (const [name, answer] of Object.entries(slow)) {
      const { broker, take } = await scene(t, door, { keySetTimeoutMs: 40 });
      broker.onKeys(answer);
      t.equal(await take(k2), 'keys-unavailable', name);
      t.equal(await take(k1), 'person', `${name}, and k1 counts`);
    }
  });
}
