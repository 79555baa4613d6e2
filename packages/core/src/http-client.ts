/** The part of `fetch` that is used here, so that the pool of this package and a caller's own `fetch` are one path. */

/** What is asked. */
export interface HttpQuestion {
  readonly method?: 'POST' | undefined;
  readonly headers: Record<string, string>;
  readonly body?: string | undefined;
  /** A redirect is a failure: an identity goes to the configured address and nowhere it points to. */
  readonly redirect: 'error';
  readonly signal: AbortSignal;
}

/** What is answered; the body is still to be read. */
export interface HttpReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Decoded from its Content-Encoding. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Asks once. Rejects when no answer can be had; a fault of the network has its `code`. */
export type HttpClient = (url: string, question: HttpQuestion) => Promise<HttpReply>;
