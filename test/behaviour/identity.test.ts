import t from 'tap';
import { startScriptedBroker } from '../broker.js';
import { frameworks } from '../frameworks.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');
const REFUSED = {
  code: 'IDENTITY_ASSERTION_INVALID',
  message: 'The identity of this request does not check out.',
};

for (const framework of frameworks) {
  t.test(framework.name, async (t) => {
    const broker = await startScriptedBroker();
    const app = await framework.start({ env: environment([key], broker.url), now: () => NOW_MS });
    t.teardown(async () => {
      await app.close();
      await broker.close();
    });

    t.test('a request without the header is anonymous', async (t) => {
      const response = await fetch(`${app.url}/me`);
      t.equal(response.status, 200);
      t.strictSame(await response.json(), { kind: 'anonymous' });
    });

    t.test('a request with a good identity is its person', async (t) => {
      const response = await fetch(`${app.url}/me`, {
        headers: { 'X-NNumbers-Identity': token(key, { jti: 'j1' }) },
      });
      t.equal(response.status, 200);
      t.match(await response.json(), {
        kind: 'person',
        subject: 'ana-0001',
        organization: { id: 'org-51c2', slug: 'acme' },
        iam: 'https://iam.acme.example',
        sessionId: 'session-0001',
        tokenId: 'j1',
        name: 'Ana Souza',
        email: 'ana@example.org',
        emailVerified: true,
        preferredUsername: 'ana',
        issuedAt: '2026-11-30T12:00:00.000Z',
        expiresAt: '2026-11-30T12:05:00.000Z',
      });
    });

    t.test('a bad identity is 401, says nothing of why, and no handler runs', async (t) => {
      for (const value of ['x.y.z', '', token(makeKey('k1')), token(key, { aud: 'app-other' })]) {
        app.handled.length = 0;
        const response = await fetch(`${app.url}/me`, { headers: { 'X-NNumbers-Identity': value } });
        t.equal(response.status, 401);
        t.strictSame(await response.json(), REFUSED);
        t.equal(response.headers.get('cache-control'), 'no-store');
        t.equal(response.headers.get('www-authenticate'), 'NNumbers-Identity');
        t.equal(response.headers.get('content-length'), '98');
        t.equal(response.headers.get('transfer-encoding'), null);
        t.strictSame(app.handled, []);
      }
    });
  });
}
