import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Faults, type Platform, startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { type Answer, ask } from './fixtures/http.js';
import { address, applications } from './fixtures/querying.js';

/**
 * The broker's refusal table, row by row: each refusal is made by the local platform, met by `queryMesh` in a real
 * application behind its edge, and checked as the application's author sees it and as the page sees it.
 */

type App = keyof typeof applications;
const names = ['fastify', 'express'] as const;
const fastify = await address(t);
const express = await address(t);
const platform = await startPlatform({
  apps: [
    { id: 'fastify', url: fastify.url },
    { id: 'express', url: express.url },
  ],
});
t.teardown(() => platform.close());
const thrown: unknown[] = [];
for (const [name, { serve }] of Object.entries({ fastify, express })) {
  const { handle, close } = await applications[name as App].install(platform.apps[name as App].env, thrown);
  serve(handle);
  t.teardown(close);
}

const healthy: Faults = {
  broker: 'up',
  jwks: 'up',
  brokerKeys: true,
  queryMesh: 'up',
  integration: true,
  capability: true,
  deny: [],
  clockOffsetSeconds: 0,
};

interface Asked {
  readonly cookie?: string;
  /** Straight to the application, with this identity: as something inside the cluster reaches it. */
  readonly identity?: string;
  readonly sql?: string;
  readonly maxRows?: number;
  readonly timeoutMs?: number;
}

function query(app: App, { cookie, identity, sql = 'SELECT 1 AS one', ...options }: Asked): Promise<Answer> {
  const own = { fastify, express }[app].url;
  const base = identity === undefined ? platform.apps[app].url : own;
  return ask(
    `${base}/query?${new URLSearchParams(Object.entries(options).map(([name, value]): [string, string] => [name, String(value)]))}`,
    {
      method: 'POST',
      headers: {
        'content-type': 'application/sql',
        ...(cookie === undefined ? {} : { cookie }),
        ...(identity === undefined ? {} : { 'x-nnumbers-identity': identity }),
      },
      body: sql,
    },
  );
}

interface Row {
  readonly status: number;
  readonly code: string;
  readonly when: string;
  readonly message: string;
  /** Absent for USER_SESSION_REQUIRED: its advice is the sign-in itself, as `login_path`. */
  readonly advice?: string;
  readonly retryable?: boolean;
  /** Brings the refusal about, and gives the request that meets it. */
  make(app: App, platform: Platform<App>): Promise<Asked>;
}

const ana = async (app: App): Promise<Asked> => ({
  cookie: (await platform.signIn('ana@example.org', app)).cookie,
});
/** A person, and a platform with this fault. */
const fault = (faults: Partial<Faults>) => async (app: App) => {
  const asked = await ana(app);
  platform.faults.set(faults);
  return asked;
};

const invalid = {
  status: 400,
  code: 'VALIDATION_FAILED',
  message: 'The query request is not valid.',
  advice: 'Fix the request and repeat.',
};
const signIn = { status: 401, code: 'USER_SESSION_REQUIRED', message: 'Sign in to continue.' };
const assertion = {
  status: 401,
  code: 'IDENTITY_ASSERTION_INVALID',
  message: 'The identity of this request does not check out.',
  advice: 'Use the identity the platform hands over; never treat it as a person.',
};
const failed = {
  code: 'QUERYMESH_QUERY_FAILED',
  message: 'QueryMesh refused the query, or its result went past the cap.',
  advice: 'Check the query and repeat; on 502, talk to whoever administers the QueryMesh.',
};
const unavailable = {
  status: 503,
  code: 'QUERYMESH_UNAVAILABLE',
  message: 'QueryMesh is not available right now.',
  advice: 'Repeat in a moment.',
  retryable: true,
};

const waiting: Socket[] = [];

