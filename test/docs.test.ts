import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import {
  ConfigurationError,
  createRuntime,
  QueryMeshError,
  type QueryMeshErrorCode,
  type QueryOptions,
  type RuntimeOptions,
} from '@nn-runtime/core';
import t from 'tap';

/** What the documents say of options, codes and each other is so, and nothing is left out. */

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const documents = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
];

/** The section under a heading, up to the next one of its rank or above. */
function section(path: string, heading: string): string {
  const [, text = ''] = `\n${read(path)}`.split(`\n${heading}\n`);
  const rank = heading.indexOf(' ');
  return text.split(new RegExp(`\\n#{1,${rank}} `))[0] ?? '';
}

/** The cells of the rows of a section's tables, heads left out. */
function rows(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const cells = lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return cells.filter(
    (row, index) => !/^-+$/.test(row[0] ?? '') && !/^-+$/.test(cells[index + 1]?.[0] ?? ''),
  );
}

const namesIn = (cell = ''): string[] => [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] as string);

/** As GitHub makes an anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .trim()
    .replaceAll(' ', '-');

t.test('every link inside the repository leads to a file, and to a heading of it', async (t) => {
  for (const document of documents) {
    for (const [, target = ''] of read(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : relative(root, join(root, dirname(document), path));
      t.ok(existsSync(join(root, file)), `${document}: ${target}`);
      if (anchor === undefined || !file.endsWith('.md')) continue;
      const headings = [...read(file).matchAll(/^#+ (.*)$/gm)].map((match) => anchorOf(match[1] ?? ''));
      t.ok(headings.includes(anchor), `${document}: ${target}`);
    }
  }
});

t.test('the options of a runtime are those of the table', async (t) => {
  const options: Record<keyof RuntimeOptions, true> = {
    env: true,
    clockToleranceSeconds: true,
    maxIdentities: true,
    maxResponseBytes: true,
    timeoutMs: true,
    retry: true,
    maxConcurrentQueries: true,
    maxQueuedQueries: true,
    maxQueueMs: true,
    keySetTimeoutMs: true,
    fetch: true,
    now: true,
    random: true,
    wait: true,
    onRefused: true,
  };
  const documented = rows(section('docs/identity.md', '## Options')).flatMap(([names]) => namesIn(names));
  t.strictSame(documented.sort(), [...Object.keys(options), 'runtime'].sort());
  for (const name of Object.keys(options)) {
    try {
      createRuntime({ [name]: Symbol(name) });
      t.fail(`${name} is not looked at`);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const faults = error.faults.filter((fault) => fault.name === name);
      t.match(faults, [{ problem: /^must be |must be an integer/ }], name);
    }
  }
});

t.test('the options of a query are those of the table', async (t) => {
  const options: Record<keyof QueryOptions, true> = {
    maxRows: true,
    timeoutMs: true,
    signal: true,
    row: true,
    bigint: true,
    retry: true,
  };
  const documented = rows(section('docs/querymesh.md', '## Options of a call')).flatMap(([names]) =>
    namesIn(names),
  );
  t.strictSame(documented, Object.keys(options));
});

t.test('the codes of a refused query are those of the table, with their statuses', async (t) => {
  const codes: Record<QueryMeshErrorCode, true> = {
    VALIDATION_FAILED: true,
    IDENTITY_ASSERTION_INVALID: true,
    ORGANIZATION_INTEGRATION_NOT_CONFIGURED: true,
    QUERYMESH_NOT_ENABLED: true,
    QUERYMESH_IDENTITY_REJECTED: true,
    QUERYMESH_ACCESS_DENIED: true,
    QUERYMESH_QUERY_FAILED: true,
    QUERYMESH_UNAVAILABLE: true,
    APPLICATION_IDENTITY_NOT_READY: true,
    QUERYMESH_PROTOCOL_ERROR: true,
    QUERYMESH_TIMEOUT: true,
    QUERYMESH_ABORTED: true,
  };
  const table = rows(section('docs/querymesh.md', '## When it is refused'));
  t.strictSame(
    table.map(([code, statusCode]) => [namesIn(code)[0], Number(statusCode)]),
    (Object.keys(codes) as QueryMeshErrorCode[]).map((code) => [code, new QueryMeshError(code).statusCode]),
  );
});
