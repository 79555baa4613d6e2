import t from 'tap';
import { startScriptedBroker } from '../broker.js';
import { runModule } from '../module-process.js';
import { environment, makeKey, token } from '../tokens.js';

const root = makeKey('root');

// The default deadline is five seconds: tap's own limit of this file is far past it, so what is shown is the order of things.
const asking = `
  import { createRuntime } from '@nn-runtime/core';
  import { subscribe } from 'node:diagnostics_channel';
  const runtime = createRuntime();
  subscribe('nn-runtime:keys.refreshed', (event) => console.log(event.problem));
  runtime.authenticate(process.env.TOKEN).catch((error) => console.log(error.code));
`;

t.test('a process that closes its runtime with a question under way ends at once', async (t) => {
  const broker = await startScriptedBroker();
  t.teardown(() => broker.close());
  let brokerClosed: unknown = false;
  broker.onKeys((_request, response) => {
    response.writeHead(200).flushHeaders();
    response.on('close', () => {
      brokerClosed = true;
    });
  });
  const closing = `createRuntime({
    fetch: async (...question) => {
      const answer = await fetch(...question);
      setImmediate(() => runtime.close());
      return answer;
    },
  })`;
  const { code, out } = await runModule(asking.replace('createRuntime()', closing), {
    ...environment([root], broker.url),
    TOKEN: token(makeKey('b1')),
  });
  t.equal(code, 0);
  t.equal(out, 'closed\nAPPLICATION_IDENTITY_NOT_READY\n', 'it was not the deadline that ended it');
  t.equal(broker.countOf('/v1/jwks'), 1);
  t.equal(brokerClosed, true);
});

t.test('a process that does not close its runtime ends by the deadline of the question', async (t) => {
  const broker = await startScriptedBroker();
  t.teardown(() => broker.close());
  broker.onKeys(() => undefined);
  const { code, out } = await runModule(
    asking.replace('createRuntime()', 'createRuntime({ keySetTimeoutMs: 300 })'),
    {
      ...environment([root], broker.url),
      TOKEN: token(makeKey('b1')),
    },
  );
  t.equal(code, 0);
  t.equal(out, 'timeout\nAPPLICATION_IDENTITY_NOT_READY\n');
});

t.test('neither a runtime nor the deadline of a question keeps a process alive', async (t) => {
  const { code, out } = await runModule(
    `${asking.replace('createRuntime()', 'createRuntime({ fetch: () => new Promise(() => {}) })')}
     process.on('exit', () => console.log('ended'));`,
    { ...environment([root]), TOKEN: token(makeKey('b1')) },
  );
  t.equal(code, 0);
  t.equal(out, 'ended\n', 'before the deadline');
});
