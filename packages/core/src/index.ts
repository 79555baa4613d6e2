export type { Column } from './answer.js';
export { endWithResponse, type ResponseEnd } from './disconnect.js';
export {
  type AnyRuntimeError,
  ConfigurationError,
  type ConfigurationFault,
  IdentityRejectedError,
  IdentityUnavailableError,
  QueryMeshError,
  QueryMeshRowError,
  type RefusalReason,
  RuntimeError,
  type RuntimeErrorCode,
  SignInRequiredError,
} from './errors.js';
export type { RuntimeEvents } from './events.js';
export { rowToObject } from './fields.js';
export { type GuardedRequest, guardPerson } from './guard.js';
export { type HeaderSource, identityHeaderLines } from './header.js';
export { bodyHeaders, type HttpAnswer, httpAnswerOf } from './http-answer.js';
export { type Anonymous, anonymous, assertPerson, type Identity, isPerson, type Person } from './identity.js';
export { type InstantLike, toInstant } from './instant.js';
export { redactPaths } from './log-redaction.js';
export type { Refusal, RuntimeOptions } from './options.js';
export type { QueryMesh, QueryOptions, RetryOptions } from './query.js';
export type { BrokerRefusalCode, QueryMeshErrorCode } from './querymesh-codes.js';
export type { ObjectsOptions, QueryResult, RowObject } from './result.js';
export type { RowOf } from './rows.js';
export {
  type Caller,
  createRuntime,
  isSameApplication,
  type Runtime,
  type RuntimeStatus,
  runtimeOf,
} from './runtime.js';
export { Sql, type SqlTag, type SqlValue, sql } from './sql.js';
export type { StandardSchemaV1 } from './standard-schema.js';
export type { BigintForm, JsonValue, Value } from './value.js';
