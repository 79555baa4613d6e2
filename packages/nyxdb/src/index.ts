export {
  createEndpointClient,
  type EndpointClient,
  type EndpointClientInfo,
  type ExecuteOptions,
} from './client.js';
export type { Clock, RandomSource } from './clock.js';
export { developmentProfile } from './development.js';
export {
  type DeadlinePhase,
  EndpointError,
  type EndpointErrorCode,
  EndpointRowError,
  type Outcome,
  type ProfileName,
} from './errors.js';
export type { ClientEvent } from './events.js';
export { FrameError, type FrameFault } from './fault.js';
export type {
  Authenticate,
  Authentication,
  Backoff,
  Credentials,
  Deadlines,
  EndpointClientOptions,
  Limits,
} from './options.js';
export {
  type CapabilityCodec,
  type Delta,
  documentedProfile,
  type EngineProfile,
  type ProfileError,
  type SubscriptionProfile,
} from './profile.js';
export type { EndpointResult } from './result.js';
export type { SchemaOutput, StandardSchemaIssue, StandardSchemaResult, StandardSchemaV1 } from './schema.js';
export type { Subscription, SubscriptionState } from './subscription.js';
export type { Table, TsvLimits, TsvRules } from './tsv.js';
export type { WebSocketFactory, WebSocketLike, WebSocketLikeEvent } from './websocket.js';
