import { type Identity, isPerson } from '@nn-runtime/core';
import { WebSocket } from 'ws';
import { END_CODES, type EndReason } from './ends.js';
import { authenticateWith, type EngineAuthentication } from './engine-auth.js';
import { publish } from './events.js';
import { Heartbeat } from './heartbeat.js';
import type { Settings } from './options.js';
import { Pump } from './pump.js';
import { allowedOperations, judgeRequest } from './request.js';
import { judgeResponse } from './response.js';
import { closeSocket, isOverCap, reasonOfEngineClose } from './sockets.js';
import { HEADER_BYTES, OP_AUTH, OP_ENDPOINT_SUB } from './wire.js';

/** What a relay is for. */
export interface RelayContext {
  readonly settings: Settings;
  /** Of the upgrade request, verified. */
  readonly identity: Identity;
  /** When the upgrade request came, on the settings' clock. */
  readonly startedMs: number;
  /** Told once, when it carries nothing any more. */
  onEnded(): void;
  /** Told once, when both its sockets are closed as well. */
  onClosed(): void;
}

/**
 * One client socket and the one engine socket that belongs to it. They live and die together: authentication is of one connection
 * (contract, "Connection sequence"), so the engine's is never shared, pooled, or opened again behind a client that is still there.
 */
export class Relay {
  readonly #context: RelayContext;
  readonly #client: WebSocket;
  readonly #operations: ReadonlySet<number>;
  #engine: WebSocket | undefined;
  #authentication: EngineAuthentication | undefined;
  #toEngine: Pump | undefined;
  #toClient: Pump | undefined;
  #state: 'new' | 'connecting' | 'authenticating' | 'live' | 'ended' = 'new';
  /** Requests that came before the engine was ready. */
  #held: { readonly operation: number; readonly message: Buffer }[] = [];
  #heldBytes = 0;
  #authAsked = false;
  #subscribed = false;
  /** One-shot requests without an answer. */
  #inFlight = 0;
  #retiring: EndReason | undefined;
  #requests = 0;
  #responses = 0;
  #openSockets = 1;
  #stopStep = (): void => {};
  #stopLife = (): void => {};
  #stopBeat = (): void => {};

