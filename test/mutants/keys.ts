import { type Mutant, mutantsOf } from './mutant.js';

const store = ['core/keys-freshness', 'core/keys-flood', 'core/keys-set'];

/** The checks on keys: which are known, how long, and how often they are asked for. */
export const keyMutants: readonly Mutant[] = [
  ...mutantsOf('core/src/keys.ts', store, [
    ['the keys of the environment', 'if (environmentKey !== undefined) return environmentKey.key;', ''],
    [
      'that an environment key hides the broker’s of its ID',
      'if (this.#options.environmentKeys.has(keyId)) return true;',
      '',
    ],
    [
      'the refresh that a new identity starts',
      'if (known !== undefined) {\n      this.#keepFresh();',
      'if (known !== undefined) {',
    ],
    [
      'the refresh that a kept identity starts',
      'if (this.#trusted(keyId) !== key) return false;\n    this.#keepFresh();',
      'if (this.#trusted(keyId) !== key) return false;',
    ],
    ['that a kept identity goes with its key', 'if (this.#trusted(keyId) !== key) return false;', ''],
    ['that an unknown key waits for a refresh', 'await this.#refresh;\n', ''],
    [
      'that a key is known after the refresh it waited for',
      'let key = this.#trusted(keyId);\n    if (key !== undefined) return key;',
      'let key: KeyObject | undefined;',
    ],
    ['the memory of missed key IDs', '!this.#missing.has(keyId) && ', ''],
    [
      'that a failed look is no miss',
      'if (this.#broker !== former) this.#missing.add(keyId);',
      'this.#missing.add(keyId);',
    ],
    [
      'that a look finds',
      'key = this.#trusted(keyId);\n      if (key !== undefined) return key;\n      // A look',
      '// A look',
    ],
    [
      '401 for what a good set lacks',
      "if (this.#isFresh()) throw new IdentityRejectedError('unknown-key');",
      '',
    ],
    [
      '503 for what nobody knows',
      'throw new IdentityUnavailableError();',
      "throw new IdentityRejectedError('unknown-key');",
    ],
    ['that a look serves all who wait', 'if (this.#refresh !== undefined) return true;', ''],
    ['one fetch in flight', '(this.#refresh ?? this.#startRefresh())', 'this.#startRefresh()'],
    ['the pause after failures, for looks', 'if (!this.#mayFetch()) return false;', ''],
    [
      'that a due refresh is not the flood’s',
      'if (this.#broker !== undefined && !this.#isFresh()) return true;',
      '',
    ],
    ['the flood budget', 'return this.#budget.take();', 'return true;'],
    ['any look for an unknown key', 'return this.#budget.take();', 'return false;'],
    [
      'that nothing is fetched after the end',
      '!this.#closing.signal.aborted && this.#backoff.allows()',
      'this.#backoff.allows()',
    ],
    [
      'the back-off',
      '!this.#closing.signal.aborted && this.#backoff.allows()',
      '!this.#closing.signal.aborted',
    ],
    [
      'that a fresh set is left alone',
      'if (!this.#isFresh() && this.#refresh === undefined',
      'if (this.#refresh === undefined',
    ],
    [
      'that a refresh under way is not doubled',
      'if (!this.#isFresh() && this.#refresh === undefined',
      'if (!this.#isFresh()',
    ],
    ['the hard limit', 'ageMs !== undefined && ageMs < TRUSTED_MS', 'ageMs !== undefined'],
    ['the five minutes', 'const FRESH_MS = 5 * 60_000;', 'const FRESH_MS = 6 * 60_000;'],
    ['the fifteen minutes', 'const TRUSTED_MS = 15 * 60_000;', 'const TRUSTED_MS = 16 * 60_000;'],
    [
      'that an answer replaces the set',
      'this.#broker = { keys, fetchedAtMs: startedAtMs };',
      'this.#broker = { keys: new Map([...(this.#broker?.keys ?? []), ...keys]), fetchedAtMs: startedAtMs };',
    ],
    ['that the age counts from the question', 'fetchedAtMs: startedAtMs }', 'fetchedAtMs: this.#now() }'],
    ['that a good answer ends the pauses', 'this.#backoff.succeeded();', ''],
    ['that a bad answer starts a pause', 'this.#backoff.failed();', ''],
    ['that a bad answer shows', "this.#lastRefresh = 'failed';", ''],
    [
      'the warning of a key that is left out',
      "for (const problem of set.problems) publish('nn-runtime:keys.warning', { source: 'broker', problem });",
      '',
    ],
    [
      'the warning of a hidden key',
      "publish('nn-runtime:keys.warning', { source: 'broker', problem: 'shadowed-key-id' });",
      '',
    ],
    ['that another key of one ID is another', ' && same.jwk.x === jwk.x && same.jwk.y === jwk.y', ''],
    [
      'that the same key stays the same',
      'if (same !== undefined && same.jwk.x',
      'if (same !== undefined && keyNever && same.jwk.x',
    ],
    ['that its clock never goes back', 'this.#now = steadyClock(options.now);', 'this.#now = options.now;'],
    ['the end of a question under way', 'this.#closing.abort();', ''],
  ]).map((mutant) => ({ ...mutant, becomes: mutant.becomes.replace('keyNever', 'Number.isNaN(0)') })),
  ...mutantsOf(
    'core/src/key-set.ts',
    ['core/keys-set', 'core/keys-answers'],
    [
      [
        'that it is a list of keys',
        'if (!set.success) return undefined;',
        'if (!set.success) return { keys: new Map(), problems: [] };',
      ],
      [
        'that a private key is refused',
        "problems.push('private-key');\n      continue;",
        "problems.push('private-key');",
      ],
      ['the warning of a private key', "problems.push('private-key');\n      continue;", 'continue;'],
      ['`kty`', "kty: z.literal('EC'),", "kty: z.any().transform(() => 'EC' as const),"],
      ['`crv`', "crv: z.literal('P-256'),", "crv: z.any().transform(() => 'P-256' as const),"],
      ['`x`', ' x: coordinate,', ' x: z.string(),'],
      ['what a key ID is made of', 'kid: z.string().regex(new RegExp(', 'kid: z.string().regex(/^/, String('],
      ['`use`', "use: z.literal('sig').optional(),", ''],
      ['`alg`', "alg: z.literal('ES256').optional(),", ''],
      ['`key_ops`', "operations.includes('verify')", 'operations.length >= 0'],
      [
        'that the point is on the curve',
        'if (!parsed.success || !isOnCurve(parsed.data))',
        'if (!parsed.success)',
      ],
      ['that two keys of one ID are none', 'conflicting.add(kid);', 'keys.set(kid, same);'],
      ['that identical copies are one key', ' && (same.x !== x || same.y !== y)', ''],
      ['the warning of two keys of one ID', "problems.push('conflicting-key-id');", ''],
    ],
  ),
  ...mutantsOf(
    'core/src/key-fetch.ts',
    ['core/keys-answers', 'core/keys-freshness', 'core/keys-exit'],
    [
      [
        'the deadline',
        "const timer = setTimeout(() => stop('timeout'), options.timeoutMs);",
        'const timer = setTimeout(() => undefined, 1);',
      ],
      ['that the deadline keeps no process alive', 'timer.unref();', ''],
      ['that a redirect is not followed', "redirect: 'error',", "redirect: 'follow',"],
      ['the status', 'if (response.status !== 200)', 'if (response.status >= 600)'],
      ['the largest size', 'readBody(response, MAX_KEY_SET_BYTES)', 'readBody(response, 2 ** 40)'],
      [
        'that what is no key set is named so',
        "if (set === undefined) throw new KeyFetchError('not-a-key-set');",
        "if (set === undefined) throw new KeyFetchError('status');",
      ],
      [
        'that a set without a usable key is no answer',
        "if (set.keys.size === 0) throw new KeyFetchError('no-usable-key');",
        '',
      ],
      [
        'that the deadline holds against a deaf fetch',
        'await Promise.race([ended, ask(options, controller.signal)])',
        'await ask(options, controller.signal)',
      ],
      ['that a connection is closed at the deadline', '    controller.abort();\n', ''],
      [
        'that the end of the runtime ends the question',
        "else options.signal.addEventListener('abort', onClose, { once: true });",
        '',
      ],
      ['`Accept`', "headers: { accept: 'application/json' },", ''],
    ],
  ).map((mutant) => (mutant.was === 'timer.unref();' ? { ...mutant, tests: ['core/keys-exit'] } : mutant)),
  ...mutantsOf('core/src/pace.ts', store, [
    ['the pause', 'return this.#now() - this.#failedAtMs >= this.#pauseMs;', 'return true;'],
    [
      'the longest pause',
      'Math.min(Backoff.#maxMs, Backoff.#firstMs * 2 ** this.#failures)',
      'Backoff.#firstMs * 2 ** this.#failures',
    ],
    ['that pauses double', '2 ** this.#failures', '1'],
    ['the jitter', '(0.5 + this.#random() / 2)', '1'],
    ['that a success counts', 'this.#failures = 0;\n    this.#pauseMs = 0;', ''],
    ['the end of the budget', 'if (this.#tokens === 0) return false;', ''],
    ['that an attempt costs', 'this.#tokens -= 1;', ''],
    ['that the budget earns', 'this.#tokens += earned;', ''],
    ['that what is earned is spent once', 'this.#countedAtMs += earned * FloodBudget.#refillMs;', ''],
    [
      'that the budget holds no more than three',
      'if (this.#tokens + earned >= FloodBudget.#capacity) {',
      'if (Number.isNaN(earned)) {',
    ],
    [
      'the bound of the missed key IDs',
      'if (this.#missedAtMs.size > MissingKeyIds.#maxEntries) {',
      'if (Number.isNaN(0)) {',
    ],
    [
      'that a miss is forgotten after ten seconds',
      'if (this.#now() - missedAtMs < MissingKeyIds.#maxAgeMs) return true;',
      'return true;',
    ],
  ]),
  ...mutantsOf('core/src/clock.ts', store, [
    ['that what was set back is left out', 'if (ms < lastMs) leftOutMs += lastMs - ms;', ''],
  ]),
];
