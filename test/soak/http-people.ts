import { randomBytes } from 'node:crypto';
import type { Random } from '../random.js';
import { claims, headerOf, makeKey, type SigningKey, signParts } from '../tokens.js';
import { faultByClock, faultOfPerson, isNotReady, isRefused, type Person, type Shot } from './http-answer.js';
import { refusalOf, rowsOf, type SoakBroker } from './http-broker.js';
import { junkOf } from './http-junk.js';

/** People whose identity comes again and again. */
const KNOWN = 200;
/** How long such an identity is sent, in milliseconds. Signed 150 s ago it outlives a clock that is two minutes wrong, either way. */
const RENEWED_MS = 30_000;
const SIGNED_AGO_S = 150;
/** A key published so long ago must be known: an unknown one is looked for every 10 s at the latest. */
const FOUND_WITHIN_MS = 15_000;
/** A busy server may send a query over a connection that was cut before it read of it; a query is not sent twice. */
const NOTICED_WITHIN_MS = 3_000;
const WITHDRAWN_AFTER_MS = 25_000;

export class People {
  readonly environmentKey = makeKey('environment');
  readonly #outsider = makeKey('outsider');
  readonly #broker: SoakBroker;
  readonly #random: Random;
  readonly #known = new Map<string, Person>();
  #serial = 0;
  /** Whether the server has had the broker's keys once: only before may it say that it cannot know. */
  #hasKeys = false;
  /** Numbers that are queried are used once each. */
  #number = 0;

  constructor(broker: SoakBroker, random: Random) {
    this.#broker = broker;
    this.#random = random;
  }

  /** The next request, of a kind drawn by chance: of thirty, six known, six queries, … */
  draw(): Shot {
    const drawn = this.#random.integer(30);
    if (drawn < 6) return this.#knownOne();
    if (drawn < 12) return this.query();
    if (drawn < 15) return this.#published();
    if (drawn < 18) return this.#fresh();
    if (drawn < 19) return this.#late();
    if (drawn < 22) return this.#rotating();
    if (drawn < 24) return this.#unknown();
    if (drawn < 27) return this.#junk();
    return this.#anonymous();
  }

