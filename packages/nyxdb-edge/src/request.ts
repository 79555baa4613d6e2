import {
  HEADER_BYTES,
  OP_AUTH,
  OP_CANCEL_REQUEST,
  OP_CAPABILITY,
  OP_ENDPOINT_EXEC,
  OP_ENDPOINT_SUB,
  REQUEST_ID_BYTES,
} from '@nn-runtime/nyxdb/frames';
import type { EndReason } from './ends.js';
import type { Settings } from './options.js';
import { frameFault, hasZeroId } from './wire.js';

/** What a client may ask. Anything else of the engine's catalog, an operator's above all, stops here. */
export function allowedOperations({ allowCapability, authenticate }: Settings): ReadonlySet<number> {
  const operations = new Set([OP_CANCEL_REQUEST, OP_ENDPOINT_EXEC, OP_ENDPOINT_SUB]);
  if (authenticate === undefined) operations.add(OP_AUTH);
  if (allowCapability) operations.add(OP_CAPABILITY);
  return operations;
}

/**
 * Judges one message of a client, before anything of it reaches the engine: one whole request of the contract ("Outer frame"), whose
 * operation is passed on.
 *
 * @returns its operation, or why the relay ends.
 */
export function judgeRequest(
  message: Buffer,
  operations: ReadonlySet<number>,
  maxRequestBytes: number,
): number | EndReason {
  const fault = frameFault(message, maxRequestBytes);
  if (fault !== undefined) return fault;
  const operation = message[0] ?? 0;
  if (!operations.has(operation)) return 'operation';
  if (hasZeroId(message, 1)) return 'malformed';
  if (operation === OP_CANCEL_REQUEST && message.length !== HEADER_BYTES + REQUEST_ID_BYTES)
    return 'malformed';
  return operation === OP_AUTH && !isOneUser(message.subarray(HEADER_BYTES)) ? 'operation' : operation;
}

/** One NUL is an application user's; an operator's shape has three and must not come from out here (contract, "Authenticate an application user"). */
function isOneUser(payload: Buffer): boolean {
  const first = payload.indexOf(0);
  return first >= 0 && payload.indexOf(0, first + 1) < 0;
}