/** Fills every place of QueryMesh with queries that do not end: more than run and wait at once. */
async function occupy(identity: string): Promise<void> {
  const endless = JSON.stringify({
    sql: 'SELECT count(*) FROM tpch.tiny.lineitem a, tpch.tiny.lineitem b, tpch.tiny.lineitem c WHERE a.comment < b.comment AND b.comment < c.comment',
  });
  const port = Number(new URL(platform.brokerUrl).port);
  for (let place = 0; place < 24; place += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /v1/querymesh/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-NNumbers-Identity: ${identity}\r\nContent-Length: ${endless.length}\r\n\r\n${endless}`,
    );
    waiting.push(socket);
  }
  // The one that found no place is answered; by then the others run or wait.
  await Promise.race(waiting.map((socket) => once(socket, 'data')));
}

const rows: readonly Row[] = [
  {
    ...invalid,
    when: 'the query is larger than the broker takes',
    make: async (app) => ({ ...(await ana(app)), sql: `SELECT '${'x'.repeat(1024 * 1024)}'` }),
  },
  { ...signIn, when: 'nobody signed in', make: async () => ({}) },
  {
    ...signIn,
    when: 'the session of who signed in ended',
    async make(app) {
      const { identity } = await platform.signIn('bruno@example.org', app);
      platform.faults.endSession('bruno@example.org');
      return { identity };
    },
  },
  {
    ...assertion,
    when: 'the broker withdrew a key that the application still trusts',
    async make(app) {
      const { identity } = await platform.signIn('ana@example.org', app);
      t.equal((await query(app, { identity })).status, 200);
      const [header = ''] = identity.split('.');
      await platform.faults.withdrawKey(JSON.parse(Buffer.from(header, 'base64url').toString()).kid);
      return { identity };
    },
  },
  {
    ...assertion,
    when: 'the platform’s clock is ahead of the identity',
    async make(app) {
      const { identity } = await platform.signIn('ana@example.org', app);
      platform.faults.set({ clockOffsetSeconds: 400 });
      return { identity };
    },
  },
  {
    status: 409,
    code: 'ORGANIZATION_INTEGRATION_NOT_CONFIGURED',
    when: 'the integration is off',
    message: 'The organization has no QueryMesh configured, or it is off.',
    advice: 'The organization administrator configures it.',
    make: fault({ integration: false }),
  },
  {
    status: 409,
    code: 'QUERYMESH_NOT_ENABLED',
    when: 'the capability is off',
    message: 'The application has not turned the querymesh capability on.',
    advice: 'Run `zero services enable querymesh <service>`; it takes effect immediately.',
    make: fault({ capability: false }),
  },
  {
    status: 502,
    code: 'QUERYMESH_IDENTITY_REJECTED',
    when: 'QueryMesh rejects the token',
    message: 'QueryMesh did not accept the token of who signed in.',
    advice:
      'When the realm lacks the scope QueryMesh requires, the platform administration fixes it; signing in again does not help.',
    make: fault({ queryMesh: 'rejects' }),
  },
  {
    status: 403,
    code: 'QUERYMESH_ACCESS_DENIED',
    when: 'the data policies deny this person',
    message: 'The data policies of the organization denied this query.',
    advice: 'Ask the data administrator for access.',
    make: fault({ deny: ['ana@example.org'] }),
  },
  {
    ...failed,
    status: 422,
    when: 'QueryMesh refuses the query',
    make: async (app) => ({ ...(await ana(app)), sql: 'SELECT * FROM tpch.tiny.nowhere' }),
  },
  {
    ...failed,
    status: 422,
    when: 'the result goes past the cap',
    make: async (app) => ({ ...(await ana(app)), sql: 'SELECT * FROM tpch.tiny.nation', maxRows: 24 }),
  },
  {
    ...failed,
    status: 502,
    when: 'QueryMesh answers outside the protocol',
    make: fault({ queryMesh: 'garbage' }),
  },
  { ...unavailable, when: 'QueryMesh does not answer', make: fault({ queryMesh: 'down' }) },
  {
    ...unavailable,
    when: 'the platform is at its query limit',
    async make(app) {
      const { identity } = await platform.signIn('bruno@example.org', app);
      await occupy(identity);
      return ana(app);
    },
  },
  { ...unavailable, when: 'the broker does not answer', make: fault({ broker: 'down' }) },
  {
    status: 503,
    code: 'APPLICATION_IDENTITY_NOT_READY',
    when: 'the broker has no keys',
    message: 'The platform has no identity keys available right now.',
    advice: 'Repeat; if it persists, run `zero services doctor organization-iam <service>`.',
    retryable: true,
    make: fault({ brokerKeys: false }),
  },
  {
    // Ours: between application and broker stands something that answers in the broker's place.
    status: 502,
    code: 'QUERYMESH_PROTOCOL_ERROR',
    when: 'what answers is not the broker',
    message: 'The answer of the broker is not of the protocol: it is not one JSON document.',
    advice: 'Talk to whoever administers the platform.',
    make: fault({ broker: 'garbage' }),
  },
  ...(['broker', 'queryMesh'] as const).map((slow) => ({
    // Ours: how long a query may take is the application's to say, and nobody waits for what comes after that.
    status: 504,
    code: 'QUERYMESH_TIMEOUT',
    when: `a slow ${slow} takes longer than the query may`,
    message: 'The query took longer than its time limit.',
    advice: 'Ask for less, or raise `timeoutMs`.',
    make: async (app: App) => ({ ...(await fault({ [slow]: 'slow' })(app)), timeoutMs: 100 }),
  })),
];

t.equal(
  new Set(rows.map(({ status, code }) => `${status} ${code}`)).size,
  13,
  'the eleven rows of the contract’s table, one code of it twice, and two of ours',
);

for (const app of names) {
  t.test(app, async (t) => {
    t.afterEach(() => {
      platform.faults.set(healthy);
      for (const socket of waiting.splice(0)) socket.destroy();
    });
    for (const { status, code, when, message, advice, retryable = false, make } of rows) {
      t.test(`${status} ${code}: ${when}`, async (t) => {
        const asked = await make(app, platform);
        thrown.length = 0;
        const { text, ...answer } = await query(app, asked);
        const [error] = thrown as Record<string, unknown>[];
        t.match(error, { code, statusCode: status, message });
        t.equal(error?.advice, advice);
        t.equal(error?.retryable ?? false, retryable);
        t.equal(answer.status, status);
        t.equal(answer.headers['cache-control'], 'no-store');
        t.equal(answer.headers['retry-after'], retryable ? '1' : undefined);
        const login = code === 'USER_SESSION_REQUIRED' ? { login_path: '/.nnumbers/auth/login' } : {};
        t.strictSame(JSON.parse(text), { code, message, ...login });
      });
    }
  });
}
