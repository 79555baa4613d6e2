import { createEndpointClient, EndpointError } from '@nn-runtime/nyxdb/node';

/** Executes the published endpoint `my_fills`. Usage: NYXDB_URL=… NYXDB_TOKEN=… node fills.js [INSTRUMENT] */
const { NYXDB_URL: url = 'ws://127.0.0.1:8091', NYXDB_TOKEN: token = 'local-ana' } = process.env;
const [instrument = 'BTC-USD'] = process.argv.slice(2);

const client = createEndpointClient({
  url,
  // Asked for every socket: an application gives the token of the person it serves.
  authenticate: () => ({ provider: 'app_sessions', token }),
});
try {
  // The person's own fills: `user_id` is a claim, which the engine appends by itself.
  const { columns, rows } = await client.execute('my_fills', [instrument], { timeoutMs: 10_000 });
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  for (const row of [columns, ...rows])
    console.log(
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    );
} catch (error) {
  if (!(error instanceof EndpointError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
