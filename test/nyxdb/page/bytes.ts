/** What the suite uses of Node's Buffer, for a page. Put in by the bundler wherever `Buffer` is named. */
class Bytes extends Uint8Array {
  readUInt8(at: number): number {
    return new DataView(this.buffer, this.byteOffset).getUint8(at);
  }
  writeUInt8(value: number, at: number): void {
    new DataView(this.buffer, this.byteOffset).setUint8(at, value);
  }
  writeUInt32BE(value: number, at: number): void {
    new DataView(this.buffer, this.byteOffset).setUint32(at, value);
  }
  override toString(encoding = 'utf8'): string {
    if (encoding === 'hex') return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('');
    if (encoding === 'latin1') return String.fromCharCode(...this);
    return new TextDecoder().decode(this);
  }
}

export const Buffer = {
  alloc: (size: number, fill = 0): Bytes => new Bytes(size).fill(fill),
  from(value: string | Uint8Array, encoding = 'utf8'): Bytes {
    if (typeof value !== 'string') return new Bytes(value);
    if (encoding !== 'hex') return new Bytes(new TextEncoder().encode(value));
    return new Bytes((value.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)));
  },
  concat(parts: readonly Uint8Array[]): Bytes {
    const whole = new Bytes(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  },
};

const turns = new MessageChannel();
const waiting: (() => void)[] = [];
Object.assign(turns.port1, { onmessage: () => waiting.shift()?.() });

/** A turn of the event loop, which no page throttles. */
export function setImmediate(run: () => void): void {
  waiting.push(run);
  turns.port2.postMessage(undefined);
}
