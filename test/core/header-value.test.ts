import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { createRuntime, IdentityRejectedError, identityHeaderLines } from '@nn-runtime/core';
import t from 'tap';
import { runModule } from '../module-process.js';
import { claims, environment, headerOf, makeKey, NOW_MS, signParts, token } from '../tokens.js';

const key = makeKey('k1');
const runtime = createRuntime({ env: environment([key]), now: () => NOW_MS });
const good = token(key);
const kindOf = async (header: unknown): Promise<string> => {
  const { identity } = await runtime.authenticate(header as string);
  return identity.kind;
};

t.test('absent is anonymous: no value, no lines', async (t) => {
  t.equal(await kindOf(undefined), 'anonymous');
  t.equal(await kindOf([]), 'anonymous');
});

t.test('one value is that value, by itself or as the only line', async (t) => {
  t.equal(await kindOf(good), 'person');
  t.equal(await kindOf([good]), 'person');
});

t.test('what is neither text nor lines of text is refused, and is never absent', async (t) => {
  const values = [null, 0, 1, true, false, {}, { 0: good, length: 1 }, () => good, Symbol.iterator];
  for (const value of [...values, ...values.map((each) => [each]), [undefined], [[good]], new String(good)]) {
    await t.rejects(kindOf(value), { name: 'IdentityRejectedError', reason: 'malformed', statusCode: 401 });
  }
});

t.test(
  'a name that ends in a space, as Node 20.19 hands it out, is no absent identity (RFC 9112 section 5.1)',
  async (t) => {
    for (const name of ['x-nnumbers-identity ', 'X-NNumbers-Identity  ', 'X-NNUMBERS-IDENTITY \t ']) {
      const request = (rawHeaders: string[]) => identityHeaderLines({ headers: {}, rawHeaders });
      await t.rejects(
        kindOf(request([name, good])),
        { name: 'IdentityRejectedError', reason: 'empty' },
        JSON.stringify(name),
      );
      await t.rejects(kindOf(request([name, good, 'X-NNumbers-Identity', good])), {
        name: 'IdentityRejectedError',
        reason: 'repeated',
      });
      await t.rejects(kindOf(request(['X-NNumbers-Identity', good, name, ''])), {
        name: 'IdentityRejectedError',
        reason: 'repeated',
      });
    }
    t.same(identityHeaderLines({ headers: {}, rawHeaders: ['x-nnumbers-identity2 ', good, 'x ', good] }), []);
  },
);

t.test('a refusal carries no stack frames, and leaves the limit as it was', async (t) => {
  const limit = Error.stackTraceLimit;
  const error: unknown = await runtime.authenticate('x').catch((reason: unknown) => reason);
  t.ok(error instanceof IdentityRejectedError);
  t.equal((error as Error).stack, 'IdentityRejectedError: The identity of this request does not check out.');
  t.equal(Error.stackTraceLimit, limit);
});

t.test(
  'where Error cannot be changed, a refusal is one all the same, before and after the signature',
  async (t) => {
    const program = `
    import { createRuntime } from '@nn-runtime/core';
    const runtime = createRuntime({ now: () => ${NOW_MS} });
    for (const value of ${JSON.stringify(['x', `${good.slice(0, -86)}${'A'.repeat(86)}`, good])}) {
      await runtime.authenticate(value).then(({ identity }) => console.log(identity.kind), ({ reason }) => console.log(reason));
    }
    await runtime.close();
  `;
    for (const freeze of [
      "Object.defineProperty(Error, 'stackTraceLimit', { writable: false })",
      'Object.freeze(Error)',
    ]) {
      t.strictSame(await runModule(`${freeze};${program}`, environment([key])), {
        code: 0,
        out: 'malformed\nsignature\nperson\n',
      });
    }
  },
);

t.test('headers of fetch, and of a message that Node did not parse, are read as well', async (t) => {
  const ofFetch = (...lines: string[]) => ({
    headers: new Headers(lines.map((line): [string, string] => ['X-NNumbers-Identity', line])),
  });
  t.strictSame(identityHeaderLines(ofFetch()), []);
  t.strictSame(identityHeaderLines(ofFetch('a')), ['a']);
  t.strictSame(identityHeaderLines(new Request('http://a.example', ofFetch(''))), ['']);
  await t.rejects(kindOf(identityHeaderLines(ofFetch(good, good))), {
    name: 'IdentityRejectedError',
    reason: 'repeated',
  });
  const message = Object.assign(new IncomingMessage(new Socket()), {
    headers: { 'X-NNumbers-Identity': 'a', 'x-nnumbers-IDENTITY': 'b' },
  });
  t.strictSame(message.rawHeaders, []);
  t.strictSame(identityHeaderLines(message), ['a', 'b']);
  t.strictSame(identityHeaderLines({ headers: { get: 'a header of that name' } }), []);
});

t.test('headers are read from the lines Node kept, or else from what was parsed', async (t) => {
  const name = 'x-nnumbers-identity';
  t.strictSame(identityHeaderLines({ headers: {} }), []);
  t.strictSame(identityHeaderLines({ headers: { [name]: 'a' } }), ['a']);
  t.strictSame(identityHeaderLines({ headers: { [name]: ['a', 'b'] } }), ['a', 'b']);
  t.strictSame(
    identityHeaderLines({ headers: { [name]: 'a, b' }, rawHeaders: ['X-NNumbers-Identity', 'a', name, 'b'] }),
    ['a', 'b'],
  );
  t.strictSame(identityHeaderLines({ headers: { [name]: 'a' }, rawHeaders: [] }), ['a']);
});

t.test('requests that share one verification get a refusal each, and none the other’s', async (t) => {
  const forged = token(makeKey('k1'));
  const refusals = await Promise.all(
    [1, 2, 3].map(() => runtime.authenticate(forged).catch((error: unknown) => error)),
  );
  t.equal(new Set(refusals).size, 3);
  for (const refusal of refusals) t.match(refusal, { name: 'IdentityRejectedError', reason: 'signature' });
});

t.test('white space may stand around the JOSE header, which is an object all the same', async (t) => {
  const header = JSON.stringify(headerOf(key));
  const payload = JSON.stringify(claims());
  for (const space of [' ', '\n', '\t', '\r\n']) {
    t.equal(await kindOf(signParts(key, `${space}${header}${space}`, payload)), 'person');
    for (const other of ['null', '[]', `[${header}]`, '"x"', '1', 'true', '']) {
      await t.rejects(
        kindOf(signParts(key, space + other, payload)),
        { reason: 'malformed' } as never,
        other,
      );
    }
  }
});
