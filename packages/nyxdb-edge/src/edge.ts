import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Identity, isPerson } from '@nn-runtime/core';
import { EDGE_PROTOCOL, HEADER_BYTES } from '@nn-runtime/nyxdb/frames';
import { WebSocketServer } from 'ws';
import { admit } from './admission.js';
import { claimUpgrades, hasBody, type UpgradeServer } from './attach.js';
import { publish } from './events.js';
import { type NyxdbEdgeOptions, readOptions } from './options.js';
import { goingAway, noHandshake, type Refusal, tooManyRelays, writeAnswer } from './refusal.js';
import { Relay, type RelayContext } from './relay.js';

/** Counts, for health checks and metrics. */
export interface NyxdbEdgeStatus {
  /** Upgrade requests under examination. */
  readonly checking: number;
  /** Relays whose engine is not ready yet. */
  readonly connecting: number;
  /** Relays that carry frames. */
  readonly live: number;
  /** Different people with a relay. */
  readonly people: number;
  /** Upgrades refused so far. */
  readonly refused: number;
  /** Relays opened so far. */
  readonly opened: number;
  /** Whether `drain()` or `close()` was called. */
  readonly closing: boolean;
}

/** An edge in front of NYXDB. */
export interface NyxdbEdge {
  /**
   * Takes the WebSocket upgrades of the edge's path on this server, and of no other. May be called for more servers than one.
   *
   * @returns the edge itself.
   * @throws Error when the path of this server is claimed already.
   */
  attach(server: UpgradeServer): NyxdbEdge;
  /** Counts. */
  status(): NyxdbEdgeStatus;
  /**
   * For a shutdown: refuses new upgrades with 503, ends subscriptions and idle relays with 1001, and lets one-shot calls in flight finish,
   * at most `deadlines.drainMs`. Resolves when no relay is left. Before `server.close()`, which waits for every socket.
   */
  drain(): Promise<void>;
  /** As `drain()`, at once: calls in flight are cut off. */
  close(): Promise<void>;
}

/**
 * Makes the edge in front of NYXDB: a relay, under the application's own origin, that lets a WebSocket through only from the pages and
 * people it is meant for, and only frames that the contract has.
 *
 * @throws ConfigurationError (of `@nn-runtime/core`) naming every wrong option at once.
 */
export function createNyxdbEdge(options: NyxdbEdgeOptions): NyxdbEdge {
  const settings = readOptions(options);
  const { authenticate, clock, deadlines, limits, path } = settings;
  const webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // A small message cannot become a large one.
    perMessageDeflate: false,
    maxPayload: limits.maxRequestBytes + HEADER_BYTES,
    maxFragments: limits.maxFragments,
    // Text is refused whatever it says.
    skipUTF8Validation: true,
    // ws would take the first one that a client offers.
    handleProtocols: (offered) =>
      authenticate !== undefined && offered.has(EDGE_PROTOCOL) ? EDGE_PROTOCOL : false,
  });
  // Refused as everything else is, and counted.
  webSockets.on('wsClientError', (_error, socket) => refuse(socket, noHandshake));
  const relays = new Set<Relay>();
  const socketsOf = new Map<string, number>();
  const empty: (() => void)[] = [];
  let checking = 0;
  let refused = 0;
  let opened = 0;
  let closing = false;

  function refuse(socket: Duplex, { cause, answer }: Refusal): void {
    refused++;
    publish({ name: 'upgrade-refused', cause, statusCode: answer.statusCode });
    writeAnswer(socket, answer);
    const stop = clock.after(deadlines.closeMs, () => socket.destroy());
    socket.once('close', stop);
  }

  /** Counts one more socket of a person, and gives what takes it back; undefined when they have too many. */
  function takePlace(identity: Identity): (() => void) | undefined {
    if (!isPerson(identity)) return () => {};
    // Claims hold no NUL that could make two people one: each part is its own.
    const key = JSON.stringify([identity.organization.id, identity.subject]);
    const count = socketsOf.get(key) ?? 0;
    if (count >= limits.socketsPerPerson) return undefined;
    socketsOf.set(key, count + 1);
    return () => {
      const left = (socketsOf.get(key) ?? 0) - 1;
      if (left > 0) socketsOf.set(key, left);
      else socketsOf.delete(key);
    };
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const startedMs = clock.now();
    if (closing) return refuse(socket, goingAway);
    if (relays.size + checking >= limits.maxRelays) return refuse(socket, tooManyRelays);
    checking++;
    const admission = await admit(settings, request).finally(() => checking--);
    if (socket.destroyed) return;
    if (closing) return refuse(socket, goingAway);
    if ('refusal' in admission) return refuse(socket, admission.refusal);
    if (hasBody(request)) return refuse(socket, noHandshake);
    webSockets.handleUpgrade(request, socket, head, (client) => {
      const { identity } = admission;
      const leavePlace = takePlace(identity);
      opened++;
      const context: RelayContext = {
        settings,
        identity,
        startedMs,
        onEnded: () => leavePlace?.(),
        onClosed() {
          relays.delete(relay);
          if (relays.size === 0) for (const resolve of empty.splice(0)) resolve();
        },
      };
      const relay = new Relay(context, client);
      relays.add(relay);
      // After 101, so that a page can tell: of an upgrade that is refused, browsers say nothing but 1006.
      if (leavePlace === undefined) relay.end('too-many-sockets');
      else relay.start();
    });
  }

  const whenEmpty = (): Promise<void> =>
    relays.size === 0 ? Promise.resolve() : new Promise((resolve) => empty.push(resolve));

  const edge: NyxdbEdge = {
    attach(server) {
      claimUpgrades(server, path, (request, socket, head) => {
        // Before anything asynchronous: Node hands the socket over without a listener, and a reset would end the process.
        socket.on('error', () => socket.destroy());
        void upgrade(request, socket, head).catch(() => socket.destroy());
      });
      return edge;
    },
    status() {
      let live = 0;
      for (const relay of relays) if (relay.isLive) live++;
      return {
        checking,
        connecting: relays.size - live,
        live,
        people: socketsOf.size,
        refused,
        opened,
        closing,
      };
    },
    async drain() {
      closing = true;
      for (const relay of relays) relay.retire('going-away');
      await whenEmpty();
    },
    async close() {
      closing = true;
      for (const relay of relays) relay.end('going-away');
      await whenEmpty();
    },
  };
  return edge;
}