  /** One in five queries, which is nobody's to make. */
  #anonymous(): Shot {
    const isQuery = this.#random.integer(5) === 0;
    return {
      kind: 'anonymous',
      path: isQuery ? '/query?n=0' : '/me',
      identity: [],
      fault: ({ status, body }) => {
        if (isQuery)
          return status === 401 && body.code === 'USER_SESSION_REQUIRED' ? undefined : 'was answered';
        return status === 200 && body.kind === 'anonymous' && body.subject === undefined
          ? undefined
          : 'was not anonymous';
      },
    };
  }

  #knownOne(): Shot {
    const person = this.#kept(this.environmentKey);
    return { kind: 'known', ...me(person), fault: (answer) => faultOfPerson(answer, person) };
  }

  /** Signed by a key that the broker publishes all the time: it must be known also while the broker is away, or talks nonsense. */
  #published(): Shot {
    const person = this.#kept(this.#broker.stable);
    return {
      kind: 'published',
      ...me(person),
      fault: (answer) => {
        if (!this.#hasKeys && isNotReady(answer)) return undefined;
        const fault = faultOfPerson(answer, person);
        if (fault === undefined) this.#hasKeys = true;
        return fault;
      },
    };
  }

  /** Signed now: two minutes early when the server's clock is behind. */
  #fresh(): Shot {
    const person = this.#signed(this.environmentKey, 0);
    return {
      kind: 'fresh',
      ...me(person),
      fault: (answer, weather) => faultByClock(answer, person, weather, (offsetMs) => offsetMs >= 0),
    };
  }

  /** Expired half a minute ago, within the tolerance: two and a half minutes when the server's clock is ahead. */
  #late(): Shot {
    const person = this.#signed(this.environmentKey, 330);
    return {
      kind: 'late',
      ...me(person),
      fault: (answer, weather) => faultByClock(answer, person, weather, (offsetMs) => offsetMs <= 0),
    };
  }

  #rotating(): Shot {
    const published = this.#broker.rotating;
    const { key, publishedAtMs } = published[this.#random.integer(published.length)] ?? {
      key: this.#broker.stable,
      publishedAtMs: 0,
    };
    const sentAtMs = Date.now();
    const person = this.#signed(key, SIGNED_AGO_S);
    return {
      kind: 'rotating',
      ...me(person),
      fault: (answer, weather) => {
        if (!this.#hasKeys && isNotReady(answer)) return undefined;
        if (!isRefused(answer)) return faultOfPerson(answer, person);
        const now = Date.now();
        const mustBeKnown =
          weather !== undefined &&
          now - weather.goodSinceMs > 2 * FOUND_WITHIN_MS &&
          sentAtMs - publishedAtMs > FOUND_WITHIN_MS &&
          now - publishedAtMs < WITHDRAWN_AFTER_MS;
        return mustBeKnown ? `a key published ${now - publishedAtMs} ms ago was not found` : undefined;
      },
    };
  }

  #unknown(): Shot {
    const person = this.#signed({ ...this.#outsider, kid: randomBytes(6).toString('hex') }, SIGNED_AGO_S);
    return {
      kind: 'unknown',
      ...me(person),
      fault: (answer) =>
        (!this.#hasKeys && isNotReady(answer)) || isRefused(answer) ? undefined : 'was not refused',
    };
  }

  query(): Shot & { readonly number: number } {
    const person = this.#kept(this.environmentKey);
    const number = this.#number++;
    return {
      kind: 'query',
      number,
      path: `/query?n=${number}`,
      identity: [person.token],
      fault: (answer, weather) => {
        const { status, body } = answer;
        const isUp = weather !== undefined && Date.now() - weather.brokerSinceMs > NOTICED_WITHIN_MS;
        if (!isUp && status === 503 && body.code === 'QUERYMESH_UNAVAILABLE') return undefined;
        if (!isUp && status === 502 && body.code === 'QUERYMESH_PROTOCOL_ERROR') return undefined;
        const refusal = refusalOf(number);
        if (refusal !== undefined)
          return status === refusal.status && body.code === refusal.code
            ? undefined
            : `was not ${refusal.code}`;
        const fault = faultOfPerson(answer, person);
        if (fault !== undefined) return fault;
        const { rows = [] } = body;
        if (rows.length !== rowsOf(number)) return `has ${rows.length} rows of ${rowsOf(number)}`;
        const isOwn = rows.every(([subject, asked]) => subject === person.subject && asked === number);
        return isOwn ? undefined : "holds somebody else's rows";
      },
    };
  }

  #junk(): Shot {
    const { token } = this.#kept(this.environmentKey);
    const identity = junkOf(token, this.#kept(this.environmentKey).token, this.environmentKey, this.#random);
    return {
      kind: 'junk',
      path: '/me',
      identity,
      fault: (answer) => (isRefused(answer) ? undefined : 'was not refused'),
    };
  }

  /** One of the people who come again, with an identity of at most half a minute. */
  #kept(key: SigningKey): Person {
    const name = `${key.kid}-${this.#random.integer(KNOWN)}`;
    const former = this.#known.get(name);
    if (former !== undefined && Date.now() - former.signedAtMs < RENEWED_MS) return former;
    const person = this.#signed(key, SIGNED_AGO_S, name);
    this.#known.set(name, person);
    return person;
  }

  #signed(key: SigningKey, agoSeconds: number, subject = `person-${this.#serial++}`): Person {
    const signedAtMs = Date.now();
    const tokenId = `token-${this.#serial++}`;
    const payload = claims({ sub: subject, jti: tokenId, name: subject }, signedAtMs - agoSeconds * 1000);
    const token = signParts(key, JSON.stringify(headerOf(key)), JSON.stringify(payload));
    return { subject, tokenId, token, signedAtMs };
  }
}

const me = ({ token }: Person): Pick<Shot, 'path' | 'identity'> => ({ path: '/me', identity: [token] });
