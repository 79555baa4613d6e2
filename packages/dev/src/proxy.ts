import { Agent, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import { refuse } from './answer.js';
import { removePlatformSetCookies } from './headers.js';

/** One request on its way to the application. */
export interface Forwarded {
  /** The request target, to be sent byte for byte. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** An upgrade on its way. */
export interface ForwardedUpgrade extends Forwarded {
  /** Told once what the application said: 101, the status of its refusal, 502 when it said nothing. */
  answered(statusCode: number | undefined): void;
}

/** Relays requests and WebSockets to one application. */
export interface Relay {
  web(request: IncomingMessage, response: ServerResponse, forwarded: Forwarded): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, forwarded: ForwardedUpgrade): void;
}

const unavailable = 'APPLICATION_UNAVAILABLE';

/**
 * A fresh connection for each request, so that none is lost on one the application was just closing; but asked for
 * with keep-alive: a server that closes at once resets a connection whose body it did not read, and its answer to a
 * large upload would be lost.
 */
class FreshConnections extends Agent {
  constructor() {
    super({ keepAlive: true });
  }
  override keepSocketAlive(): boolean {
    return false;
  }
}

export function createRelay(application: URL): Relay {
  const message = `the application at ${application.origin} did not answer`;
  const underWay = new WeakMap<IncomingMessage, Forwarded>();
  const upgrades = new WeakMap<Duplex, ForwardedUpgrade>();
  const upgraded = new WeakSet<Duplex>();
  // toProxy: the library would otherwise take the target through `new URL`.
  const proxy = createProxyServer({ target: application.origin, toProxy: true });

  // The library sets `content-length: 0` on a DELETE or OPTIONS with a chunked body: the headers are put right
  // after that step, and its own copy of the target (no bare `?`, no second `/`) is replaced below.
  proxy.before('web', 'stream', (request) => {
    const forwarded = underWay.get(request);
    if (forwarded !== undefined) request.headers = forwarded.headers;
  });
  proxy.on('proxyReq', (outgoing, request) => {
    outgoing.path = underWay.get(request)?.target ?? outgoing.path;
  });
  proxy.on('proxyReqWs', (outgoing, request, socket) => {
    outgoing.path = underWay.get(request)?.target ?? outgoing.path;
    const upgrade = upgrades.get(socket);
    outgoing.once('upgrade', (answer, upstream) => {
      removePlatformSetCookies(answer.headers);
      // The library ends the application's side when the browser's closes; but here that happened before there was one to end.
      if (socket.destroyed) upstream.destroy();
      upgraded.add(socket);
      upgrade?.answered(101);
    });
    outgoing.once('response', (answer) => {
      upgrade?.answered(answer.statusCode);
      removePlatformSetCookies(answer.headers);
      // The refusal is relayed, and the connection ends with it.
      answer.headers.connection = 'close';
      answer.once('error', () => socket.destroy());
    });
  });

  proxy.on('proxyRes', (answer, _request, response) => {
    const status = answer.statusCode ?? 0;
    if (status < 200 || status > 999) {
      refuse(response, 502, unavailable, message);
      answer.destroy();
      return;
    }
    delete answer.headers['keep-alive'];
    answer.headers.connection = response.shouldKeepAlive ? 'keep-alive' : 'close';
    removePlatformSetCookies(answer.headers);
    // An answer cut off must end cut off: with a clean end the browser would take half a document for the whole.
    answer.once('error', () => response.destroy());
    // The library copies the head after this. An EventSource is open once it has the head: not when the first event comes.
    process.nextTick(() => {
      if (!response.destroyed) response.flushHeaders();
    });
  });

  proxy.on('error', (error, _request, client) => {
    const said = explain(error, application.origin);
    if (client instanceof Socket) {
      if (!upgraded.has(client)) upgrades.get(client)?.answered(client.destroyed ? undefined : 502);
      if (!client.destroyed && !upgraded.has(client)) client.write(rawRefusal(said));
      client.destroySoon();
    } else if (!client.headersSent && !client.destroyed) refuse(client, 502, unavailable, said);
  });

  const agent = new FreshConnections();
  return {
    web(request, response, forwarded) {
      underWay.set(request, forwarded);
      proxy.web(request, response, { agent });
    },
    upgrade(request, socket, head, forwarded) {
      underWay.set(request, forwarded);
      upgrades.set(socket, forwarded);
      request.headers = forwarded.headers;
      proxy.ws(request, socket, head);
    },
  };
}

/** Only the name of the fault: its text may quote what the application sent. */
function explain(error: Error, origin: string): string {
  const code = 'code' in error ? String(error.code) : '';
  return code.startsWith('HPE_')
    ? `the application at ${origin} answered outside HTTP (${code})`
    : `the application at ${origin} did not answer`;
}

/** A refusal on a socket that has no response object: an upgrade that came to nothing. */
function rawRefusal(message: string): string {
  const body = JSON.stringify({ code: unavailable, message });
  return [
    'HTTP/1.1 502 Bad Gateway',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
