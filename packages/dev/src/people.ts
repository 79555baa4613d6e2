import { z } from 'zod';
import { ana, bruno, nameless } from './people-default.js';

/** A pretend person of the local organization (design P6). Only `sub` is required: real accounts lack the rest too. */
export interface DevPerson {
  /** The person's subject in the organization's IAM: unique, and the only member every account has. */
  readonly sub: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly email_verified?: boolean | undefined;
  readonly preferred_username?: string | undefined;
}

/** Who can sign in when nothing else is said: the last one has neither name, email nor user name, as real accounts may. */
export const defaultPeople: readonly DevPerson[] = [ana, bruno, nameless];

const peopleSchema = z
  .array(
    z.strictObject({
      sub: z.string().min(1),
      name: z.string().min(1).optional(),
      email: z.string().min(1).optional(),
      email_verified: z.boolean().optional(),
      preferred_username: z.string().min(1).optional(),
    }),
  )
  .min(1, 'at least one person is needed');

/**
 * Checks a list of people, as `--people FILE` and `startPlatform({ people })` take it.
 *
 * @throws TypeError that names every entry at fault, or a `sub` used twice
 */
export function readPeople(unverifiedPeople: unknown): readonly DevPerson[] {
  const read = peopleSchema.safeParse(unverifiedPeople);
  if (!read.success) throw new TypeError(`people: ${z.prettifyError(read.error)}`);
  const subjects = new Set(read.data.map((person) => person.sub));
  if (subjects.size !== read.data.length) throw new TypeError('people: two of them have the same sub');
  return read.data;
}

/** The person a `login_hint` names: by email (in any case), user name or subject. */
export function findPerson(people: readonly DevPerson[], hint: string): DevPerson | undefined {
  const email = hint.toLowerCase();
  return (
    people.find((person) => person.email?.toLowerCase() === email) ??
    people.find((person) => person.preferred_username === hint || person.sub === hint)
  );
}
