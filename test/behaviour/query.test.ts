import { connect } from 'node:net';
import t from 'tap';
import { answerJson, type Handler, startScriptedBroker } from '../broker.js';
import { frameworks } from '../frameworks.js';
import { ask } from '../http.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');

// Status, code → what the application answers: the contract's table, row by row.
const REFUSALS: [number, string, string, string | null][] = [
  [400, 'VALIDATION_FAILED', 'The query request is not valid.', null],
  [401, 'IDENTITY_ASSERTION_INVALID', 'The identity of this request does not check out.', null],
  [
    409,
    'ORGANIZATION_INTEGRATION_NOT_CONFIGURED',
    'The organization has no QueryMesh configured, or it is off.',
    null,
  ],
  [409, 'QUERYMESH_NOT_ENABLED', 'The application has not turned the querymesh capability on.', null],
  [502, 'QUERYMESH_IDENTITY_REJECTED', 'QueryMesh did not accept the token of who signed in.', null],
  [403, 'QUERYMESH_ACCESS_DENIED', 'The data policies of the organization denied this query.', null],
  [422, 'QUERYMESH_QUERY_FAILED', 'QueryMesh refused the query, or its result went past the cap.', null],
  [502, 'QUERYMESH_QUERY_FAILED', 'QueryMesh refused the query, or its result went past the cap.', null],
  [503, 'QUERYMESH_UNAVAILABLE', 'QueryMesh is not available right now.', '1'],
  [503, 'APPLICATION_IDENTITY_NOT_READY', 'The platform has no identity keys available right now.', '1'],
];

for (const framework of frameworks) {
  t.test(framework.name, async (t) => {
    const broker = await startScriptedBroker();
    const identity = token(key);
    const app = await framework.start({ env: environment([key], broker.url), now: () => NOW_MS });
    t.teardown(async () => {
      await app.close();
      await broker.close();
    });
    const query = (sql: string, headers: Record<string, string> = { 'x-nnumbers-identity': identity }) =>
      fetch(`${app.url}/query?sql=${encodeURIComponent(sql)}`, { headers });

    t.test(
      'a person gets columns and rows, by the broker, with the very identity of the request',
      async (t) => {
        const response = await query('SELECT name, regionkey FROM tpch.tiny.nation');
        t.equal(response.status, 200);
        t.strictSame(await response.json(), {
          columns: [
            { name: 'name', type: 'varchar' },
            { name: 'regionkey', type: 'bigint' },
          ],
          rows: [['BRAZIL', 1]],
        });
        const [sent] = broker.requests;
        t.match(sent, {
          method: 'POST',
          path: '/v1/querymesh/query',
          headers: { 'content-type': 'application/json', 'x-nnumbers-identity': identity },
        });
        t.equal(sent?.body, '{"sql":"SELECT name, regionkey FROM tpch.tiny.nation"}');
        t.notOk(sent?.headers.authorization);
        t.notOk(sent?.headers.cookie);
      },
    );

    t.test('an anonymous request is told to sign in, and the broker is not asked', async (t) => {
      const before = broker.requests.length;
      const response = await query('SELECT 1', {});
      t.equal(response.status, 401);
      t.strictSame(await response.json(), {
        code: 'USER_SESSION_REQUIRED',
        message: 'Sign in to continue.',
        login_path: '/.nnumbers/auth/login',
      });
      t.equal(broker.requests.length, before);
    });

    t.test('a session that ended is the same as no session', async (t) => {
      broker.onQuery(answerJson(401, { code: 'USER_SESSION_REQUIRED', message: 'secret-detail' }));
      const response = await query('SELECT 1');
      t.equal(response.status, 401);
      t.match(await response.json(), { code: 'USER_SESSION_REQUIRED', login_path: '/.nnumbers/auth/login' });
    });

    for (const [status, code, message, retryAfter] of REFUSALS) {
      t.test(`${status} ${code}, uncaught, is the application's own answer`, async (t) => {
        broker.onQuery(answerJson(status, { code, message: 'line 1:8: secret-detail' }));
        const response = await query('SELECT secret');
        t.equal(response.status, status);
        t.match(response.headers.get('content-type'), /^application\/json/);
        t.equal(response.headers.get('retry-after'), retryAfter);
        t.equal(response.headers.get('cache-control'), 'no-store');
        t.equal(response.headers.get('www-authenticate'), status === 401 ? 'NNumbers-Identity' : null);
        t.equal(await response.text(), JSON.stringify({ code, message }));
      });
    }

    t.test('a refusal is whole, whatever the handler had said of its own answer by then', async (t) => {
      broker.onQuery(answerJson(503, { code: 'QUERYMESH_UNAVAILABLE', message: '' }));
      const response = await ask(`${app.url}/described`, { headers: { 'x-nnumbers-identity': identity } });
      t.equal(response.status, 503);
      t.equal(
        response.text,
        '{"code":"QUERYMESH_UNAVAILABLE","message":"QueryMesh is not available right now."}',
      );
      const { headers } = response;
      t.equal(headers['content-type'], 'application/json; charset=utf-8');
      t.equal(headers['cache-control'], 'no-store');
      t.equal(headers['retry-after'], '1');
      for (const name of [
        'content-encoding',
        'content-disposition',
        'content-language',
        'etag',
        'last-modified',
      ])
        t.equal(headers[name], undefined, name);
      t.equal(headers['x-kept'], '1', 'what is not about the body stays');
    });

    t.test('a handler can catch a refusal', async (t) => {
      broker.onQuery(answerJson(409, { code: 'QUERYMESH_NOT_ENABLED', message: '' }));
      const response = await fetch(`${app.url}/caught`, { headers: { 'x-nnumbers-identity': identity } });
      t.equal(response.status, 200);
      t.strictSame(await response.json(), { caught: 'QUERYMESH_NOT_ENABLED' });
    });

    t.test('the query ends when the client goes away', async (t) => {
      const { promise: asked, resolve: askedNow } = signal();
      const { promise: gone, resolve: goneNow } = signal();
      const hold: Handler = (request) => {
        request.socket.once('close', goneNow);
        askedNow();
      };
      broker.onQuery(hold);
      const client = connect(app.port, '127.0.0.1');
      client.write(
        `GET /query?sql=SELECT%201 HTTP/1.1\r\nHost: a\r\nX-NNumbers-Identity: ${identity}\r\nConnection: close\r\n\r\n`,
      );
      await asked;
      client.destroy();
      await gone;
      t.pass('the broker saw its connection closed');
    });
  });
}

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
