import type { NyxdbEdgeOptions } from '@nn-runtime/nyxdb-edge';

// `nn-dev` and the start command set both for the application; the defaults are the start command's own.
const {
  NYXDB_URL = 'ws://127.0.0.1:8091',
  APP_ORIGINS = 'http://127.0.0.1:8080 http://localhost:8080 http://127.0.0.1:8081 http://localhost:8081',
} = process.env;

/** What both applications let their pages do at `/live`: live data from NYXDB, for who signed in. */
export const live = {
  path: '/live',
  upstream: NYXDB_URL,
  origins: APP_ORIGINS.split(' '),
  // The local engine is started so; of a real one, its operator says it.
  engineRequiresAuth: true,
  // The page never holds a token. For the local engine the session of who signed in is one: it is revoked when they sign out.
  authenticate: ({ sessionId }) => ({ provider: 'app_sessions', token: sessionId }),
} satisfies Omit<NyxdbEdgeOptions, 'runtime'>;
