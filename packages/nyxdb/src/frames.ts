export { encodeRequest, encodeResponse } from './codec.js';
export {
  checkFrame,
  decodeRequest,
  decodeResponse,
  decodeText,
  type RequestFrame,
  type ResponseFrame,
} from './decode.js';
export { type Bytes, encodeText } from './encode.js';
export { FrameError, type FrameFault } from './fault.js';
export { createRequestIds } from './ids.js';
export { authText, callText } from './payload.js';
export { parseTsv, type Table, type TsvLimits, type TsvRules } from './tsv.js';
export {
  EDGE_PROTOCOL,
  HEADER_BYTES,
  OP_AUTH,
  OP_CANCEL_REQUEST,
  OP_CAPABILITY,
  OP_ENDPOINT_EXEC,
  OP_ENDPOINT_SUB,
  REQUEST_ID_BYTES,
  STATUS_ERROR,
  STATUS_OK,
} from './wire.js';
