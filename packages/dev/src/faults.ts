import { z } from 'zod';
import { type DevPerson, findPerson } from './people.js';
import type { Faults, PlatformState } from './state.js';

/** Makes the platform misbehave, for tests of how an application bears it (design P7). */
export interface PlatformFaults {
  /**
   * Changes the faults named and leaves the others as they are.
   *
   * @throws TypeError for an unknown name or value, RangeError when nobody is known by a name in `deny`; nothing is
   * changed then
   */
  set(faults: Partial<Faults>): void;
  /** Signs with a new key from now on; the former keys stay published. Gives the new `kid`. */
  rotateKey(): Promise<string>;
  /**
   * Takes a key out of the published set: the oldest one, or the one of this `kid`. A platform always has a key, so
   * withdrawing the one that signs makes a new one. Gives the `kid` that went.
   *
   * @throws RangeError when no published key has this `kid`
   */
  withdrawKey(kid?: string | undefined): Promise<string>;
  /**
   * Ends every session of this person (an email, user name or subject), at every application; single sign-on
   * continues. Gives how many sessions there were.
   *
   * @throws RangeError when nobody is known by this name
   */
  endSession(email: string): number;
}

const condition = z.enum(['up', 'down', 'slow', 'garbage']);
const faultsSchema = z.strictObject({
  broker: condition.optional(),
  jwks: condition.optional(),
  brokerKeys: z.boolean().optional(),
  queryMesh: z.enum(['up', 'down', 'slow', 'garbage', 'rejects']).optional(),
  integration: z.boolean().optional(),
  capability: z.boolean().optional(),
  deny: z.array(z.string().min(1)).optional(),
  clockOffsetSeconds: z.number().optional(),
});

export function createFaults(state: PlatformState): PlatformFaults {
  function knownPerson(name: string): DevPerson {
    const person = findPerson(state.people, name);
    if (person === undefined) throw new RangeError('nobody is known by this name');
    return person;
  }

  return {
    set(unverifiedFaults) {
      const read = faultsSchema.safeParse(unverifiedFaults);
      if (!read.success) throw new TypeError(`faults: ${z.prettifyError(read.error)}`);
      for (const name of read.data.deny ?? []) knownPerson(name);
      const given = Object.entries(read.data).filter(([, value]) => value !== undefined);
      Object.assign(state.faults, Object.fromEntries(given));
    },
    rotateKey: () => state.keys.rotate(),
    withdrawKey: (kid) => state.keys.withdraw(kid),
    endSession(email) {
      const person = knownPerson(email);
      return state.sessions.endWhere((session) => session.person.sub === person.sub);
    },
  };
}
