export {
  type Anonymous,
  assertPerson,
  type Identity,
  isPerson,
  type Person,
  type QueryMesh,
  type QueryResult,
} from '@nn-runtime/core';
export { requirePerson } from './guard.js';
export { default, type NNumbersOptions, nnumbers } from './plugin.js';

import './types.js';
