import { join } from 'node:path';
import { type Exchange, type Platform, startPlatform } from '@nn-runtime/dev';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';
import { collectComplaints } from '../browser/chromium.js';
import { type Running, run } from '../dev/fixtures/command.js';
import { freePort } from '../free-port.js';

/** Both example applications: one page. */
export const examples = ['fastify-app', 'express-app'] as const;
export type Example = (typeof examples)[number];

/** An example application, as its own process behind a local platform. */
export interface RunningExample {
  readonly platform: Platform<'example'>;
  /** Where people go: the edge. */
  readonly url: string;
  /** Waits for an exchange of the platform, or finds one that was. */
  exchange(is: (exchange: Exchange) => boolean): Promise<Exchange>;
  /** The application's process. */
  readonly app: Running;
  /** Starts another one in its place, once it ended. */
  restart(): Promise<Running>;
}

/** Starts an example application behind a platform of its own, with these variables besides; both end with the test. */
export async function startExample(
  t: Test,
  example: Example,
  env: NodeJS.ProcessEnv = {},
): Promise<RunningExample> {
  const port = await freePort();
  const exchanges: Exchange[] = [];
  const listeners = new Set<() => void>();
  const platform = await startPlatform({
    apps: [{ id: 'example', url: `http://127.0.0.1:${port}` }],
    onExchange(exchange) {
      exchanges.push(exchange);
      for (const look of listeners) look();
    },
  });
  t.teardown(() => platform.close());
  const { url, env: platformEnv, localEnv } = platform.apps.example;

  async function start(): Promise<Running> {
    const server = join(import.meta.dirname, `../../examples/${example}/dist/server.js`);
    const running = run(t, server, [], { ...platformEnv, ...localEnv, PORT: String(port), ...env });
    await running.until(/listens on http:\/\/127\.0\.0\.1:\d+\n/);
    return running;
  }

  return {
    platform,
    url,
    app: await start(),
    restart: start,
    exchange: (is) =>
      new Promise((resolve) => {
        const look = () => {
          const found = exchanges.find(is);
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
  };
}

/** What a browser is like, for a test of how the page looks. */
export type Look = Parameters<Browser['newContext']>[0];

/** A browser of somebody who is signed in already, or of nobody. */
export async function visitor(
  t: Test,
  browser: Browser,
  { platform, url }: RunningExample,
  email?: string,
  look?: Look,
): Promise<BrowserContext> {
  const context = await browser.newContext(look);
  t.teardown(() => context.close());
  if (email !== undefined) {
    const { cookie } = await platform.signIn(email);
    const [name = '', value = ''] = cookie.split(/=(.*)/s);
    await context.addCookies([{ name, value, url, httpOnly: true }]);
  }
  return context;
}

/** Opens the page in a new tab. */
export async function open(
  context: BrowserContext,
  url: string,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage();
  const complaints = collectComplaints(page);
  await page.goto(url);
  return { page, complaints };
}

/** What the page complains of, but for what a browser says of answers that the test made fail. */
export const ownComplaints = (complaints: readonly string[]): string[] =>
  complaints.filter((text) => !/Failed to load resource|WebSocket connection to '/.test(text));

/** A part of the page, by its heading. */
export const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
