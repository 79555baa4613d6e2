import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { bundle } from './bundle.js';
import { collectComplaints } from './chromium.js';
import type { Answer, startStandIn } from './standin.js';

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

/** The strictest policy a careful application sets. Whatever the package does has to fit in it. */
export const HEADERS = {
  'content-security-policy':
    "default-src 'none'; img-src data:; script-src 'self'; connect-src 'self'; base-uri 'self'",
  'referrer-policy': 'no-referrer',
};

/** The script of a page: one of the fixtures with all it imports. */
export const pageScript = (name: string): Promise<string> =>
  bundle(`import ${JSON.stringify(fixture(name))}`);

/** The page itself: whom it knows is its title. */
export const pageHtml =
  '<!doctype html><title>loading</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';

/** Serves a page with the named script of the fixtures at every path given. */
export const servePage = async (
  server: Awaited<ReturnType<typeof startStandIn>>,
  name: string,
  ...paths: string[]
) => {
  const script = await pageScript(name);
  const answer =
    (type: string, body: string): Answer =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': type, ...HEADERS }).end(body);
    };
  server.on('GET /page.js', answer('text/javascript', script));
  for (const path of paths) {
    server.on(`GET ${path}`, answer('text/html; charset=utf-8', pageHtml));
  }
};

/** Opens a tab and waits until it knows who is signed in. */
export const openTab = async (context: Browser | BrowserContext, url: string) => {
  const page = await context.newPage();
  const complaints = collectComplaints(page);
  await page.goto(url);
  await knows(page);
  return { page, complaints };
};

/** Waits until the page shows somebody else than `not`, and tells whom. (Polling from outside would need eval, which the policy forbids.) */
export const knows = (page: Page, not = 'loading') => page.evaluate(`shows(${JSON.stringify(not)})`);
