/** A whole call, over HTTP: `queryMesh` against a bare `fetch` and `JSON.parse` of the same answer. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRuntime } from '@nn-runtime/core';
import { environment, makeKey, NOW_MS, token } from '../test/tokens.js';
import { answerBody, type Ids } from './answer-body.js';
import { mediansOf, report } from './measure.js';

/** Times both on one answer. The server answers at once: no engine's time hides what the call itself costs. */
export async function timeCalls(ids: Ids, rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'nn-bench-'));
  const file = join(folder, 'answer.json');
  writeFileSync(file, answerBody(ids));
  const script = fileURLToPath(new URL('answer-server.ts', import.meta.url));
  const server = spawn(process.execPath, ['--import', 'tsx', script, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    const url = `http://127.0.0.1:${line.toString().trim()}`;
    const key = makeKey('k1');
    const runtime = createRuntime({ env: environment([key], url), now: () => NOW_MS });
    const { queryMesh } = await runtime.authenticate(token(key));
    const bare = async (): Promise<unknown> => {
      const body = JSON.stringify({ sql: 'SELECT 1' });
      const response = await fetch(`${url}/v1/querymesh/query`, { method: 'POST', body });
      return JSON.parse(await response.text());
    };
    const times = await mediansOf(
      { 'fetch and JSON.parse': bare, queryMesh: () => queryMesh('SELECT 1') },
      rounds,
    );
    report(
      `${ids} ids: a whole call over HTTP, time`,
      'ms',
      times,
      ids === 'small' ? { queryMesh: 1.15 } : {},
    );
    await runtime.close();
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
  }
}
