import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorHandler, nnumbers, requirePerson } from '@nn-runtime/express';
import express, { type Express } from 'express';
import t, { type Test } from 'tap';
import { answerJson, startScriptedBroker } from '../broker.js';
import { ask } from '../http.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');
const options = { env: environment([key]), now: () => NOW_MS };
const good = { 'x-nnumbers-identity': token(key) };
const bad = { 'x-nnumbers-identity': 'x.y.z' };

async function listen(t: Test, app: Express): Promise<string> {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('a router may use it for its own routes alone', async (t) => {
  const app = express();
  const router = express.Router();
  router.use(nnumbers(options));
  router.get('/who', (request, response) => {
    response.json(request.identity);
  });
  app.use('/api', router);
  app.get('/outside', (request, response) => {
    response.json({ has: 'identity' in request });
  });
  const url = await listen(t, app);
  t.match((await ask(`${url}/api/who`, { headers: good })).json(), { subject: 'ana-0001' });
  t.equal((await ask(`${url}/api/who`, { headers: bad })).status, 401);
  t.strictSame((await ask(`${url}/outside`, { headers: bad })).json(), { has: false });
});

t.test('used twice on a request, it verifies once', async (t) => {
  const verified: unknown[] = [];
  const listener = (event: unknown) => verified.push(event);
  subscribe('nn-runtime:identity.verified', listener);
  t.teardown(() => unsubscribe('nn-runtime:identity.verified', listener));
  const app = express();
  const identity = nnumbers(options);
  app.use(identity);
  app.use(nnumbers(options));
  const router = express.Router();
  router.use(identity);
  router.get('/', (request, response) => {
    response.json(request.identity);
  });
  app.use('/api', router);
  const url = await listen(t, app);
  t.match((await ask(`${url}/api`, { headers: good })).json(), { subject: 'ana-0001' });
  t.equal(verified.length, 1);
});

t.test('a person of one application is none of another that is mounted in it', async (t) => {
  const other = { ...options, env: { ...options.env, NNUMBERS_APP_ID: 'app-other' } };
  const elsewhere = makeKey('k1');
  // Another application, another trust root, and one that is stricter with the clock.
  const inner = {
    app: other,
    root: { ...options, env: environment([elsewhere]) },
    clock: { ...options, clockToleranceSeconds: 0 },
  };
  const app = express();
  app.use(nnumbers(options));
  for (const [name, own] of Object.entries(inner)) {
    const mounted = express();
    mounted.use(nnumbers(own));
    mounted.get('/', (request, response) => {
      response.json(request.identity);
    });
    app.use(`/${name}`, mounted);
  }
  app.get('/', (request, response) => {
    response.json(request.identity);
  });
  const url = await listen(t, app);
  for (const path of ['/', '/app', '/root', '/clock']) {
    t.strictSame((await ask(url + path)).json(), { kind: 'anonymous' }, path);
  }
  t.equal((await ask(url, { headers: good })).status, 200);
  for (const path of ['/app', '/root']) {
    const refused = await ask(url + path, { headers: good });
    t.match([refused.status, refused.json()], [401, { code: 'IDENTITY_ASSERTION_INVALID' }], path);
  }
  t.equal((await ask(`${url}/clock`, { headers: good })).status, 200);
  const late = {
    'x-nnumbers-identity': token(key, {
      iat: NOW_MS / 1000 - 310,
      nbf: NOW_MS / 1000 - 310,
      exp: NOW_MS / 1000 - 10,
    }),
  };
  t.equal((await ask(url, { headers: late })).status, 200);
  t.equal((await ask(`${url}/clock`, { headers: late })).status, 401);
});

t.test(
  'makers of middleware that are used without being called are an error, not a request without an answer',
  async (t) => {
    for (const use of [
      (app: Express) => Reflect.apply(app.use, app, [nnumbers]),
      (app: Express) => {
        app.use(nnumbers(options));
        Reflect.apply(app.use, app, [requirePerson]);
      },
    ]) {
      const app = express();
      use(app);
      app.get('/', (_request, response) => {
        response.end('reached');
      });
      app.use(
        (
          error: Error,
          _request: express.Request,
          response: express.Response,
          _next: express.NextFunction,
        ) => {
          response.status(500).end(error.message);
        },
      );
      const answer = await ask(await listen(t, app));
      t.equal(answer.status, 500);
      t.match(answer.text, /^(nnumbers|requirePerson) makes the middleware: app/);
    }
  },
);

t.test('an identity that was there before is overwritten, however it was put there', async (t) => {
  const forged = { kind: 'person', subject: 'stranger' };
  for (const put of [
    (request: object) => Object.assign(request, { identity: forged }),
    (request: object) =>
      Object.defineProperty(request, 'identity', {
        configurable: true,
        get: () => forged,
        set: () => undefined,
      }),
    (request: object) => Object.defineProperty(request, 'identity', { configurable: true, value: forged }),
  ]) {
    const app = express();
    app.use((request, _response, next) => {
      put(request);
      next();
    });
    app.use(nnumbers(options));
    // And again between two uses of it.
    app.use((request, _response, next) => {
      put(request);
      next();
    });
    app.use(nnumbers(options));
    app.get('/', (request, response) => {
      response.json(request.identity);
    });
    const url = await listen(t, app);
    t.strictSame((await ask(url)).json(), { kind: 'anonymous' });
    t.match((await ask(url, { headers: good })).json(), { subject: 'ana-0001' });
  }
});

t.test('unknown routes and static files: anonymous passes, a bad identity is 401', async (t) => {
  const app = express();
  app.use(nnumbers(options));
  app.use('/static', express.static(import.meta.dirname));
  const url = await listen(t, app);
  t.equal((await ask(`${url}/nowhere`)).status, 404);
  t.equal((await ask(`${url}/static/middleware.test.ts`)).status, 200);
  for (const path of ['/nowhere', '/static/middleware.test.ts']) {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      t.equal((await ask(url + path, { method, headers: bad })).status, 401, `${method} ${path}`);
    }
  }
});

