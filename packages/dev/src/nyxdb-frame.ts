/**
 * The outer frame (contract, "Outer frame"), written a second time: this package shares no code with the client it is
 * there to test.
 *
 *     Request  := op:u8 request_id:16 payload_len:u32be payload[payload_len]
 *     Response := request_id:16 status:u8 payload_len:u32be payload[payload_len]
 */

const operations = {
  9: 'auth',
  10: 'cancel',
  11: 'exec',
  12: 'sub',
  15: 'capability',
} as const;
export type Operation = (typeof operations)[keyof typeof operations];

/** Statuses of ordinary responses, published; and of streams, which are ours (design N10). */
export const status = { ok: 0x00, error: 0x01, snapshot: 0xd0, delta: 0xd1, end: 0xdf } as const;
export type Status = (typeof status)[keyof typeof status];

const headerBytes = 21;

export interface Request {
  /** Undefined for an operation byte that the contract does not name for these clients. */
  readonly operation: Operation | undefined;
  readonly id: Buffer;
  readonly payload: Buffer;
}

/** Reads one message; undefined when it is not exactly one frame with an id that is not zero. */
export function readRequest(message: Buffer): Request | undefined {
  if (message.length < headerBytes || message.readUInt32BE(17) !== message.length - headerBytes)
    return undefined;
  const id = message.subarray(1, 17);
  // The zero id belongs to revocation frames.
  if (id.every((byte) => byte === 0)) return undefined;
  const op: number = message.readUInt8(0);
  return {
    operation: op in operations ? operations[op as keyof typeof operations] : undefined,
    id,
    payload: message.subarray(headerBytes),
  };
}

export function writeResponse(id: Uint8Array, status: Status, body: string): Buffer {
  const payload = Buffer.from(body, 'utf8');
  const frame = Buffer.alloc(headerBytes + payload.length);
  frame.set(id, 0);
  frame.writeUInt8(status, 16);
  frame.writeUInt32BE(payload.length, 17);
  frame.set(payload, headerBytes);
  return frame;
}

/** The unsolicited frame of contract section "Revocation frames": zero id, status 0x01. */
export const revocationFrame = (): Buffer => writeResponse(new Uint8Array(16), status.error, 'auth revoked');

/** The text fields of a payload, which are parted by NUL bytes; undefined when it is not UTF-8. */
export function readFields(payload: Uint8Array): string[] | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload).split('\0');
  } catch {
    return undefined;
  }
}
