import { developmentProfile } from '@nn-runtime/nyxdb';
import { createEndpointClient } from '@nn-runtime/nyxdb/node';
import t from 'tap';
import fc from '../property.js';
import { startEngine } from './engine.js';

// Enough rows that chunks split and vanish on the way.
const ROWS = 1_300;

const change = fc.record({
  op: fc.constantFrom('+', '+', '-', '-', '~'),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  times: fc.constantFrom(1, 1, 1, 40, 700),
});

t.test(
  'any run of deltas leaves what a plain array would hold, and former states as they were',
  async (t) => {
    const engine = await startEngine(t);
    const client = createEndpointClient({
      url: engine.url,
      authenticate: () => ({ provider: 'p', token: 't' }),
      profile: developmentProfile,
    });
    t.teardown(() => void client.close());
    let serial = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 6 }), { maxLength: 8 }),
        async (frames) => {
          const subscription = client.subscribe('book');
          const peer = await engine.ready();
          const request = await peer.next();
          const model = Array.from({ length: ROWS }, (_, index) => `row ${index}`);
          peer.answer(request, 0xd0, `a\n${model.map((row) => `${row}\n`).join('')}`);
          const kept: { readonly rows: readonly (readonly string[])[]; readonly model: string[] }[] = [];
          const first = (await subscription.next()).value;
          if (first === undefined) return false;
          const unread = { state: first, model: [...model] };
          for (const changes of frames) {
            let text = '';
            for (const { op, at, times } of changes)
              for (let time = 0; time < times; time++) {
                const index = Math.floor(at * (model.length + (op === '+' ? 1 : 0)));
                if (op !== '+' && model.length === 0) break;
                const cell = `new ${serial++}`;
                text += op === '-' ? `-\t${index}\n` : `${op}\t${index}\t${cell}\n`;
                if (op === '+') model.splice(index, 0, cell);
                else if (op === '-') model.splice(index, 1);
                else model[index] = cell;
              }
            if (text === '') continue;
            peer.answer(request, 0xd1, text);
            const state = (await subscription.next()).value;
            if (state === undefined) return false;
            kept.push({ rows: state.rows, model: [...model] });
          }
          await subscription.close();
          kept.push({ rows: unread.state.rows, model: unread.model });
          return kept.every(({ rows, model }) => JSON.stringify(rows.flat()) === JSON.stringify(model));
        },
      ),
      { numRuns: 150 },
    );
  },
);

t.test('what is given out cannot change the replica', async (t) => {
  const engine = await startEngine(t);
  const client = createEndpointClient({
    url: engine.url,
    authenticate: () => ({ provider: 'p', token: 't' }),
    profile: developmentProfile,
  });
  t.teardown(() => void client.close());
  const subscription = client.subscribe('book');
  const peer = await engine.ready();
  const request = await peer.next();
  peer.answer(request, 0xd0, 'a\n1\n');
  const state = (await subscription.next()).value;
  const rows = state?.rows as string[][];
  t.throws(() => Object.assign(rows[0] ?? {}, { 0: 'x' }), TypeError);
  t.throws(() => (state?.columns as string[] | undefined)?.push('b'), TypeError);
  rows.push(['x']);
  peer.answer(request, 0xd1, '+\t1\t2\n');
  const next = (await subscription.next()).value;
  t.same(next?.rows, [['1'], ['2']]);
  t.throws(() => Object.assign(next?.rows[1] ?? {}, { 0: 'x' }), TypeError);
});
