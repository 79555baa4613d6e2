import t from 'tap';

/** Public values of each package, literally: a name appears or goes only on purpose. */
const names = async (module: Promise<object>): Promise<string[]> => Object.keys(await module).sort();

t.test('@nn-runtime/core', async (t) => {
  t.strictSame(await names(import('@nn-runtime/core')), [
    'ConfigurationError',
    'IdentityRejectedError',
    'IdentityUnavailableError',
    'QueryMeshError',
    'QueryMeshRowError',
    'RuntimeError',
    'SignInRequiredError',
    'Sql',
    'anonymous',
    'assertPerson',
    'bodyHeaders',
    'createRuntime',
    'endWithResponse',
    'guardPerson',
    'httpAnswerOf',
    'identityHeaderLines',
    'isPerson',
    'isSameApplication',
    'redactPaths',
    'rowToObject',
    'runtimeOf',
    'sql',
    'toInstant',
  ]);
});

t.test('@nn-runtime/fastify', async (t) => {
  t.strictSame(await names(import('@nn-runtime/fastify')), [
    'assertPerson',
    'default',
    'isPerson',
    'nnumbers',
    'requirePerson',
  ]);
});

t.test('@nn-runtime/express', async (t) => {
  t.strictSame(await names(import('@nn-runtime/express')), [
    'assertPerson',
    'errorHandler',
    'isPerson',
    'nnumbers',
    'requirePerson',
  ]);
});

t.test('@nn-runtime/dev', async (t) => {
  t.strictSame(await names(import('@nn-runtime/dev')), [
    'PortInUseError',
    'defaultPeople',
    'runCommand',
    'startPlatform',
  ]);
});

t.test('@nn-runtime/browser, and its door for React', async (t) => {
  t.strictSame(await names(import('@nn-runtime/browser')), [
    'ForbiddenError',
    'NetworkError',
    'ProtocolError',
    'SessionEndedError',
    'SessionError',
    'SignInLoopError',
    'SignedOutError',
    'fetchWithSession',
    'getContext',
    'getSession',
    'onSessionChange',
    'signIn',
    'signInUrl',
    'signOut',
  ]);
  t.strictSame(await names(import('@nn-runtime/browser/react')), ['SessionProvider', 'useSession']);
});

t.test('@nn-runtime/nyxdb, its door for Node with the same names, and its frames', async (t) => {
  const client = [
    'EndpointError',
    'EndpointRowError',
    'FrameError',
    'createEndpointClient',
    'developmentProfile',
    'documentedProfile',
  ];
  t.strictSame(await names(import('@nn-runtime/nyxdb')), client);
  t.strictSame(await names(import('@nn-runtime/nyxdb/node')), client);
  t.strictSame(await names(import('@nn-runtime/nyxdb/frames')), [
    'EDGE_PROTOCOL',
    'FrameError',
    'HEADER_BYTES',
    'OP_AUTH',
    'OP_CANCEL_REQUEST',
    'OP_CAPABILITY',
    'OP_ENDPOINT_EXEC',
    'OP_ENDPOINT_SUB',
    'REQUEST_ID_BYTES',
    'STATUS_ERROR',
    'STATUS_OK',
    'authText',
    'callText',
    'checkFrame',
    'createRequestIds',
    'decodeRequest',
    'decodeResponse',
    'decodeText',
    'encodeRequest',
    'encodeResponse',
    'encodeText',
    'parseTsv',
  ]);
});

t.test('@nn-runtime/nyxdb-edge, and its door for Fastify', async (t) => {
  t.strictSame(await names(import('@nn-runtime/nyxdb-edge')), ['createNyxdbEdge']);
  t.strictSame(await names(import('@nn-runtime/nyxdb-edge/fastify')), ['default', 'nyxdbEdge']);
});

t.test('@nn-runtime/dev/testing', async (t) => {
  t.strictSame(await names(import('@nn-runtime/dev/testing')), [
    'createTestBroker',
    'createTestIdentities',
    'testPeople',
  ]);
});
