/** `node:http` and `node:net`, for a page: the tests that use them are left out by name in ../chromium.test.ts. */
export function createServer(): never {
  throw new Error('a page cannot listen');
}
