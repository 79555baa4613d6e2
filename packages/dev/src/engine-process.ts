/** The engine's own process: DuckDB, and nothing else. It is started by `engine-child.ts`. */

import type { FromProcess, ToProcess } from './engine-message.js';

// Without its parent it is nobody's. SIGKILL, because `process.exit` waits for a statement that still runs.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Ctrl-C reaches every process of the terminal: the parent ends this one when it is done.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});

function send(message: FromProcess): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

try {
  const { EngineDatabase } = await import('./engine-database.js');
  const { QueryRun } = await import('./engine-run.js');
  const { explainFailure } = await import('./engine-failure.js');
  const database = await EngineDatabase.open();
  const runs = new Map<number, InstanceType<typeof QueryRun>>();

  const answer = async (id: number, sql: string, maxRows: number) => {
    const run = new QueryRun(database);
    runs.set(id, run);
    try {
      send({ kind: 'result', id, result: await run.run(sql, maxRows) });
    } catch (error) {
      send({ kind: 'failed', id, ...explainFailure(error, maxRows) });
    } finally {
      runs.delete(id);
    }
  };

  process.on('message', (received) => {
    const message = received as ToProcess;
    if (message.kind === 'cancel') runs.get(message.id)?.cancel();
    else void answer(message.id, message.sql, message.maxRows);
  });
  send({ kind: 'ready' });
} catch (error) {
  // No statement was read yet, so this message quotes none.
  send({ kind: 'unready', message: error instanceof Error ? error.message : 'it failed' });
}
