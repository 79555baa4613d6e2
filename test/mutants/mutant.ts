/** One check taken out of the sources: a textual replacement, and the tests that must notice. */
export interface Mutant {
  /** Below packages/. */
  readonly file: string;
  /** What is missing then, for the table. */
  readonly without: string;
  /** Found exactly once in the file. */
  readonly was: string;
  readonly becomes: string;
  /** Below test/, without `.test.ts`, in the order they are tried: one of them must go red. */
  readonly tests: readonly string[];
}

/** Mutants of one file that the same tests watch. */
export function mutantsOf(
  file: string,
  tests: readonly string[],
  list: readonly (readonly [without: string, was: string, becomes: string])[],
): Mutant[] {
  return list.map(([without, was, becomes]) => ({ file, tests, without, was, becomes }));
}
