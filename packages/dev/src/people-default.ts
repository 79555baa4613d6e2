import type { DevPerson } from './people.js';

// Apart from people.ts, whose schema library the test kit does without.

/** A person whose account has everything. */
export const ana: DevPerson = {
  sub: '5b1c7a0e-ana',
  name: 'Ana Souza',
  email: 'ana@example.org',
  email_verified: true,
  preferred_username: 'ana',
};

/** A person whose email address nobody verified. */
export const bruno: DevPerson = {
  sub: '9d40f2b8-bruno',
  name: 'Bruno Lima',
  email: 'bruno@example.org',
  email_verified: false,
  preferred_username: 'bruno',
};

/** A person without name, email and user name: accounts need not have them. */
export const nameless: DevPerson = { sub: 'e27c91d3-nameless' };
