import t from 'tap';
import { node, nodeTest, snippets, vitest, withNodeTest, write } from './page.js';

t.test('every snippet of the page is a test that is run, or an application that one tests', async (t) => {
  const named = [...withNodeTest, 'tap.test.js', 'vitest.test.js', 'app.js', 'express-app.js'];
  t.strictSame([...snippets().keys()].sort(), named.sort());
});

t.test('the snippets pass', async (t) => {
  const folder = write(t);
  const ofNode = await nodeTest(folder, withNodeTest);
  t.equal(ofNode.code, 0, 'node:test and supertest', { output: ofNode.output });
  t.match(ofNode.output, /^# pass 8$/m);
  const ofTap = await node(folder, 'tap.test.js');
  t.equal(ofTap.code, 0, 'tap', { output: ofTap.output });
  t.match(ofTap.output, /^ {4}1\.\.21$/m);
  const ofVitest = await node(folder, vitest, 'run', 'vitest.test.js');
  t.equal(ofVitest.code, 0, 'vitest', { output: ofVitest.output });
  t.match(ofVitest.output, /Tests +2 passed/);
});
