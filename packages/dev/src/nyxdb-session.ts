import type { Connection } from './nyxdb-connection.js';
import { errorText, RequestError } from './nyxdb-error.js';
import { execute } from './nyxdb-execute.js';
import { textOf } from './nyxdb-failure.js';
import type { NyxdbFaultPoint } from './nyxdb-faults.js';
import { type Request, readFields, readRequest, type Status, status, writeResponse } from './nyxdb-frame.js';
import type { EngineParts } from './nyxdb-parts.js';
import type { Principal } from './nyxdb-providers.js';
import { subscribe } from './nyxdb-subscribe.js';

/** Requests that may wait on one connection. */
const maxWaiting = 256;

/** One connection: its principal, and its requests one after the other. */
export class Session {
  readonly #parts: EngineParts;
  readonly #connection: Connection;
  readonly #requests: Request[] = [];
  #serving = false;
  #authAttempted = false;
  #principal: Principal | undefined;
  #forgetRow = () => {};
  /** Ends the live subscription of this connection, when it has one. */
  #unsubscribe: (() => void) | undefined;
  readonly #ended = new AbortController();

  constructor(parts: EngineParts, connection: Connection) {
    this.#parts = parts;
    this.#connection = connection;
  }

  /** Takes one message. What is no frame ends the connection (ours: the contract asks this of clients). */
  receive(message: Buffer, isBinary: boolean): void {
    if (this.#ended.signal.aborted) return;
    const request = isBinary ? readRequest(message) : undefined;
    if (request === undefined) this.#end(isBinary ? 1002 : 1003);
    else if (this.#requests.push(request) > maxWaiting) this.#end(1008);
    else void this.#serveAll();
  }

  /** The connection is gone: what runs for it ends, and everything held for it is given back. */
  end(): void {
    this.#ended.abort();
    this.#requests.length = 0;
    this.#forgetRow();
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #end(code: number): void {
    this.#connection.close(code);
    this.end();
  }

  /** "The server processes ordinary requests sequentially per connection" (contract, "Cancel an executing one-shot"). */
  async #serveAll(): Promise<void> {
    if (this.#serving) return;
    this.#serving = true;
    for (let next = this.#requests.shift(); next !== undefined; next = this.#requests.shift())
      await this.#serve(next);
    this.#serving = false;
  }

  async #serve(request: Request): Promise<void> {
    const { operation = 'exec', id } = request;
    const send = (on: NyxdbFaultPoint, status: Status, body: string) => {
      // After the end nothing more is said: the answer of what it interrupted least of all.
      if (!this.#ended.signal.aborted) this.#connection.send(on, writeResponse(id, status, body));
    };
    const on = operation === 'capability' ? 'auth' : operation;
    try {
      const body = await this.#answer(request, send);
      if (body !== undefined) send(on, status.ok, body);
    } catch (error) {
      send(on, status.error, textOf(error));
    }
  }

  /** The body of a success; undefined when it is answered already. */
  async #answer(
    request: Request,
    send: (on: NyxdbFaultPoint, status: Status, body: string) => void,
  ): Promise<string | undefined> {
    const { operation, payload } = request;
    if (operation === undefined) throw new RequestError(errorText.unknownOperation);
    if (this.#unsubscribe !== undefined) throw new RequestError(errorText.subscribed);
    if (operation === 'capability') throw new RequestError(errorText.capability);
    if (operation === 'auth') return this.#authenticate(payload);
    if (this.#parts.requireAuth && this.#principal === undefined)
      throw new RequestError(errorText.notAuthenticated);
    if (operation === 'exec') return execute(this.#parts, this.#principal, request, this.#ended.signal);
    if (operation === 'cancel') {
      if (payload.length !== 16) throw new RequestError(errorText.invalidParameter);
      return this.#parts.cancellables.cancel(payload);
    }
    const close = () => this.#end(1000);
    this.#unsubscribe = await subscribe(
      this.#parts,
      this.#principal,
      request,
      { send, close },
      this.#ended.signal,
    );
    // It ended while its first snapshot was on the way: `end()` could not give this back.
    if (this.#ended.signal.aborted) this.end();
    return undefined;
  }

  /**
   * OP_AUTH, once: a later one, also after a failure, fails and changes nothing. (The contract: it "is not a logout or
   * principal replacement operation". That no second attempt succeeds is ours.)
   */
  #authenticate(payload: Buffer): string {
    const [provider, token, ...more] = readFields(payload) ?? [];
    const first = !this.#authAttempted;
    this.#authAttempted = true;
    // The operator's shape has more NULs: this engine has no operators.
    const found =
      first && provider !== undefined && token !== undefined && more.length === 0
        ? this.#parts.providers.authenticate(provider, token, () => this.#revoke())
        : undefined;
    if (found === undefined) throw new RequestError(errorText.authFailed);
    this.#principal = found.principal;
    this.#forgetRow = found.forget;
    return 'authenticated\n';
  }

  #revoke(): void {
    this.#connection.revoke();
    this.end();
  }
}
