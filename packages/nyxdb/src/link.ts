import type { Channel } from './channel.js';
import type { Bytes } from './encode.js';
import { type DeadlinePhase, EndpointError, type Fault, type Outcome, type ProfileName } from './errors.js';
import { createRequestIds } from './ids.js';
import type { Authenticate, Settings } from './options.js';
import type { Scope } from './scope.js';

// Revoked tokens are remembered so that none opens a socket again; a client that meets more of them has other troubles.
const MAX_REVOKED = 64;

/** What the parts of one client share. */
export class Link {
  readonly settings: Settings;
  readonly nextId: () => Bytes;
  authenticate: Authenticate;
  /** Every socket that is not dead, whatever it is for. */
  readonly channels = new Set<Channel>();
  /** Every call, subscription and control connection that still waits for something. */
  readonly scopes = new Set<Scope>();
  /** Whether `close()` or `drain()` was called: nothing new is taken. */
  closed = false;
  readonly #revoked = new Set<string>();

  readonly profileName: ProfileName;

  constructor(settings: Settings, authenticate: Authenticate) {
    this.settings = settings;
    this.authenticate = authenticate;
    const { provenance, revision } = settings.profile;
    this.profileName = Object.freeze({ revision, provenance });
    this.nextId = createRequestIds((bytes) => settings.random.fill(bytes));
  }

  /** @param outcome - what became of the request, where the fault itself does not say. */
  readonly error = (fault: Fault, outcome: Outcome): EndpointError =>
    new EndpointError(fault, outcome, this.profileName);

  isRevoked(principal: string): boolean {
    return this.#revoked.has(principal);
  }

  /** Ends everything of this principal, and lets its token open nothing again (design N5). */
  revoke(principal: string): void {
    for (const oldest of this.#revoked) {
      if (this.#revoked.size < MAX_REVOKED) break;
      this.#revoked.delete(oldest);
    }
    this.#revoked.add(principal);
    this.settings.emit({ name: 'revoked' });
    for (const channel of this.channels)
      if (channel.principal === principal) channel.end({ code: 'AUTH_REVOKED' }, 4401);
  }

  /** Ends everything that waits and every socket, for one reason. */
  endAll(fault: Fault): void {
    for (const scope of this.scopes) scope.end(fault);
    for (const channel of this.channels) channel.end(fault, 4000);
  }

  /**
   * Settles as `work` does, unless the scope ends or the time passes first: with a phase that is a deadline, without one it is
   * only a pause. Leaves no timer and no listener behind.
   *
   * @throws EndpointError with this outcome.
   */
  within(scope: Scope, ms: number, phase: undefined, outcome: Outcome): Promise<unknown>;
  within<T>(scope: Scope, ms: number, phase: DeadlinePhase, outcome: Outcome, work: Promise<T>): Promise<T>;
  within(
    scope: Scope,
    ms: number,
    phase: DeadlinePhase | undefined,
    outcome: Outcome,
    work?: Promise<unknown>,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle = (done: () => void): void => {
        stop();
        off();
        done();
      };
      const giveUp = (fault: Fault): void => settle(() => reject(this.error(fault, outcome)));
      const stop = this.settings.clock.after(ms, () =>
        phase === undefined ? settle(() => resolve(undefined)) : giveUp({ code: 'DEADLINE_EXCEEDED', phase }),
      );
      const off = scope.onEnd(giveUp);
      work?.then(
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      );
      if (scope.fault !== undefined) giveUp(scope.fault);
    });
  }
}
