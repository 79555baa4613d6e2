import t from 'tap';
import { adapterMutants } from './mutants/adapters.js';
import { connectionMutants } from './mutants/connections.js';
import { edgeMutants } from './mutants/edge.js';
import { keyMutants } from './mutants/keys.js';
import { nyxdbMutants } from './mutants/nyxdb.js';
import { tokenMutants } from './mutants/token.js';
import { sourceOf } from './mutants/tree.js';

/** `pnpm test:mutants` takes long and runs rarely. That it can run at all is seen each time. */

t.test('every check that the mutants take out is in the sources, once', async (t) => {
  const mutants = [
    ...[...tokenMutants, ...keyMutants, ...connectionMutants],
    ...[...adapterMutants, ...nyxdbMutants, ...edgeMutants],
  ];
  for (const { file, without, was, becomes } of mutants) {
    t.equal(sourceOf(file).split(was).length - 1, 1, `${file}: without ${without}`);
    t.not(was, becomes);
  }
});
