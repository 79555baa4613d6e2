import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** HTTP by hand over one socket: header lines byte for byte as a test writes them, kept alive and pipelined. */

export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Waiting {
  readonly hasBody: boolean;
  readonly resolve: (answer: RawAnswer) => void;
  readonly reject: (error: Error) => void;
}

export class RawConnection {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #received = Buffer.alloc(0);
  #ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#deliver();
    });
    const end = (): void => {
      this.#ended = true;
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('the server closed the connection'));
    };
    socket.on('error', end).on('close', end);
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Writes bytes; text is latin-1, as header lines are on the wire. */
  write(bytes: string | Buffer): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** The next answer, in order. */
  answer(hasBody = true): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(new Error('the connection is closed'));
      this.#waiting.push({ hasBody, resolve, reject });
      this.#deliver();
    });
  }

  /** Sends one request with the given header lines and gives its answer. */
  request(lines: readonly string[], target = '/me', method = 'GET'): Promise<RawAnswer> {
    this.write(requestText(lines, target, method));
    return this.answer(method !== 'HEAD');
  }

  close(): void {
    this.#socket.destroy();
  }

  #deliver(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const headEnd = this.#received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, headEnd).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
        }),
      );
      const length = first.hasBody ? Number(headers['content-length'] ?? 0) : 0;
      const end = headEnd + 4 + length;
      if (this.#received.length < end) return;
      const body = this.#received.toString('utf8', headEnd + 4, end);
      this.#received = this.#received.subarray(end);
      this.#waiting.shift();
      first.resolve({ status: Number(statusLine.split(' ')[1]), headers, body });
    }
  }
}

export function requestText(lines: readonly string[], target = '/me', method = 'GET'): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n');
}
