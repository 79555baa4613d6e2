import type { Limits } from './options.js';

/** A judged request on its way to the engine. */
export interface PassingRequest {
  readonly operation: number;
  readonly message: Buffer;
}

/** What a client sent before the engine was ready: little, in its order. */
export class HeldRequests {
  readonly #limits: Limits;
  #requests: PassingRequest[] = [];
  #bytes = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @returns false when it is too much. */
  add(request: PassingRequest): boolean {
    this.#bytes += request.message.length;
    this.#requests.push(request);
    return this.#requests.length <= this.#limits.maxHeldFrames && this.#bytes <= this.#limits.maxHeldBytes;
  }

  /** Gives and forgets them. */
  take(): readonly PassingRequest[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }
}
