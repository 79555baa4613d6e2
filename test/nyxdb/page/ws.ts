import { Buffer } from './bytes.js';
import { Emitter } from './events.js';

/**
 * The engine's side of the sockets, for a page: it cannot listen, so the test's process does, and tells over one socket what
 * comes. See ../chromium.test.ts.
 */
type Told = { readonly server: number } & (
  | { readonly what: 'listening'; readonly port: number }
  | { readonly what: 'connection'; readonly peer: number; readonly path: string; readonly headers: object }
  | { readonly what: 'message'; readonly peer: number; readonly data: string; readonly isBinary: boolean }
  | { readonly what: 'pong' | 'error'; readonly peer: number }
  | { readonly what: 'close'; readonly peer: number; readonly code: number }
  | { readonly what: 'closed' }
);

const { host } = (globalThis as unknown as { location: { host: string } }).location;
const control = new WebSocket(`ws://${host}/control`);
await new Promise((resolve) => control.addEventListener('open', resolve));
const servers: WebSocketServer[] = [];

control.addEventListener('message', ({ data }) => {
  const told = JSON.parse(String(data)) as Told;
  servers[told.server]?.hear(told);
});

const tell = (message: object): void => control.send(JSON.stringify(message));

class RemoteSocket extends Emitter {
  readonly #to: { readonly server: number; readonly peer: number };

  constructor(server: number, peer: number) {
    super();
    this.#to = { server, peer };
  }
  send(data: string | Uint8Array): void {
    const isText = typeof data === 'string';
    tell({ ...this.#to, what: 'send', data: isText ? data : Buffer.from(data).toString('hex'), isText });
  }
  close(code?: number): void {
    tell({ ...this.#to, what: 'close', code });
  }
  terminate(): void {
    tell({ ...this.#to, what: 'terminate' });
  }
  ping(): void {
    tell({ ...this.#to, what: 'ping' });
  }
}

export class WebSocketServer extends Emitter {
  readonly clients = new Set<RemoteSocket>();
  readonly #id = servers.push(this) - 1;
  readonly #sockets = new Map<number, RemoteSocket>();
  #port = 0;

  constructor(options: object) {
    super();
    tell({ server: this.#id, what: 'listen', options });
  }

  address(): { port: number } {
    return { port: this.#port };
  }

  close(done: () => void): void {
    this.on('closed', done);
    tell({ server: this.#id, what: 'shut' });
  }

  /** Passes on what the process told. */
  hear(told: Told): void {
    if (told.what === 'listening') this.#port = told.port;
    if (told.what === 'listening' || told.what === 'closed') {
      this.emit(told.what);
      return;
    }
    const socket = this.#sockets.get(told.peer) ?? new RemoteSocket(told.server, told.peer);
    this.#sockets.set(told.peer, socket);
    if (told.what === 'connection') {
      this.clients.add(socket);
      this.emit('connection', socket, { url: told.path, headers: told.headers });
    } else if (told.what === 'message')
      socket.emit('message', Buffer.from(told.data, told.isBinary ? 'hex' : 'utf8'), told.isBinary);
    else if (told.what === 'close') {
      this.clients.delete(socket);
      socket.emit('close', told.code);
    } else socket.emit(told.what);
  }
}
