export {
  type Anonymous,
  assertPerson,
  type Identity,
  isPerson,
  type Person,
  type QueryMesh,
  type QueryResult,
} from '@nn-runtime/core';
export { type ErrorMiddleware, errorHandler } from './error-handler.js';
export { requirePerson } from './guard.js';
export { type Middleware, type NNumbersMiddleware, type NNumbersOptions, nnumbers } from './middleware.js';

import './types.js';
