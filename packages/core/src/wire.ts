/** Names and numbers that cross the wire. Source of each: the runtime protocol, unless it says "ours". */

/** The request header that carries the signed identity, in the lower case Node hands headers out in. */
export const IDENTITY_HEADER = 'x-nnumbers-identity';

/** JOSE `alg` of an identity. */
export const IDENTITY_ALGORITHM = 'ES256';

/** JOSE `typ` of an identity, compared as it stands. */
export const IDENTITY_TYPE = 'nn-identity+jwt';

/** Longest identity header that is looked at, in characters. Ours (design I2): Node's own limit for all headers is 16 KiB. */
export const MAX_IDENTITY_CHARACTERS = 8_192;

/** Longest JOSE `kid`, in characters. Ours (design I3). */
export const MAX_KEY_ID_CHARACTERS = 128;

/** Longest lifetime of an identity that is believed, in seconds. Ours (design I4): the platform hands out five minutes. */
export const MAX_LIFETIME_SECONDS = 3_600;

/** Largest clock tolerance, in seconds: "with up to 60 s of clock tolerance". */
export const MAX_CLOCK_TOLERANCE_SECONDS = 60;

/** Path of the broker's public keys, below NNUMBERS_BROKER_URL. */
export const KEY_SET_PATH = '/v1/jwks';

/** Largest key set answer that is read, in bytes. Ours (design I6). */
export const MAX_KEY_SET_BYTES = 256 * 1024;

/** Path of the query operation, below NNUMBERS_BROKER_URL. */
export const QUERY_PATH = '/v1/querymesh/query';

/** Largest `max_rows`. */
export const MAX_ROWS = 100_000;

/** Path that starts a sign-in, on the application's own address. */
export const LOGIN_PATH = '/.nnumbers/auth/login';

/** Longest `return_to`, in characters. Ours (design I14). */
export const MAX_RETURN_TO_CHARACTERS = 2_048;
