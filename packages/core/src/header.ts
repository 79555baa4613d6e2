import { IdentityRejectedError } from './errors.js';
import {
  IDENTITY_ALGORITHM,
  IDENTITY_HEADER,
  IDENTITY_TYPE,
  MAX_IDENTITY_CHARACTERS,
  MAX_KEY_ID_CHARACTERS,
} from './wire.js';

/** An identity whose shape and JOSE header are right. Nothing in it has been verified yet. */
export interface UnverifiedToken {
  /** The whole compact JWS. */
  readonly compact: string;
  /** JOSE `kid`. */
  readonly keyId: string;
  /** The bytes the signature covers (RFC 7515 section 5.2). */
  readonly signingInput: Buffer;
  /** The payload as it was sent: unpadded base64url, of a length that encodes whole bytes. */
  readonly unverifiedPayload: string;
  /** r and s, 32 bytes each (RFC 7518 section 3.4). */
  readonly signature: Buffer;
}

/** What an HTTP message must have for its identity header to be read. Node's `IncomingMessage`, HTTP/2's and a `Request` of fetch do. */
export interface HeaderSource {
  readonly headers:
    | Readonly<Record<string, string | string[] | undefined>>
    | { get(name: string): string | null };
  readonly rawHeaders?: readonly string[] | undefined;
}

/**
 * The lines of `X-NNumbers-Identity` in a request, each by itself, for `runtime.authenticate`. Node joins repeated lines in
 * `headers`, which hides that there were several; `rawHeaders` still has them. A trailer of that name is never read.
 */
export function identityHeaderLines(request: HeaderSource): readonly string[] {
  const { rawHeaders, headers } = request;
  const lines: string[] = [];
  if (isFetchHeaders(headers)) {
    // Repeated lines come joined with a comma, by which they are known and refused.
    const value = headers.get(IDENTITY_HEADER);
    return value === null ? lines : [value];
  }
  if (rawHeaders !== undefined && rawHeaders.length > 0) {
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] as string;
      if (isIdentityHeader(name)) lines.push(rawHeaders[index + 1] as string);
      // RFC 9112 section 5.1 refuses white space before the colon; Node 20.19 has it in the name. What was meant to say who this is makes
      // nobody anonymous: an empty line is refused.
      else if (name.endsWith(' ') && isIdentityHeader(name.trimEnd())) lines.push('');
    }
    if (lines.length > 0) return lines;
    const value = headers[IDENTITY_HEADER];
    return value === undefined ? lines : typeof value === 'string' ? [value] : value;
  }
  // Requests that were not parsed by Node (serverless adapters, test doubles) may only fill `headers`, and in any case, in a message whose
  // `rawHeaders` stay empty.
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && isIdentityHeader(name))
      lines.push(...(Array.isArray(value) ? value : [value]));
  }
  return lines;
}

function isFetchHeaders(headers: HeaderSource['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function isIdentityHeader(name: string): boolean {
  return name.length === IDENTITY_HEADER.length && name.toLowerCase() === IDENTITY_HEADER;
}

/**
 * The one value of the header, or undefined when it is absent.
 * @throws IdentityRejectedError `repeated`: two lines, even equal ones, are two answers to who this is.
 */
export function oneHeaderValue(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header === 'string' || header === undefined) return header;
  if (!Array.isArray(header)) throw new IdentityRejectedError('malformed');
  if (header.length > 1) throw new IdentityRejectedError('repeated');
  const value: unknown = header[0];
  if (header.length === 1 && typeof value !== 'string') throw new IdentityRejectedError('malformed');
  return header[0];
}

// Unpadded base64url. 64 bytes of signature leave 4 spare bits in the 86th character: only A, Q, g and w have them zero,
// so each signature has one spelling (design I2).
const COMPACT_JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{85}[AQgw]$/;
const SIGNATURE_CHARACTERS = 86;
// A JSON object starts with a brace or white space: the first six bits of these are e, C, D and I in base64url.
const STARTS_AS_JSON = /^[eCDI]/;
const BLANK = /^[\s]*$/;
const KEY_ID = new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_ID_CHARACTERS}}$`);

/**
 * Reads the shape of a compact JWS, then its JOSE header. Shape comes first, so that nothing oversized or odd is ever decoded.
 * @throws IdentityRejectedError `empty`, `too-long`, `repeated`, `malformed`, `algorithm`, `type`, `critical` or `key-id`.
 */
export function readToken(value: string): UnverifiedToken {
  if (value.length > MAX_IDENTITY_CHARACTERS) throw new IdentityRejectedError('too-long');
  if (BLANK.test(value)) throw new IdentityRejectedError('empty');
  // A comma is in no JWS: this is several header lines that something on the way joined.
  if (value.includes(',')) throw new IdentityRejectedError('repeated');
  const signatureStart = value.length - SIGNATURE_CHARACTERS;
  // Noise is turned away before anything runs over the whole of it: a stranger decides how much there is.
  if (value[signatureStart - 1] !== '.' || !STARTS_AS_JSON.test(value)) {
    throw new IdentityRejectedError('malformed');
  }
  if (!COMPACT_JWS.test(value)) throw new IdentityRejectedError('malformed');
  const payloadStart = value.indexOf('.') + 1;
  const header = value.slice(0, payloadStart - 1);
  const payload = value.slice(payloadStart, signatureStart - 1);
  if (!isWholeBytes(payload)) throw new IdentityRejectedError('malformed');
  return {
    compact: value,
    keyId: keyIdOf(header),
    signingInput: Buffer.from(value.slice(0, signatureStart - 1), 'latin1'),
    unverifiedPayload: payload,
    signature: Buffer.from(value.slice(signatureStart), 'base64url'),
  };
}

// One character more than a multiple of four encodes no whole byte.
function isWholeBytes(part: string): boolean {
  return part.length % 4 !== 1;
}

// As long as one key signs, all identities have one header, letter by letter: it is read once. Only what checked out is kept.
let lastHeader = { text: '', keyId: '' };

function keyIdOf(header: string): string {
  if (header !== lastHeader.text) lastHeader = { text: header, keyId: readKeyId(header) };
  return lastHeader.keyId;
}

function readKeyId(part: string): string {
  const header = isWholeBytes(part) ? parseJsonObject(Buffer.from(part, 'base64url')) : undefined;
  if (header === undefined) throw new IdentityRejectedError('malformed');
  if (header.alg !== IDENTITY_ALGORITHM) throw new IdentityRejectedError('algorithm');
  if (header.typ !== IDENTITY_TYPE) throw new IdentityRejectedError('type');
  // RFC 7515 section 4.1.11: an extension that is not understood is refused, and none is defined here.
  if (Object.hasOwn(header, 'crit')) throw new IdentityRejectedError('critical');
  const keyId = header.kid;
  if (typeof keyId !== 'string' || !KEY_ID.test(keyId)) throw new IdentityRejectedError('key-id');
  return keyId;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A JSON object from strict UTF-8 without BOM, or undefined. Of a member written twice the last counts (design I4). */
export function parseJsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(strictUtf8.decode(bytes));
  } catch {
    return undefined;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