  constructor(context: RelayContext, client: WebSocket) {
    this.#context = context;
    this.#client = client;
    this.#operations = allowedOperations(context.settings);
    client.on('message', (data, isBinary) => this.#fromClient(data as Buffer, isBinary));
    // ws closes by itself, with the code that belongs to it.
    client.on('error', (error) => this.end(isOverCap(error) ? 'over-cap' : 'malformed'));
    client.on('close', () => {
      this.end('client-closed');
      this.#closed();
    });
  }

  /** Whether frames pass. */
  get isLive(): boolean {
    return this.#state === 'live';
  }

  start(): void {
    const { identity, settings } = this.#context;
    const { authenticate, clock, deadlines, random } = settings;
    this.#state = 'connecting';
    // A tenth more or less, so that people who came together do not come back together.
    const lifeMs = deadlines.lifeMs * (0.9 + 0.2 * random.fraction());
    this.#stopLife = clock.after(lifeMs, () => this.retire('renew'));
    const client = new Heartbeat(this.#client);
    const beat = (): void => {
      this.#stopBeat = clock.after(deadlines.pingMs, beat);
      if (!client.beat(this.#toEngine?.paused === true)) this.end('silent');
    };
    this.#stopBeat = clock.after(deadlines.pingMs, beat);
    if (authenticate === undefined) this.#connect();
    else if (isPerson(identity)) this.#lookUp(() => authenticate(identity));
    else this.end('no-token');
  }

  /** Ends it once nothing is in flight, or `drainMs` passed. A subscription has no end of its own to wait for. */
  retire(reason: EndReason): void {
    if (this.#state !== 'live' || this.#subscribed || this.#inFlight === 0) {
      this.end(reason);
      return;
    }
    const { clock, deadlines } = this.#context.settings;
    this.#retiring = reason;
    this.#stopLife();
    this.#stopLife = clock.after(deadlines.drainMs, () => this.end(reason));
  }

  /** Ends it now. The first reason counts. */
  end(reason: EndReason | 'client-closed'): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#stopStep();
    this.#stopLife();
    this.#stopBeat();
    this.#toEngine?.stop();
    this.#toClient?.stop();
    this.#held = [];
    this.#authentication = undefined;
    const { settings, startedMs } = this.#context;
    publish({
      name: 'relay-ended',
      reason,
      durationMs: settings.clock.now() - startedMs,
      requests: this.#requests,
      responses: this.#responses,
    });
    this.#context.onEnded();
    if (reason !== 'client-closed') closeSocket(settings, this.#client, END_CODES[reason], reason);
    if (this.#engine !== undefined) closeSocket(settings, this.#engine, 1000);
  }

  #closed(): void {
    if (--this.#openSockets === 0) this.#context.onClosed();
  }

  #step(ms: number, reason: EndReason): void {
    this.#stopStep();
    this.#stopStep = this.#context.settings.clock.after(ms, () => this.end(reason));
  }

  #lookUp(ask: () => unknown): void {
    const { deadlines, random } = this.#context.settings;
    this.#step(deadlines.authMs, 'token-late');
    new Promise((resolve) => resolve(ask()))
      .then((credentials) => {
        if (this.#state === 'ended') return;
        if (credentials === null || credentials === undefined) {
          this.end('no-token');
          return;
        }
        this.#authentication = authenticateWith(credentials, random);
        this.#connect();
      })
      .catch(() => this.end('token-unavailable'));
  }

  #connect(): void {
    const { deadlines, limits, upstream } = this.#context.settings;
    this.#step(deadlines.handshakeMs, 'engine-late');
    // Nothing of the client's request: no header, cookie, query or subprotocol of it is the engine's to see.
    const engine = new WebSocket(upstream, {
      perMessageDeflate: false,
      maxPayload: limits.maxResponseBytes + HEADER_BYTES,
      skipUTF8Validation: true,
    });
    this.#engine = engine;
    this.#openSockets++;
    engine.on('open', () => this.#opened(engine));
    engine.on('message', (data, isBinary) => this.#fromEngine(data as Buffer, isBinary));
    engine.on('unexpected-response', (request) => {
      request.destroy();
      this.end('engine-refused');
    });
    engine.on('error', (error) => {
      if (isOverCap(error)) this.end('over-cap');
      else this.end(this.#state === 'connecting' ? 'engine-unreachable' : 'engine-protocol');
    });
    engine.on('close', (code) => {
      this.end(this.#state === 'connecting' ? 'engine-unreachable' : reasonOfEngineClose(code));
      this.#closed();
    });
  }

  #opened(engine: WebSocket): void {
    if (this.#state === 'ended') return;
    const { settings } = this.#context;
    this.#toEngine = new Pump(this.#client, engine, settings, false, () => this.end('slow-engine'));
    this.#toClient = new Pump(engine, this.#client, settings, true, () => this.end('slow-client'));
    if (this.#authentication === undefined) {
      this.#ready();
      return;
    }
    this.#state = 'authenticating';
    this.#step(settings.deadlines.authMs, 'engine-late');
    engine.send(this.#authentication.frame);
  }

  #ready(): void {
    this.#state = 'live';
    this.#stopStep();
    const { identity, settings, startedMs } = this.#context;
    publish({ name: 'relay-ready', durationMs: settings.clock.now() - startedMs });
    // A stranger has no other bound than the edge's own.
    if (!isPerson(identity) && !this.#authAsked) this.#step(settings.deadlines.authMs, 'unauthenticated');
    const held = this.#held;
    this.#held = [];
    for (const { message, operation } of held) this.#pass(message, operation);
  }

  #fromClient(message: Buffer, isBinary: boolean): void {
    // ws delivers what it had buffered also after close().
    if (this.#state === 'ended') return;
    const reason = isBinary ? this.#take(message) : 'text-message';
    if (reason !== undefined) this.end(reason);
  }

  #take(message: Buffer): EndReason | undefined {
    const { limits } = this.#context.settings;
    const operation = judgeRequest(message, this.#operations, limits.maxRequestBytes);
    if (typeof operation === 'string') return operation;
    // "Authenticate once per fresh socket": a second attempt would leave the principal in doubt.
    if (operation === OP_AUTH && this.#authAsked) return 'operation';
    this.#authAsked ||= operation === OP_AUTH;
    if (this.#state === 'live') {
      this.#pass(message, operation);
      return undefined;
    }
    this.#heldBytes += message.length;
    if (this.#held.length >= limits.maxHeldFrames || this.#heldBytes > limits.maxHeldBytes)
      return 'too-early';
    this.#held.push({ message, operation });
    return undefined;
  }

  #pass(message: Buffer, operation: number): void {
    this.#requests++;
    if (operation === OP_ENDPOINT_SUB) this.#subscribed = true;
    else this.#inFlight++;
    if (operation === OP_AUTH) this.#stopStep();
    this.#toEngine?.send(message);
  }

  #fromEngine(message: Buffer, isBinary: boolean): void {
    if (this.#state === 'ended') return;
    const reason = isBinary ? this.#answer(message) : 'engine-protocol';
    if (reason !== undefined) this.end(reason);
  }

  #answer(message: Buffer): EndReason | undefined {
    const authentication = this.#authentication;
    if (authentication !== undefined) {
      // The frame holds the token.
      this.#authentication = undefined;
      const failed = authentication.judge(message);
      if (failed === undefined) this.#ready();
      return failed;
    }
    const reason = judgeResponse(message, this.#context.settings.limits.maxResponseBytes);
    if (reason !== undefined && reason !== 'revoked') return reason;
    this.#responses++;
    this.#inFlight--;
    this.#toClient?.send(message);
    return reason ?? (this.#inFlight > 0 ? undefined : this.#retiring);
  }
}
