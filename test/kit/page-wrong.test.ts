import t from 'tap';
import { node, nodeTest, vitest, withNodeTest, write } from './page.js';

/** An application that takes everybody for nobody, and lets nobody in. */
const anonymously = (code: string): string =>
  code
    .replace(
      'await app.register(nnumbers, options);',
      `app.decorateRequest('identity', null);
       app.addHook('onRequest', async (request) => { request.identity = { kind: 'anonymous' }; });`,
    )
    .replace('nnumbers(options)', "(req, res, next) => { req.identity = { kind: 'anonymous' }; next(); }")
    .replaceAll('requirePerson()', '(...args) => args.at(-1)()');

/** An application that asks for the data and shows none. */
const emptily = (code: string): string => code.replace('result.objects()', '[]');

t.test('the snippets fail for an application that is wrong', async (t) => {
  const nobody = write(t, anonymously);
  // Without its query, a held one is waited for until the runner's time limit, and node:test has none.
  const others = withNodeTest.filter((name) => name !== 'broker.test.js');
  t.match((await nodeTest(nobody, others)).output, /^# pass 0\n# fail 6$/m);
  t.not((await node(nobody, 'tap.test.js')).code, 0, 'tap');
  t.match((await node(nobody, vitest, 'run', 'vitest.test.js')).output, /Tests +2 failed/);
  t.match((await nodeTest(write(t, emptily), ['broker.test.js'])).output, /^# pass 0\n# fail 2$/m);
});
