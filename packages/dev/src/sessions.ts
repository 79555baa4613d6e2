import { randomBytes } from 'node:crypto';
import type { DevPerson } from './people.js';

/** One signed-in person at one application. The IAM's single sign-on is not part of it and outlives it. */
export interface Session {
  /** The value of the browser's cookie: whoever has it is this person. Never leaves the edge. */
  readonly cookie: string;
  /** The `sid` claim: an opaque reference, of no use as a cookie (runtime protocol, "The Identity of Who Signed In"). */
  readonly sid: string;
  readonly appId: string;
  readonly person: DevPerson;
  readonly expiresAtMs: number;
}

/** The sessions of every application of one platform. In memory: they end with it. */
export interface Sessions {
  start(appId: string, person: DevPerson): Session;
  /** The live session of this cookie at this application; another application's cookie is worth nothing here. */
  byCookie(appId: string, cookie: string | undefined): Session | undefined;
  /** The live session of a `sid` claim. */
  bySid(sid: string): Session | undefined;
  end(session: Session): void;
  /** Ends every session that the test holds for; gives how many there were. */
  endWhere(test: (session: Session) => boolean): number;
  /** Has the listener called with every session that ends. */
  onEnd(listener: (session: Session) => void): void;
}

const lifetimeMs = 12 * 60 * 60 * 1000;
/** More than any test run signs in; past it the oldest session goes, so that memory stays bounded. */
const maxSessions = 10_000;

export function createSessions(nowMs: () => number): Sessions {
  const bySid = new Map<string, Session>();
  const byCookie = new Map<string, Session>();
  const listeners: ((session: Session) => void)[] = [];

  function end(session: Session): void {
    bySid.delete(session.sid);
    byCookie.delete(session.cookie);
    for (const listener of listeners) listener(session);
  }

  function live(session: Session | undefined): Session | undefined {
    if (session === undefined) return undefined;
    if (nowMs() < session.expiresAtMs) return session;
    end(session);
    return undefined;
  }

  return {
    start(appId, person) {
      const session: Session = {
        cookie: randomBytes(32).toString('base64url'),
        sid: randomBytes(16).toString('base64url'),
        appId,
        person,
        expiresAtMs: nowMs() + lifetimeMs,
      };
      bySid.set(session.sid, session);
      byCookie.set(session.cookie, session);
      const [oldest] = bySid.values();
      if (bySid.size > maxSessions && oldest !== undefined) end(oldest);
      return session;
    },
    byCookie(appId, cookie) {
      const session = live(cookie === undefined ? undefined : byCookie.get(cookie));
      return session?.appId === appId ? session : undefined;
    },
    bySid: (sid) => live(bySid.get(sid)),
    end,
    endWhere(test) {
      const ended = [...bySid.values()].filter(test);
      for (const session of ended) end(session);
      return ended.length;
    },
    onEnd: (listener) => void listeners.push(listener),
  };
}
