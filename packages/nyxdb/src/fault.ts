/**
 * Why bytes are not what the contract allows. `short-frame` … `over-cap` are about the outer frame, `text-message` and
 * `not-arraybuffer` about the message that carried it, `unmatched` … `contradictory` about the request it answers,
 * the rest about the payload.
 */
export type FrameFault =
  | 'short-frame'
  | 'truncated'
  | 'trailing-bytes'
  | 'over-cap'
  | 'text-message'
  | 'not-arraybuffer'
  | 'unmatched'
  | 'unknown-status'
  | 'status-not-for-op'
  | 'contradictory'
  | 'utf8'
  | 'tsv-no-header'
  | 'tsv-columns'
  | 'tsv-final-lf'
  | 'cancel-ack'
  | 'delta-grammar'
  | 'delta-index'
  | 'delta-width'
  | 'delta-before-snapshot'
  | 'queue-overflow';

/** Thrown by the codec. Carries the reason alone: never a byte of what was read, which may hold data or a token. */
export class FrameError extends Error {
  /** Which rule was broken. */
  declare readonly reason: FrameFault;

  constructor(reason: FrameFault) {
    super(`NYXDB frame: ${reason}`);
    this.reason = reason;
  }
}

// On the prototype: an own `name` would be printed beside the stack by `inspect`.
FrameError.prototype.name = 'FrameError';
