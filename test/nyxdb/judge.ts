import type { Test } from 'tap';

/** A value as a page tells it: see page/tap.ts. */
type Flat =
  | string
  | number
  | boolean
  | null
  | { readonly is: 'undefined' }
  | { readonly is: 'number'; readonly text: string }
  | { readonly is: 'class'; readonly name: string }
  | { readonly is: 'regexp'; readonly source: string; readonly flags: string }
  | { readonly is: 'bytes'; readonly bytes: number[] }
  | { readonly is: 'array'; readonly items: Flat[] }
  | { readonly is: 'error'; readonly name: string; readonly entries: [string, Flat][] }
  | { readonly is: 'object'; readonly entries: [string, Flat][] };

function revive(flat: Flat): unknown {
  if (typeof flat !== 'object' || flat === null) return flat;
  if (flat.is === 'undefined') return undefined;
  if (flat.is === 'number') return Number(flat.text);
  if (flat.is === 'class') return flat.name === 'TypeError' ? TypeError : Error;
  if (flat.is === 'regexp') return new RegExp(flat.source, flat.flags);
  if (flat.is === 'bytes') return Buffer.from(flat.bytes);
  if (flat.is === 'array') return flat.items.map(revive);
  const entries = flat.entries.map(([name, value]) => [name, revive(value)] as const);
  if (flat.is === 'object') return Object.fromEntries(entries);
  const error = flat.name === 'TypeError' ? new TypeError() : new Error();
  error.name = flat.name;
  for (const [name, value] of entries) Object.defineProperty(error, name, { value, configurable: true });
  return error;
}

type Told =
  | {
      readonly what: 'begin';
      readonly id: number;
      readonly child: number;
      readonly name: string;
      readonly skip: string | boolean;
    }
  | { readonly what: 'end'; readonly id: number }
  | {
      readonly what:
        | 'equal'
        | 'ok'
        | 'same'
        | 'notSame'
        | 'match'
        | 'notMatch'
        | 'throws'
        | 'rejects'
        | 'error';
      readonly id: number;
      readonly values: Flat;
    };

/**
 * Judges what the tests of a page tell, as tests of the same names within this one.
 *
 * @param skip - why some of its tests cannot run there, by name. One that is not met is a failure.
 */
export function createJudge(t: Test, skip: Readonly<Record<string, string>>) {
  const tests = new Map<number, { readonly t: Test; end(): void }>([[0, { t, end: () => {} }]]);
  const left = new Set(Object.keys(skip));

  function begin(parent: Test, child: number, name: string, reason: string | boolean): Promise<boolean> {
    left.delete(name);
    return new Promise((begun) => {
      if (reason !== false) begun(false);
      void parent.test(name, { skip: reason }, (t) => {
        const done = new Promise<void>((end) => tests.set(child, { t, end }));
        begun(true);
        return done;
      });
    });
  }

  return {
    /** Resolves to whether a test that begins is to be run. */
    async hear(message: string): Promise<boolean> {
      const told = JSON.parse(message) as Told;
      const test = tests.get(told.id);
      if (test === undefined) throw new Error('a test that did not begin');
      if (told.what === 'begin') return begin(test.t, told.child, told.name, skip[told.name] ?? told.skip);
      if (told.what === 'end') test.end();
      else await judge(test.t, told.what, revive(told.values) as unknown[]);
      return true;
    },
    /** The names of `skip` that were not met. */
    left: (): string[] => [...left],
  };
}

async function judge(t: Test, what: string, [first, second, third, fourth]: unknown[]): Promise<void> {
  const message = String(third ?? '');
  if (what === 'ok') t.ok(first, String(second ?? ''));
  else if (what === 'equal') t.ok(first, String(fourth ?? ''), { found: second, wanted: third });
  else if (what === 'same') t.same(first, second, message);
  else if (what === 'notSame') t.notSame(first, second, message);
  else if (what === 'match') t.match(first, second, message);
  else if (what === 'notMatch') t.notMatch(first, second, message);
  else if (what === 'error') t.error(first);
  else await t.rejects(Promise.reject(first), second as TypeErrorConstructor, message);
}
