import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packed from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// The unpacker writes into the temporary directory that is set while it is called: only there, and not for the other tests.
const unpackInto = (directory: string): Promise<string> => {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = directory;
  const unpacked = packed.executablePath();
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  return unpacked;
};

const readVersion = async (): Promise<string> => {
  const door = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  for (let folder = dirname(door); ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const manifest: unknown = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {};
    if (typeof manifest === 'object' && manifest && 'version' in manifest) return String(manifest.version);
  }
};

/**
 * The path of the browser, unpacked at the first use of its version. Test files run in parallel, each in its own process, and
 * a half-written browser must never be started: each unpacks into a directory of its own and moves it into place in one step.
 * The first to move wins, later ones throw theirs away, and one that was killed on the way leaves no lock behind.
 */
const findBrowser = async (): Promise<string> => {
  const home = join(CACHE, `nn-runtime-chromium-${await readVersion()}`);
  const browser = join(home, 'chromium');
  if (existsSync(browser)) return browser;
  await mkdir(CACHE, { recursive: true });
  const staging = await mkdtemp(`${home}.`);
  await unpackInto(staging);
  try {
    await rename(staging, home);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if (!existsSync(browser)) throw error;
  }
  return browser;
};

/** Starts a headless Chromium that ends with the test. */
export const launchBrowser = async (t: Test): Promise<Browser> => {
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: FLAGS });
  t.teardown(() => browser.close());
  return browser;
};

/**
 * What the page complains about, from now on: console errors and warnings (a violation of the content security policy is one)
 * and uncaught exceptions.
 */
export const collectComplaints = (page: Page): string[] => {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  return complaints;
};