t.test('an error middleware that answers 200 to everything cannot let a bad identity in', async (t) => {
  const app = express();
  app.use(nnumbers(options));
  let ran = false;
  app.get('/', (_request, response) => {
    ran = true;
    response.end();
  });
  app.use(
    (_error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
      response.status(200).end();
    },
  );
  const url = await listen(t, app);
  t.equal((await ask(url, { headers: bad })).status, 401);
  t.equal(ran, false);
});

t.test('without errorHandler, a refusal still has its status and headers', async (t) => {
  const broker = await startScriptedBroker();
  t.teardown(() => broker.close());
  broker.onQuery(answerJson(503, { code: 'QUERYMESH_UNAVAILABLE', message: '' }, { 'retry-after': '7' }));
  const app = express();
  app.set('env', 'test');
  app.use(nnumbers({ ...options, env: environment([key], broker.url) }));
  app.get('/', async (request, response) => {
    response.json(await request.queryMesh('SELECT secret-sql'));
  });
  const url = await listen(t, app);
  const response = await ask(url, { headers: good });
  t.equal(response.status, 503);
  t.equal(response.headers['retry-after'], '7');
  t.notMatch(response.text, 'secret-sql');
});

t.test('errorHandler passes on what is not ours, and what comes after the head was sent', async (t) => {
  const app = express();
  app.use(nnumbers(options));
  app.get('/mine', () => {
    throw Object.assign(new Error('mine'), { status: 418 });
  });
  app.get('/late', async (request, response) => {
    response.writeHead(200).write('begun');
    await request.queryMesh('SELECT 1');
  });
  const passed: string[] = [];
  app.use(errorHandler());
  app.use(
    (error: Error, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
      passed.push(error.message);
      if (response.headersSent) response.end();
      else response.status(418).end();
    },
  );
  const url = await listen(t, app);
  t.equal((await ask(`${url}/mine`)).status, 418);
  t.equal((await ask(`${url}/late`)).text, 'begun');
  t.strictSame(passed, ['mine', 'Sign in to continue.']);
});

t.test('the guard keeps the path of a mounted router in return_to', async (t) => {
  const app = express();
  app.use(nnumbers(options));
  const router = express.Router();
  router.get('/page', requirePerson(), (_request, response) => {
    response.end();
  });
  app.use('/area', router);
  const url = await listen(t, app);
  const response = await ask(`${url}/area/page?x=1`, { headers: { accept: 'text/html' } });
  t.equal(response.headers.location, '/.nnumbers/auth/login?return_to=%2Farea%2Fpage%3Fx%3D1');
});

t.test('the guard says what is missing when the middleware is not there', async (t) => {
  const app = express();
  app.get('/', requirePerson(), (_request, response) => {
    response.end();
  });
  let message = '';
  app.use(
    (error: Error, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
      message = error.message;
      response.status(500).end();
    },
  );
  const url = await listen(t, app);
  t.equal((await ask(url)).status, 500);
  t.match(message, /needs the nnumbers middleware/);
});

t.test('a wrong configuration fails at once and names every variable', (t) => {
  t.throws(() => nnumbers({ env: {} }), { code: 'CONFIGURATION_INVALID', message: /NNUMBERS_ORG_ID/ });
  t.end();
});

t.test('its runtime can be looked at and closed', async (t) => {
  const app = express();
  const identity = nnumbers(options);
  app.use(identity);
  app.get('/', (_request, response) => {
    response.end();
  });
  const url = await listen(t, app);
  t.match(identity.runtime.status(), { environmentKeys: 1 });
  await identity.runtime.close();
  const response = await ask(url);
  t.equal(response.status, 503);
  t.equal(response.headers['retry-after'], '5');
  t.strictSame(response.json(), {
    code: 'APPLICATION_IDENTITY_NOT_READY',
    message: 'The identity of this request cannot be checked right now.',
  });
});
