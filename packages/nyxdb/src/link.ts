import type { Channel } from './channel.js';
import type { Bytes } from './encode.js';
import { type DeadlinePhase, EndpointError, type Fault, type Outcome, type ProfileName } from './errors.js';
import { createRequestIds } from './ids.js';
import { type Authentication, MAX_REVOKED, type Settings } from './options.js';
import type { Scope } from './scope.js';

/** What the parts of one client share. */
export interface Link extends Settings {
  authenticate: Authentication;
  /** Whether `close()` or `drain()` was called: nothing new is taken. */
  closed: boolean;
  /** What authenticates, as it was given last: sockets of another are not used again (contract: close whenever the token changes). */
  principal?: string;
  readonly profileName: ProfileName;
  readonly nextId: () => Bytes;
  /** Every socket that is not closed, whatever it is for. */
  readonly channels: Set<Channel>;
  /** Every call, subscription and control connection that still waits for something. */
  readonly scopes: Set<Scope>;
  /** @param outcome - what became of the request, where the fault itself does not say. */
  error(fault: Fault, outcome: Outcome): EndpointError;
  /** Principals whose token was revoked. */
  readonly revoked: ReadonlySet<string>;
  /** Ends everything of this principal, and lets its token open nothing again (design N5). */
  revoke(principal: string): void;
  /** Ends everything that waits and every socket, for one reason. */
  endAll(fault: Fault): void;
  /**
   * Settles as `work` does, unless the scope ends or the time passes first: with a phase that is a deadline, without one it is
   * only a pause. Leaves no timer and no listener behind.
   *
   * @throws EndpointError with this outcome.
   */
  within<T = void>(
    scope: Scope,
    ms: number,
    phase: DeadlinePhase | undefined,
    outcome: Outcome,
    work?: Promise<T>,
  ): Promise<T>;
}

export function createLink(settings: Settings, authenticate: Authentication): Link {
  const { clock, emit, profile, random } = settings;
  const revoked = new Set<string>();
  const channels = new Set<Channel>();
  const scopes = new Set<Scope>();
  const profileName = Object.freeze({ revision: profile.revision, provenance: profile.provenance });
  const error = (fault: Fault, outcome: Outcome) => new EndpointError(fault, outcome, profileName);
  return {
    ...settings,
    authenticate,
    closed: false,
    profileName,
    nextId: createRequestIds((bytes) => random.fill(bytes)),
    channels,
    scopes,
    error,
    revoked,
    revoke(principal) {
      revoked.add(principal);
      const [oldest = ''] = revoked;
      if (revoked.size > MAX_REVOKED) revoked.delete(oldest);
      emit({ name: 'revoked' });
      for (const channel of channels)
        if (channel.principal === principal) channel.end({ code: 'AUTH_REVOKED' }, 4401);
    },
    endAll(fault) {
      for (const scope of scopes) scope.end(fault);
      for (const channel of channels) channel.end(fault);
    },
    within: (scope, ms, phase, outcome, work) =>
      new Promise((resolve, reject) => {
        const settle = (done: () => void): void => {
          stop();
          off();
          done();
        };
        const giveUp = (fault: Fault): void => settle(() => reject(error(fault, outcome)));
        // A pause gives nothing, and its type says so.
        const stop = clock.after(ms, () =>
          phase ? giveUp({ code: 'DEADLINE_EXCEEDED', phase }) : settle(resolve as () => void),
        );
        const off = scope.onEnd(giveUp);
        work?.then(
          (value) => settle(() => resolve(value)),
          (thrown) => settle(() => reject(thrown)),
        );
        if (scope.fault) giveUp(scope.fault);
      }),
  };
}
