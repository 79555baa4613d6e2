import { type Identity, isPerson } from '@nn-runtime/core';
import { OP_AUTH, OP_ENDPOINT_SUB } from '@nn-runtime/nyxdb/frames';
import type { WebSocket } from 'ws';
import { END_CODES, type EndReason } from './ends.js';
import { EngineSide } from './engine.js';
import { publish } from './events.js';
import { keepAlive } from './heartbeat.js';
import { HeldRequests } from './held.js';
import { LARGEST_TIMER_MS, type Settings } from './options.js';
import { Pump } from './pump.js';
import { allowedOperations, judgeRequest } from './request.js';
import { judgeResponse } from './response.js';
import { closeSocket, isOverCap } from './sockets.js';

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
 * One client socket and the one engine socket that belongs to it: they live and die together (contract, "Authentication is
 * connection-scoped").
 */
export class Relay {
  readonly #context: RelayContext;
  readonly #client: WebSocket;
  readonly #engine: EngineSide;
  readonly #operations: ReadonlySet<number>;
  readonly #held: HeldRequests;
  #pumps: { readonly toEngine: Pump; readonly toClient: Pump } | undefined;
  /** What has to stop when it ends. */
  readonly #stops = new Set<() => void>();
  #isEnded = false;
  #openSides = 2;
  #authAsked = false;
  #subscribed = false;
  /** Requests that nothing was answered to yet. */
  #unanswered = 0;
  #retiring: EndReason | undefined;
  #requests = 0;
  #responses = 0;

  constructor(context: RelayContext, client: WebSocket) {
    const { settings } = context;
    this.#context = context;
    this.#client = client;
    this.#operations = allowedOperations(settings);
    this.#held = new HeldRequests(settings.limits);
    this.#engine = new EngineSide(settings, {
      onReady: (socket) => this.#ready(socket),
      onMessage: (message) => this.#endFor(this.#passBack(message)),
      onFailed: (reason) => this.end(reason),
      onClosed: () => this.#closed(),
    });
    client.on('message', (data, isBinary) => {
      // ws delivers what it had buffered also after close().
      if (!this.#isEnded) this.#endFor(isBinary ? this.#take(data as Buffer) : 'text-message');
    });
    // ws closes by itself, with the code that belongs to it.
    client.on('error', (error) => this.end(isOverCap(error) ? 'over-cap' : 'malformed'));
    client.on('close', () => {
      this.end('client-closed');
      this.#closed();
    });
  }

  /** Whether frames pass. */
  get isLive(): boolean {
    return this.#pumps !== undefined && !this.#isEnded;
  }

  /** Begins to connect. Without it, all it can do is end. */
  start(): void {
    const { identity, settings } = this.#context;
    const { deadlines, random } = settings;
    // A tenth more or less, so that people who came together do not come back together.
    const lifeMs = Math.min(LARGEST_TIMER_MS, Math.round(deadlines.lifeMs * (0.9 + 0.2 * random.fraction())));
    this.#after(lifeMs, () => this.retire('renew'));
    this.#stops.add(
      keepAlive(
        settings,
        this.#client,
        () => this.#isPressed(),
        () => this.end('silent'),
      ),
    );
    this.#engine.start(isPerson(identity) ? identity : undefined);
  }

  /** Ends it once every one-shot call was answered, or `drainMs` passed. A subscription has no end of its own to wait for. */
  retire(reason: EndReason): void {
    if (this.#subscribed || this.#unanswered === 0) {
      this.end(reason);
      return;
    }
    this.#retiring = reason;
    this.#after(this.#context.settings.deadlines.drainMs, () => this.end(reason));
  }

  /** Ends it now. The first reason counts. */
  end(reason: EndReason | 'client-closed'): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const stop of this.#stops) stop();
    this.#held.take();
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
    this.#engine.end();
  }

  /** Whether a side is paused, or does not read: then its pongs wait behind what it sent, or was sent. `stalledMs` bounds that. */
  #isPressed(): boolean {
    return this.#pumps !== undefined && (this.#pumps.toEngine.isPaused || this.#pumps.toClient.isPaused);
  }

  #endFor(reason: EndReason | undefined): void {
    if (reason !== undefined) this.end(reason);
  }

  #closed(): void {
    if (--this.#openSides === 0) this.#context.onClosed();
  }

  #after(ms: number, run: () => void): () => void {
    const stop = this.#context.settings.clock.after(ms, run);
    this.#stops.add(stop);
    return stop;
  }

  #ready(engine: WebSocket): void {
    const { identity, settings, startedMs } = this.#context;
    const client = this.#client;
    const toEngine = new Pump(client, engine, settings, false, () => this.end('slow-engine'));
    const toClient = new Pump(engine, client, settings, true, () => this.end('slow-client'));
    this.#pumps = { toEngine, toClient };
    this.#stops.add(() => toEngine.stop()).add(() => toClient.stop());
    // It takes requests one by one, and may answer a ping no sooner than the query before it.
    const isBusy = (): boolean => this.#unanswered > 0 || this.#isPressed();
    this.#stops.add(keepAlive(settings, engine, isBusy, () => this.end('engine-lost')));
    publish({ name: 'relay-ready', durationMs: settings.clock.now() - startedMs });
    // A stranger has no other bound than the edge's own.
    if (!isPerson(identity))
      this.#after(settings.deadlines.authMs, () =>
        this.#endFor(this.#authAsked ? undefined : 'unauthenticated'),
      );
    for (const { message, operation } of this.#held.take()) this.#pass(operation, message, toEngine);
  }

  /** One message of the client: on to the engine, held, or why the relay ends. */
  #take(message: Buffer): EndReason | undefined {
    const { limits } = this.#context.settings;
    const operation = judgeRequest(message, this.#operations, limits.maxRequestBytes);
    if (typeof operation === 'string') return operation;
    // "Authenticate once per fresh socket": a second attempt would leave the principal in doubt.
    if (operation === OP_AUTH && this.#authAsked) return 'operation';
    this.#authAsked ||= operation === OP_AUTH;
    if (this.#pumps === undefined) return this.#held.add({ operation, message }) ? undefined : 'too-early';
    this.#pass(operation, message, this.#pumps.toEngine);
    return undefined;
  }

  #pass(operation: number, message: Buffer, toEngine: Pump): void {
    this.#requests++;
    this.#unanswered++;
    this.#subscribed ||= operation === OP_ENDPOINT_SUB;
    toEngine.send(message);
  }

  /** One message of the engine: on to the client, or why the relay ends. */
  #passBack(message: Buffer): EndReason | undefined {
    const reason = judgeResponse(message, this.#context.settings.limits.maxResponseBytes);
    if (reason !== undefined && reason !== 'revoked') return reason;
    this.#responses++;
    if (this.#unanswered > 0) this.#unanswered--;
    this.#pumps?.toClient.send(message);
    return reason ?? (this.#unanswered > 0 ? undefined : this.#retiring);
  }
}
