/** Randomness that a seed repeats (mulberry32). */
export interface Random {
  /** An integer from 0 to `below - 1`. */
  integer(below: number): number;
  /** One of the elements. */
  of<T>(elements: readonly [T, ...T[]]): T;
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const integer = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
  return { integer, of: (elements) => elements[integer(elements.length)] ?? elements[0] };
}
