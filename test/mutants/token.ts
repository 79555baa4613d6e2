import { type Mutant, mutantsOf } from './mutant.js';

const shape = [
  'behaviour/token-shape',
  'behaviour/token-header',
  'behaviour/header-lines',
  'behaviour/token-claims',
  'core/header-value',
];
const claims = ['behaviour/token-claims', 'behaviour/kept-identities'];

/** The checks on a token by itself: its header lines, its shape, its JOSE header, its signature, its claims. */
export const tokenMutants: readonly Mutant[] = [
  ...mutantsOf('core/src/header.ts', shape, [
    [
      'that header lines are counted',
      "if (header.length > 1) throw new IdentityRejectedError('repeated');",
      '',
    ],
    [
      'all header lines but the first',
      'if (lines.length > 0) return lines;',
      'if (lines.length > 0) return lines.slice(0, 1);',
    ],
    [
      'that a header is text or lines',
      "if (!Array.isArray(header)) throw new IdentityRejectedError('malformed');",
      'if (!Array.isArray(header)) return undefined;',
    ],
    [
      'that a header line is text',
      "if (header.length === 1 && typeof value !== 'string') throw new IdentityRejectedError('malformed');",
      '',
    ],
    [
      'the longest length',
      "if (value.length > MAX_IDENTITY_CHARACTERS) throw new IdentityRejectedError('too-long');",
      '',
    ],
    [
      'that an empty header is present',
      "if (BLANK.test(value)) throw new IdentityRejectedError('empty');",
      '',
    ],
    [
      'the reason of joined header lines',
      "if (value.includes(',')) throw new IdentityRejectedError('repeated');",
      '',
    ],
    [
      'the shape of a compact JWS',
      "if (!COMPACT_JWS.test(value)) throw new IdentityRejectedError('malformed');",
      '',
    ],
    ['that a signature has one spelling', '{85}[AQgw]$/', '{86}$/'],
    ['that a part encodes whole bytes', 'return part.length % 4 !== 1;', 'return true;'],
    [
      'that the header is JSON',
      "if (header === undefined) throw new IdentityRejectedError('malformed');",
      "if (header === undefined) return 'k1';",
    ],
    ['`alg`', "if (header.alg !== IDENTITY_ALGORITHM) throw new IdentityRejectedError('algorithm');", ''],
    ['`typ`', "if (header.typ !== IDENTITY_TYPE) throw new IdentityRejectedError('type');", ''],
    ['`crit`', "if (Object.hasOwn(header, 'crit')) throw new IdentityRejectedError('critical');", ''],
    [
      'that `kid` is text',
      "typeof keyId !== 'string' || !KEY_ID.test(keyId)",
      '!KEY_ID.test(keyId as string)',
    ],
    [
      'what `kid` is made of',
      "typeof keyId !== 'string' || !KEY_ID.test(keyId)",
      "typeof keyId !== 'string'",
    ],
    [
      'that a header is read anew when it is another',
      'if (header !== lastHeader.text)',
      "if (lastHeader.text === '')",
    ],
    ['strict UTF-8', 'fatal: true', 'fatal: false'],
    ['that a BOM is not JSON', 'ignoreBOM: true', 'ignoreBOM: false'],
    ['that null is no object', 'value !== null && ', ''],
    ['that a list is no object', '&& !Array.isArray(value)', ''],
    [
      'that text and numbers are no objects',
      "typeof value === 'object' && value !== null && !Array.isArray(value)",
      'value !== null && !Array.isArray(value)',
    ],
  ]),
  ...mutantsOf(
    'core/src/verify.ts',
    ['behaviour/token-header', 'behaviour/token-shape'],
    [
      ['the signature', 'if (error === null && verified)', 'if (true)'],
      ['the outcome of the signature check', 'if (error === null && verified)', 'if (error === null)'],
    ],
  ),
  ...mutantsOf('core/src/claims.ts', claims, [
    ['`iss`', 'iss: z.literal(expected.issuer),', ''],
    ['`aud`', 'aud: z.union([audience, z.tuple([audience])]),', ''],
    [
      'that `aud` names this application alone',
      'z.tuple([audience])',
      'z.array(z.unknown()).refine((all) => all.includes(expected.applicationId))',
    ],
    ['`org`', 'org: z.literal(expected.organizationId),', 'org: z.any(),'],
    ['that texts are not empty', 'const text = z.string().min(1);', 'const text = z.string();'],
    ...['sub', 'jti', 'sid', 'iam', 'org_slug'].map(
      (claim) => [`\`${claim}\``, ` ${claim}: text,`, ` ${claim}: z.any(),`] as const,
    ),
    ...['iat', 'nbf', 'exp'].map(
      (claim) => [`\`${claim}\``, ` ${claim}: numericDate,`, ` ${claim}: z.any(),`] as const,
    ),
    ['that times are not negative', '.nonnegative()', ''],
    ['that times make valid dates', '.max(MAX_DATE_SECONDS)', ''],
    ...['name', 'email', 'preferred_username'].map(
      (claim) =>
        [`the type of \`${claim}\``, ` ${claim}: z.string().nullish(),`, ` ${claim}: z.any(),`] as const,
    ),
    ['the type of `email_verified`', 'email_verified: z.boolean().nullish(),', 'email_verified: z.any(),'],
    [
      'that claims are a JSON object',
      "if (payload === undefined) throw new IdentityRejectedError('claims');",
      'if (payload === undefined) return { claims: {} as VerifiedClaims, payload: {} };',
    ],
    ['`iat` before `exp`', "if (claims.iat >= claims.exp) throw new IdentityRejectedError('claims');", ''],
    [
      'the longest lifetime',
      "if (claims.exp - claims.iat > MAX_LIFETIME_SECONDS) throw new IdentityRejectedError('lifetime');",
      '',
    ],
    [
      'the validity of new identities',
      'if (fault !== undefined) throw new IdentityRejectedError(fault);',
      '',
    ],
    ['the end of the validity', "if (!(now < claims.exp + clockToleranceSeconds)) return 'expired';", ''],
    ['that the end itself is too late', 'now < claims.exp', 'now <= claims.exp'],
    [
      'the start of the validity',
      "if (!(now >= claims.nbf - clockToleranceSeconds)) return 'not-yet-valid';",
      '',
    ],
    ['that the start itself is early enough', 'now >= claims.nbf', 'now > claims.nbf'],
    ['the tolerance at the end', 'claims.exp + clockToleranceSeconds', 'claims.exp'],
    ['the tolerance at the start', 'claims.nbf - clockToleranceSeconds', 'claims.nbf'],
  ]),
  ...mutantsOf(
    'core/src/verified.ts',
    ['core/header-value', 'behaviour/kept-identities', 'behaviour/runtime'],
    [
      [
        'that the whole token is compared',
        'return found?.compact === compact ? found : undefined;',
        'return found;',
      ],
      [
        'that one token is verified once',
        'if (underWay !== undefined) return underWay.then(tellJoined, throwOwnRefusal);',
        '',
      ],
      [
        'that each request gets an error of its own',
        'return underWay.then(tellJoined, throwOwnRefusal);',
        'return underWay.then(tellJoined);',
      ],
      ['that a failure is forgotten', 'this.#underWay.delete(compact);', ''],
      ['that nothing is kept after the end', 'if (!this.#closed) this.#kept?.set', 'this.#kept?.set'],
      ['the bound', 'new LRUCache({ max: maxIdentities })', 'new LRUCache({ max: 10_000_000 })'],
    ],
  ),
  ...mutantsOf(
    'core/src/runtime.ts',
    ['behaviour/kept-identities', 'behaviour/runtime', 'core/keys-freshness', 'behaviour/refusals'],
    [
      [
        'the end of the runtime',
        'if (this.#closed) throw new IdentityUnavailableError({ cause: this.#closing.signal.reason });',
        '',
      ],
      [
        'the clock, for kept identities',
        'validityFault(known, clockToleranceSeconds, now()) === undefined &&',
        '',
      ],
      ['the key set, for kept identities', '&&\n      this.#keys.stillTrusts(known.keyId, known.key)', ''],
      ['the events of refusals', "publish('nn-runtime:identity.refused', refusal);", ''],
    ],
  ),
  ...mutantsOf(
    'core/src/header.ts',
    ['core/header-value'],
    [
      ['the headers of fetch', "return typeof headers.get === 'function';", 'return false;'],
      ['messages that Node did not parse', ' && rawHeaders.length > 0', ''],
    ],
  ),
  ...mutantsOf(
    'core/src/errors.ts',
    ['core/header-value'],
    [
      [
        'that `Error` may be frozen',
        "Reflect.set(Error, 'stackTraceLimit', 0);",
        'Error.stackTraceLimit = 0;',
      ],
    ],
  ),
  ...mutantsOf(
    'core/src/options.ts',
    ['behaviour/configuration'],
    [['that an option is one', 'z.strictObject({', 'z.object({']],
  ),
  ...mutantsOf(
    'core/src/query.ts',
    ['core/query'],
    [['that an option of a query is one', 'if (unknownOption) throw', 'if (Number.isNaN(0)) throw']],
  ),
];
