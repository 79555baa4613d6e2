/** What the suite uses of `node:util`, for a page: it compares tables of text. */
export const isDeepStrictEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
