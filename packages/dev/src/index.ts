export { type CommandOptions, type RunningCommand, runCommand } from './command.js';
export type { PlatformFaults } from './faults.js';
export type { Exchange } from './journal.js';
export { type PlatformPart, PortInUseError } from './listen.js';
export type {
  NyxdbEndpoint,
  NyxdbParameter,
  NyxdbPrivilege,
  NyxdbProvider,
  NyxdbSession,
  NyxdbView,
} from './nyxdb-definition.js';
export type { NyxdbFault, NyxdbFaultAction, NyxdbFaultPoint } from './nyxdb-faults.js';
export type { NyxdbType } from './nyxdb-message.js';
export type { Nyxdb } from './nyxdb-operate.js';
export type { NyxdbLimits, NyxdbOptions } from './nyxdb-options.js';
export type { PlatformOptions } from './options.js';
export { type DevPerson, defaultPeople } from './people.js';
export { type Platform, type PlatformApp, startPlatform } from './platform.js';
export type { Condition, DevOrganization, Faults, QueryMeshCondition } from './state.js';
