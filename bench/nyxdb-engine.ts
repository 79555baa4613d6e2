/**
 * Stands for an engine, or for a bare echo under `/echo`: it says yes to everything, and costs as little as an echo. Run by itself it is a
 * process of its own that prints its port and ends with its standard input.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { encodeResponse, encodeText } from '@nn-runtime/nyxdb/frames';
import { WebSocketServer } from 'ws';

/** On a free port of 127.0.0.1. */
export async function startAnswering(): Promise<{ readonly port: number; close(): Promise<unknown> }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  const answer = (body: string): Buffer =>
    Buffer.from(encodeResponse(new Uint8Array(16), 0, encodeText(body)));
  const yes = answer('authenticated\n');
  const table = answer('id\tpx\n1\t10.5\n');
  server.on('connection', (socket, request) => {
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const frame = data as Buffer;
      if (request.url === '/echo') socket.send(frame);
      else {
        const bytes = frame[0] === 0x09 ? yes : table;
        frame.copy(bytes, 0, 1, 17);
        socket.send(bytes);
      }
    });
  });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

if (process.argv[1] === import.meta.filename) {
  const { port } = await startAnswering();
  console.log(port);
  process.stdin.resume().on('end', () => process.exit());
}
