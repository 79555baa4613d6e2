import { must } from './require.js';

// With the u flag a surrogate matches only when it stands alone.
const LONE_SURROGATE = /[\ud800-\udfff]/u;

function field(value: unknown, what: string, mayBeEmpty?: boolean): string {
  must(typeof value === 'string', `${what} must be a string`);
  must(value || mayBeEmpty, `${what} must not be empty`);
  must(!value.includes('\0') && !LONE_SURROGATE.test(value), `${what} must have no NUL or lone surrogate`);
  return value;
}

/**
 * The text of OP_AUTH for an application user: `provider NUL token` (contract, "Authenticate an application user").
 * The operator's shape has more NULs and cannot be built here.
 *
 * @param provider - the provider's name; null is the empty name, which selects the engine's only provider.
 * @throws TypeError for an empty name or token, a NUL, or a lone surrogate.
 */
export function authText(provider: string | null, token: string): string {
  const name = provider === null ? '' : field(provider, 'provider');
  return `${name}\0${field(token, 'token')}`;
}

/**
 * The text of OP_ENDPOINT_EXEC and OP_ENDPOINT_SUB: `name ( NUL parameter )*` (contract, "Execute a published query").
 * No parameters and one empty parameter differ by that one NUL. SQL NULL cannot be expressed: only strings are taken.
 *
 * @throws TypeError for an empty name, a parameter that is not a string, a NUL, or a lone surrogate.
 */
export function callText(endpoint: string, parameters: readonly string[]): string {
  let text = field(endpoint, 'endpoint');
  must(Array.isArray(parameters), 'parameters must be an array');
  // By index: `forEach` and `map` skip the holes of a sparse array, which would shift every later parameter.
  for (let index = 0; index < parameters.length; index++)
    text += `\0${field(parameters[index], `parameters[${index}]`, true)}`;
  return text;
}
