import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ownHost } from './address.js';
import { refuse } from './answer.js';
import { readCookie, sessionCookie } from './cookies.js';
import { requestHeaders } from './headers.js';
import { signIdentity } from './identity.js';
import { createRelay, type Relay } from './proxy.js';
import type { ReservedPaths } from './reserved.js';
import type { Session } from './sessions.js';
import type { PlatformState } from './state.js';
import { readTarget, type Target } from './target.js';

/** What one edge needs to know of its application. */
export interface EdgeOptions {
  readonly state: PlatformState;
  readonly appId: string;
  /** The application's own address; without one the edge serves the reserved paths alone. */
  readonly application: URL | undefined;
  readonly port: () => number;
  readonly iamUrl: string;
  readonly reservedPaths: () => ReservedPaths;
}

interface Arrival {
  readonly target: Target;
  readonly host: string;
}

/** The address people use: answers the reserved paths itself, and relays everything else with the identity on it. */
export function createEdge(options: EdgeOptions): Server {
  const { state, appId } = options;
  const proxy = options.application === undefined ? undefined : createRelay(options.application);
  // A long upload is the application's to refuse, not this server's.
  const server = createServer({ requestTimeout: 0 });

  server.on('request', (request, response) => {
    watch(request, response);
    void settle(response, serve(request, response));
  });
  server.on('upgrade', (request, socket, head) => {
    // Node hands the socket over without a listener: a reset in between would end the process.
    socket.on('error', () => socket.destroy());
    void upgrade(request, socket, head).catch(() => socket.destroy());
  });

  function arrive(request: IncomingMessage, response: ServerResponse): Arrival | undefined {
    if (hasSpacedName(request)) {
      refuse(response, 400, 'VALIDATION_FAILED', 'a header name ends in white space');
      return undefined;
    }
    const target = readTarget(request.url ?? '/');
    const host = hostOf(request, target);
    if (host !== undefined) return { target, host };
    refuse(response, 400, 'VALIDATION_FAILED', 'the Host of the request is not this address');
    return undefined;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrival = arrive(request, response);
    if (arrival === undefined) return;
    const { target, host } = arrival;
    if (target.reservedPath !== undefined)
      return options.reservedPaths().serve(request, response, { path: target.reservedPath, target, host });
    if (proxy === undefined) {
      refuse(response, 502, 'APPLICATION_UNAVAILABLE', 'no address was given for this application');
      return;
    }
    const headers = requestHeaders(request, host, await identityOf(request), false);
    proxy.web(request, response, { target: target.raw, headers });
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const relay = relayOf(request);
    if (relay === undefined) {
      // Not a WebSocket for the application: an ordinary answer, on the socket Node handed over.
      const response = new ServerResponse(request);
      watch(request, response);
      response.shouldKeepAlive = false;
      if (socket instanceof Socket) response.assignSocket(socket);
      response.once('finish', () => socket.end());
      if (hasBody(request)) refuse(response, 501, 'NOT_IMPLEMENTED', 'only WebSocket upgrades are relayed');
      else await settle(response, serve(request, response));
      return;
    }
    const headers = requestHeaders(request, relay.host, await identityOf(request), true);
    state.journal.person(request, sessionOf(request)?.person);
    const answered = (statusCode: number | undefined) => state.journal.upgrade(request, appId, statusCode);
    relay.proxy.upgrade(request, socket, head, { target: relay.target.raw, headers, answered });
  }

  function relayOf(request: IncomingMessage): (Arrival & { proxy: Relay }) | undefined {
    const target = readTarget(request.url ?? '/');
    const host = hostOf(request, target);
    const webSocket = request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket';
    if (!webSocket || host === undefined || proxy === undefined || target.reservedPath !== undefined)
      return undefined;
    if (hasSpacedName(request)) return undefined;
    return { target, host, proxy };
  }

  function hostOf(request: IncomingMessage, target: Target): string | undefined {
    // Of two Host lines Node takes the first, another server the last: 400 (RFC 9112 section 3.2).
    const lines = request.headersDistinct.host ?? [];
    return lines.length > 1 ? undefined : ownHost(target.authority ?? lines[0], options.port());
  }

  function sessionOf(request: IncomingMessage): Session | undefined {
    const cookie = readCookie(request.headers.cookie, sessionCookie(options.port()));
    return state.sessions.byCookie(appId, cookie);
  }

  async function identityOf(request: IncomingMessage): Promise<string | undefined> {
    const session = sessionOf(request);
    return session === undefined ? undefined : signIdentity(state, options.iamUrl, session);
  }

  function watch(request: IncomingMessage, response: ServerResponse): void {
    state.journal.watch(request, response, { part: 'edge', appId });
    state.journal.person(request, sessionOf(request)?.person);
  }

  return server;
}

// RFC 9112 section 5.1: "A server MUST reject" white space before the colon. Node 20.19 lets it pass, as part of the name; a server
// behind it that trims would take a browser's own line for the platform's.
function hasSpacedName({ headers }: IncomingMessage): boolean {
  return Object.keys(headers).some((name) => /\s/.test(name));
}

function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** A fault of the edge's own must not leave the browser waiting. */
async function settle(response: ServerResponse, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch {
    if (response.headersSent) response.destroy();
    else refuse(response, 500, 'INTERNAL_ERROR', 'the local platform failed to answer');
  }
}
