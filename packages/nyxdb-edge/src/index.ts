export type { UpgradeServer } from './attach.js';
export type { Clock, RandomSource } from './clock.js';
export { createNyxdbEdge, type NyxdbEdge, type NyxdbEdgeStatus } from './edge.js';
export type { EndReason } from './ends.js';
export type { EdgeEvent, RefusalCause } from './events.js';
export type { Authenticate, Credentials, Deadlines, Limits, NyxdbEdgeOptions } from './options.js';
