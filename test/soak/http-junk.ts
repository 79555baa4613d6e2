import { randomBytes } from 'node:crypto';
import type { Random } from '../random.js';
import { base64url, claims, headerOf, type SigningKey, signParts } from '../tokens.js';

/** Header lines that must never be taken for anybody, made of two good identities and the key that signs them. */
export function junkOf(
  token: string,
  otherToken: string,
  key: SigningKey,
  random: Random,
): readonly string[] {
  const [head = '', payload = '', signature = ''] = token.split('.');
  const [, otherPayload = ''] = otherToken.split('.');
  const signed = (changes: object, headerChanges: Record<string, unknown> = {}) =>
    signParts(
      key,
      JSON.stringify(headerOf(key, headerChanges)),
      JSON.stringify({ ...claims({}, Date.now()), ...changes }),
    );
  const makers: readonly [() => readonly string[], ...(() => readonly string[])[]] = [
    () => [''],
    () => ['x.y.z'],
    () => [randomBytes(300).toString('base64url')],
    () => ['a'.repeat(9_000)],
    () => [token, token],
    () => [`${token}, ${token}`],
    () => [`${head}.${base64url(JSON.stringify(claims({ sub: 'nobody' }, Date.now())))}.${signature}`],
    () => [`${head}.${payload}.${'A'.repeat(86)}`],
    () => [`${head}.${otherPayload === payload ? 'e30' : otherPayload}.${signature}`],
    () => [`${base64url('{"alg":"none"}')}.${payload}.`],
    () => [signed({ aud: 'somebody-else' })],
    () => [signed({ org: 'another' })],
    () => [signed({ sub: 7 })],
    () => [signed({}, { typ: 'JWT' })],
    () => [signed(claims({}, Date.now() - 3_600_000))],
  ];
  return random.of(makers)();
}
