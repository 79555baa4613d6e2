/** The process of the NYXDB engine's database: DuckDB, and nothing else. It is started by `nyxdb-database.ts`. */

import type { FromProcess, ToProcess } from './engine-message.js';
import type { Question, Table } from './nyxdb-message.js';

// Without its parent it is nobody's. SIGKILL, because `process.exit` waits for a statement that still runs.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Ctrl-C reaches every process of the terminal: the parent ends this one when it is done.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});

function send(message: FromProcess<Table>): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

try {
  const { openDatabase, Run } = await import('./nyxdb-run.js');
  const { explainFailure } = await import('./engine-failure.js');
  const database = await openDatabase();
  const runs = new Map<number, InstanceType<typeof Run>>();

  const answer = async (question: Question) => {
    const { id } = question;
    const run = new Run(database);
    runs.set(id, run);
    try {
      send({ kind: 'result', id, result: await run.answer(question) });
    } catch (error) {
      send({
        kind: 'failed',
        id,
        ...explainFailure(error, question.kind === 'select' ? question.maxRows : 0),
      });
    } finally {
      runs.delete(id);
    }
  };

  process.on('message', (received) => {
    const message = received as ToProcess<Question>;
    if (message.kind === 'cancel') runs.get(message.id)?.cancel();
    else void answer(message);
  });
  send({ kind: 'ready' });
} catch (error) {
  // No statement was read yet, so this message quotes none.
  send({ kind: 'unready', message: error instanceof Error ? error.message : 'it failed' });
}
