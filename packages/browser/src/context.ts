import { ProtocolError } from './errors.js';
import { type CallOptions, read } from './request.js';
import { type Context, isContext } from './shape.js';
import { CONTEXT_PATH } from './wire.js';

/**
 * Which application and organization this address belongs to, signed in or not (`GET /.nnumbers/v1/context`).
 *
 * @throws NetworkError when no answer came, ProtocolError when it is not the protocol's, ForbiddenError on 403.
 */
export const getContext = async (options?: CallOptions): Promise<Context> => {
  const [unverified, response] = await read(CONTEXT_PATH, options);
  if (!isContext(unverified)) throw new ProtocolError(response);
  return unverified;
};
