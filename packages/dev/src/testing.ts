export type { DevPerson } from './people.js';
export type { RefusalCode } from './refusal.js';
export type { TestAnswer, TestCell } from './testing-answer.js';
export {
  createTestBroker,
  type KeySetState,
  type TestBroker,
  type TestBrokerOptions,
} from './testing-broker.js';
export {
  type ClaimChanges,
  type ClaimName,
  type TestIdentitiesOptions,
  type TestPerson,
  testPeople,
} from './testing-claims.js';
export type { HeldQuery } from './testing-hold.js';
export {
  createTestIdentities,
  type TestEnvironment,
  type TestIdentities,
  type TestRuntimeOptions,
} from './testing-identities.js';
export type { PublicJwk } from './testing-keys.js';
export type { Matching, SqlMatcher, TestQuery } from './testing-query.js';
export type { RefusedIdentities, RefusedIdentity } from './testing-refused.js';
export type { RawAnswer, RefuseOptions } from './testing-reply.js';
export type { TestScript } from './testing-script.js';
