/** `pnpm bench NAME`: runs one benchmark against the built packages. */

const BENCHMARKS: Readonly<Record<string, () => Promise<{ run(): Promise<void> }>>> = {
  edge: () => import('./edge.js'),
  http: () => import('./http.js'),
  identity: () => import('./identity.js'),
  nyxdb: () => import('./nyxdb.js'),
  query: () => import('./query.js'),
};

const name = process.argv[2] ?? '';
const load = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
if (load === undefined) {
  console.error(`Usage: pnpm bench ${Object.keys(BENCHMARKS).join('|')}`);
  process.exitCode = 2;
} else {
  const { run } = await load();
  await run();
}
