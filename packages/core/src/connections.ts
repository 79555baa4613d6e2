import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as requestPlain,
} from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { HttpClient, HttpQuestion, HttpReply } from './http-client.js';
import { Idleness } from './idleness.js';

/** How long connecting may take, TLS included, in milliseconds: as long as `fetch` allows. The deadline of a call may be far later. */
const CONNECT_MS = 10_000;

/** A fault of this client, named as those of the network are. */
class ConnectionFault extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/**
 * HTTP/1.1 connections of one runtime, kept alive and used again. Unlike the pool behind `globalThis.fetch` it can be closed, and what an
 * application sets for that one (a dispatcher, a proxy) does not reach it. How many there are is not bounded here: `maxConcurrentQueries`
 * bounds the queries, and a question for keys must not wait behind them.
 */
export class Connections {
  readonly #idleness = new Idleness();
  readonly #plain = this.#idleness.watch(new PlainAgent({ keepAlive: true }));
  readonly #tls = this.#idleness.watch(new TlsAgent({ keepAlive: true }));

  /** A client without `fetch`'s habits: no redirect, no cookies, no cache, no headers but the question's own and those HTTP needs. */
  readonly ask: HttpClient = async (address, question) => {
    const url = new URL(address);
    const agent = url.protocol === 'https:' ? this.#tls : this.#plain;
    await this.#idleness.dropOverdue(agent);
    return new Promise((resolve, reject) => {
      const request = open(url, question, agent);
      limitConnecting(request);
      request.once('error', reject);
      // Some ends are no error to Node, such as a 101 that nobody asked for.
      request.once('close', () => reject(new ConnectionFault('CONNECTION_CLOSED')));
      request.once('response', (response) => {
        this.#idleness.learn(response);
        // With a listener Node keeps a fault for whoever reads later; without one it forgets which it was.
        response.on('error', () => undefined);
        // An answer before the whole question was taken: what waits to be sent would hold the connection, and the process, for ever.
        response.once('end', () => {
          if (!request.writableFinished) request.destroy();
        });
        if (!REDIRECTS.has(response.statusCode)) return resolve(replyOf(response));
        request.destroy();
        reject(new ConnectionFault('UNEXPECTED_REDIRECT'));
      });
      // In one piece, which Node gives a Content-Length; a broker need not take a chunked request.
      request.end(question.body);
    });
  };

  /** Closes every connection, those in use included. */
  close(): void {
    this.#plain.destroy();
    this.#tls.destroy();
  }
}

function open(url: URL, { method, headers, signal }: HttpQuestion, agent: PlainAgent): ClientRequest {
  // No Accept-Encoding: in one cluster the processor is dearer than the wire. What comes compressed all the same is decoded.
  const options = { method: method ?? 'GET', headers, signal, agent };
  return url.protocol === 'https:' ? requestTls(url, options) : requestPlain(url, options);
}

function limitConnecting(request: ClientRequest): void {
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) return;
    const timer = setTimeout(() => request.destroy(new ConnectionFault('CONNECT_TIMEOUT')), CONNECT_MS);
    const stop = (): void => clearTimeout(timer);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop);
    socket.once('close', stop);
  });
}

const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);

function replyOf(response: IncomingMessage): HttpReply {
  return {
    status: response.statusCode ?? 0,
    headers: {
      get(name) {
        const value = response.headers[name];
        return typeof value === 'string' ? value : null;
      },
    },
    body: decoded(response),
  };
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

// Whoever reads counts the decoded bytes and stops in time; the stream decodes no further than it is read.
function decoded(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity') return response;
  const decoder = DECODERS.get(encoding)?.();
  // A fault of either ends both; whoever reads is told by the decoder.
  if (decoder !== undefined) return pipeline(response, decoder, () => undefined);
  return response.destroy(new ConnectionFault('UNKNOWN_CONTENT_ENCODING'));
}
