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
    'createRuntime',
    'endWithResponse',
    'guardPerson',
    'httpAnswerOf',
    'identityHeaderLines',
    'isPerson',
    'rowToObject',
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

t.test('@nn-runtime/dev/testing', async (t) => {
  t.strictSame(await names(import('@nn-runtime/dev/testing')), [
    'createTestBroker',
    'createTestIdentities',
    'testPeople',
  ]);
});
