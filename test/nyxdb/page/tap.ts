/**
 * tap, for a page: tests run here one after another, and what they assert is told to the test's process, where the real tap
 * judges it. Identity alone is judged here: it does not survive the way.
 */
const { report } = globalThis as unknown as { report(message: string): Promise<boolean> };

let count = 0;

function flat(value: unknown, above: readonly unknown[] = []): unknown {
  if (value === undefined || (typeof value === 'object' && value !== null && above.includes(value)))
    return { is: 'undefined' };
  if (typeof value === 'number' && !Number.isFinite(value)) return { is: 'number', text: String(value) };
  if (typeof value === 'function') return { is: 'class', name: value.name };
  if (value instanceof RegExp) return { is: 'regexp', source: value.source, flags: value.flags };
  if (value instanceof Uint8Array) return { is: 'bytes', bytes: [...value] };
  if (typeof value !== 'object' || value === null) return value;
  const within = [...above, value];
  if (Array.isArray(value)) return { is: 'array', items: value.map((item) => flat(item, within)) };
  const names = value instanceof Error ? Object.getOwnPropertyNames(value) : Object.keys(value);
  const entries = names
    .filter((name) => name !== 'stack')
    .map((name) => [name, flat(value[name as keyof typeof value], within)]);
  if (value instanceof Error) return { is: 'error', name: value.name, entries };
  return { is: 'object', entries };
}

type Body = (t: PageTest) => unknown;

class PageTest {
  readonly #id: number;
  readonly #told: Promise<unknown>[] = [];
  readonly #teardowns: (() => unknown)[] = [];
  #tests: Promise<void> = Promise.resolve();

  constructor(id: number) {
    this.#id = id;
  }

  /** Resolves when every test so far is done. */
  async done(): Promise<void> {
    let tests: Promise<void> | undefined;
    while (tests !== this.#tests) {
      tests = this.#tests;
      await tests;
    }
  }

  test(name: string, ...rest: readonly [Body] | readonly [{ readonly skip?: unknown }, Body]): Promise<void> {
    const [body, { skip = false }] = rest.length === 1 ? [rest[0], {}] : [rest[1], rest[0]];
    this.#tests = this.#tests.then(() => this.#run(name, skip, body));
    return this.#tests;
  }

  async #run(name: string, skip: unknown, body: Body): Promise<void> {
    const id = ++count;
    const isRun = await report(JSON.stringify({ what: 'begin', id: this.#id, child: id, name, skip }));
    if (!isRun) return;
    const child = new PageTest(id);
    try {
      await body(child);
      await child.done();
    } catch (error) {
      child.#tell('error', error);
    }
    for (const teardown of child.#teardowns.reverse()) await teardown();
    await Promise.all(child.#told);
    await report(JSON.stringify({ what: 'end', id }));
  }

  #tell(how: string, ...values: unknown[]): void {
    this.#told.push(report(JSON.stringify({ what: how, id: this.#id, values: flat(values) })));
  }

  teardown(run: () => unknown): void {
    this.#teardowns.push(run);
  }
  equal(found: unknown, wanted: unknown, message?: string): void {
    this.#tell('equal', found === wanted, found, wanted, message);
  }
  ok(value: unknown, message?: string): void {
    this.#tell('ok', Boolean(value), message);
  }
  notOk(value: unknown, message?: string): void {
    this.#tell('ok', !value, message);
  }
  fail(message: string): void {
    this.#tell('ok', false, message);
  }
  same(...values: unknown[]): void {
    this.#tell('same', ...values);
  }
  notSame(...values: unknown[]): void {
    this.#tell('notSame', ...values);
  }
  match(...values: unknown[]): void {
    this.#tell('match', ...values);
  }
  notMatch(...values: unknown[]): void {
    this.#tell('notMatch', ...values);
  }
  throws(run: () => unknown, ...rest: unknown[]): void {
    try {
      run();
    } catch (error) {
      this.#tell('throws', error, ...rest);
      return;
    }
    this.fail('did not throw');
  }
  async rejects(promise: Promise<unknown>, ...rest: unknown[]): Promise<void> {
    try {
      await promise;
    } catch (error) {
      this.#tell('rejects', error, ...rest);
      return;
    }
    this.fail('did not reject');
  }
}

/** The suite's own tests are those of number 0. */
const t = new PageTest(0);
export default t;
