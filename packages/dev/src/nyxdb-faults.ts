import { z } from 'zod';

/** What is sent in place of a frame. */
export type NyxdbFaultAction =
  /** Without its last byte. */
  | { readonly do: 'truncate' }
  /** With a NUL byte behind it. */
  | { readonly do: 'trailing' }
  /** In two messages, cut behind the header. */
  | { readonly do: 'split' }
  /** Twice, as two messages. */
  | { readonly do: 'duplicate' }
  /** Twice in one message. */
  | { readonly do: 'merge' }
  /** After a while, at most an hour; what follows on the connection waits behind it. */
  | { readonly do: 'delay'; readonly ms: number }
  /** Not at all. */
  | { readonly do: 'stall' }
  /** As a text message. */
  | { readonly do: 'text' }
  /** With the id of no request. */
  | { readonly do: 'wrongId' }
  /** With the zero id. */
  | { readonly do: 'zeroId' }
  /** With another status, 0–255. */
  | { readonly do: 'status'; readonly status: number }
  /** With another body. */
  | { readonly do: 'body'; readonly body: string | Uint8Array }
  /** The header alone, declaring 4,294,967,295 bytes. */
  | { readonly do: 'overCap' }
  /** These very bytes instead, as one message. */
  | { readonly do: 'send'; readonly bytes: Uint8Array }
  /** The revocation frame instead, then the end of the connection. */
  | { readonly do: 'revoke' }
  /** A TCP reset instead. */
  | { readonly do: 'reset' }
  /** A WebSocket close frame instead: 1000–1003, 1007–1014 or 3000–4999. */
  | { readonly do: 'close'; readonly code: number };

/** When: what the engine is about to send. `connect` is the answer to the upgrade. */
export type NyxdbFaultPoint = 'connect' | 'auth' | 'cancel' | 'exec' | 'sub' | 'snapshot' | 'delta' | 'end';

/**
 * One step of a fault script. On `connect`, `stall` never answers, `reset` and `close` end the connection (before and
 * after the handshake), and every other action refuses the upgrade with 503.
 */
export type NyxdbFault = {
  readonly on: NyxdbFaultPoint;
  /** The first one is 1, the default; counted from when the script was set, over all connections. */
  readonly nth?: number | undefined;
  /** Also for every later one. Default false. */
  readonly repeat?: boolean | undefined;
} & NyxdbFaultAction;

const when = {
  on: z.enum(['connect', 'auth', 'cancel', 'exec', 'sub', 'snapshot', 'delta', 'end']),
  nth: z.int().min(1).default(1),
  repeat: z.boolean().default(false),
};
const plain = [
  'truncate',
  'trailing',
  'split',
  'duplicate',
  'merge',
  'stall',
  'text',
  'wrongId',
  'zeroId',
  'overCap',
  'revoke',
  'reset',
] as const;
const bytes = z.instanceof(Uint8Array);
// RFC 6455 section 7.4: the others no endpoint may send, and ws throws for them, in the middle of a frame.
const closeCode = z.union(
  [z.int().min(1000).max(1003), z.int().min(1007).max(1014), z.int().min(3000).max(4999)],
  'must be a close code that may be sent',
);
const scriptSchema = z.array(
  z.discriminatedUnion('do', [
    z.strictObject({ ...when, do: z.enum(plain) }),
    z.strictObject({ ...when, do: z.literal('delay'), ms: z.number().min(0).max(3_600_000) }),
    z.strictObject({ ...when, do: z.literal('status'), status: z.int().min(0).max(255) }),
    z.strictObject({ ...when, do: z.literal('body'), body: z.union([z.string(), bytes]) }),
    z.strictObject({ ...when, do: z.literal('send'), bytes }),
    z.strictObject({ ...when, do: z.literal('close'), code: closeCode }),
  ]),
);
type Step = z.infer<typeof scriptSchema>[number];

/** The fault script: plays damage at chosen frames, so that every refusal of a client can be seen. */
export class FaultScript {
  #steps: Step[] = [];
  readonly #seen = new Map<NyxdbFaultPoint, number>();

  /** Replaces the script and counts from the beginning. @throws TypeError */
  set(unverifiedScript: readonly NyxdbFault[]): void {
    const read = scriptSchema.safeParse(unverifiedScript);
    if (!read.success) throw new TypeError(`nyxdb faults: ${z.prettifyError(read.error)}`);
    this.#steps = read.data;
    this.#seen.clear();
  }

  /** What is to be done at this point, if anything. */
  next(on: NyxdbFaultPoint): NyxdbFaultAction | undefined {
    const seen = (this.#seen.get(on) ?? 0) + 1;
    this.#seen.set(on, seen);
    return this.#steps.find(
      (step) => step.on === on && (step.nth === seen || (step.repeat && seen > step.nth)),
    ) as NyxdbFaultAction | undefined;
  }
}
