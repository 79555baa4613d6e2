/**
 * `pnpm test:soak [NAME] [SECONDS]`: runs one soak, or each of them, against the built packages, in real time and outside the
 * ordinary tests. Ends with 1 when one of them found a fault.
 */

/** What one soak gives: what it found wrong, none being the hope, after printing what it saw. */
export type Soak = (seconds: number | undefined) => Promise<readonly string[]>;

const SOAKS: Readonly<Record<string, () => Promise<{ readonly soak: Soak }>>> = {
  http: () => import('./http.js'),
  nyxdb: () => import('./nyxdb.js'),
};

const args = process.argv.slice(2);
const seconds = args.find((arg) => /^\d+$/.test(arg));
const named = args.filter((arg) => arg !== seconds);
const unknown = named.filter((name) => !Object.hasOwn(SOAKS, name));
if (unknown.length > 0 || globalThis.gc === undefined) {
  console.error(`Usage: pnpm test:soak [${Object.keys(SOAKS).join('|')}] [SECONDS]`);
  process.exit(2);
}
for (const [name, load] of Object.entries(SOAKS)) {
  if (named.length > 0 && !named.includes(name)) continue;
  const { soak } = await load();
  const faults = await soak(seconds === undefined ? undefined : Number(seconds));
  for (const fault of faults.slice(0, 20)) console.log(`FAULT  ${fault}`);
  console.log(`${name}: ${faults.length === 0 ? 'nothing wrong was seen' : `${faults.length} faults`}`);
  if (faults.length > 0) process.exitCode = 1;
}
