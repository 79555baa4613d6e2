import { z } from 'zod';
import type { NyxdbType } from './nyxdb-message.js';
import { isText, nyxdbTypes } from './nyxdb-parameter.js';

/** A parameter of an endpoint or view: `$name` in its SQL. Values come in the order of declaration. */
export interface NyxdbParameter {
  readonly name: string;
  readonly type: NyxdbType;
}

/** Where tokens are looked up. */
export interface NyxdbProvider {
  /** What clients name in OP_AUTH. */
  readonly name: string;
  /**
   * The claims that each row has, with their types. `user_id` is required, as VARCHAR: without a stable one that is no
   * secret, "the bearer token becomes the fallback identity" (contract, security checklist). `role`, when there is
   * one, is the role that view grants are given to (ours).
   */
  readonly claims: Readonly<Record<string, NyxdbType>>;
}

/** One signed-in user of the engine: a row of a provider. */
export interface NyxdbSession {
  /** Default `app_sessions`. */
  readonly provider?: string | undefined;
  /** Opaque; nothing prints it. */
  readonly token: string;
  /** One value for each claim of the provider, as text. */
  readonly claims: Readonly<Record<string, string>>;
}

/** A published query. */
export interface NyxdbEndpoint {
  readonly name: string;
  /** The provider whose claims schema the definition is checked against; sessions of others may call it too. */
  readonly using: string;
  readonly parameters?: readonly NyxdbParameter[] | undefined;
  /** Claims that the engine appends from the authenticated row: `$user_id` in the SQL. */
  readonly claims?: readonly string[] | undefined;
  /** True for `AS STREAM SELECT`: it is subscribed to, and not executed. Default false. */
  readonly stream?: boolean | undefined;
  /** One SELECT. It must hold every tenant and visibility boundary itself. */
  readonly sql: string;
}

/** What a role may do with a view. */
export type NyxdbPrivilege = 'read' | 'subscribe';

/** A parameterized logical view. */
export interface NyxdbView {
  readonly name: string;
  /** The relation's UUID: names the view also where an endpoint has the same name. */
  readonly id: string;
  readonly parameters?: readonly NyxdbParameter[] | undefined;
  readonly sql: string;
  /** Privileges by role. Default: nobody has any. */
  readonly grants?: Readonly<Record<string, readonly NyxdbPrivilege[]>> | undefined;
}

/** With the u flag a surrogate matches only when it stands alone. */
const loneSurrogate = /[\ud800-\udfff]/u;
const type = z.enum(nyxdbTypes);
const identifier = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be a plain SQL name');
export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const name = z
  .string()
  .min(1)
  .max(256)
  .refine(
    (text) => !text.includes('\0') && !loneSurrogate.test(text),
    'must have no NUL and no lone surrogate',
  )
  .refine((text) => !uuid.test(text), 'must not look like a UUID: those name views');
const parameters = z
  .array(z.strictObject({ name: identifier, type }))
  .max(64)
  .default([]);

export const providerSchema = z.strictObject({
  name,
  claims: z
    .record(identifier, type)
    .refine((claims) => claims.user_id === 'VARCHAR', 'user_id must be a VARCHAR'),
});
export const sessionSchema = z
  .strictObject({
    provider: name.default('app_sessions'),
    token: z
      .string()
      .min(1)
      .refine((text) => !text.includes('\0') && !loneSurrogate.test(text), 'must be text without NUL'),
    claims: z.record(identifier, z.string()),
  })
  .refine(({ token, claims }) => claims.user_id !== token, 'the user_id must not be the token');
export const endpointSchema = z.strictObject({
  name,
  using: name,
  parameters,
  claims: z.array(identifier).default([]),
  stream: z.boolean().default(false),
  sql: z.string().min(1),
});
export const viewSchema = z.strictObject({
  name,
  id: z.string().regex(uuid, 'must be a UUID').toLowerCase(),
  parameters,
  sql: z.string().min(1),
  grants: z.record(z.string().min(1), z.array(z.enum(['read', 'subscribe']))).default({}),
});

export type Provider = z.infer<typeof providerSchema>;
export type SessionRow = z.infer<typeof sessionSchema>;
export type Endpoint = z.infer<typeof endpointSchema>;
export type View = z.infer<typeof viewSchema>;

/** @throws TypeError that names what is wrong, and quotes no value */
export function read<Schema extends z.ZodType>(schema: Schema, unverified: unknown): z.infer<Schema> {
  const result = schema.safeParse(unverified);
  if (!result.success) throw new TypeError(`nyxdb: ${z.prettifyError(result.error)}`);
  return result.data;
}

/** @throws TypeError when a row does not have exactly its provider's claims, in their types */
export function checkClaims(provider: Provider, claims: Readonly<Record<string, string>>): void {
  const names = Object.keys(provider.claims);
  if (Object.keys(claims).length !== names.length)
    throw new TypeError(`nyxdb: a session of ${provider.name} must have the claims ${names.join(', ')}`);
  for (const [claim, type] of Object.entries(provider.claims)) {
    const text = claims[claim];
    if (text === undefined || !isText(type, text))
      throw new TypeError(`nyxdb: the claim ${claim} of a session of ${provider.name} must be a ${type}`);
  }
}
