import { redactPaths } from '@nn-runtime/core';
import nnumbers from '@nn-runtime/fastify';
import fastify, { type FastifyRequest } from 'fastify';
import pino from 'pino';
import t from 'tap';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');
const ana = token(key);
// The part of a token that no other token has.
const [, , signature = ''] = ana.split('.');

function logTo(lines: string[]): { write(line: string): void } {
  return { write: (line) => void lines.push(line) };
}

/** Everything somebody may log of a request, at every depth the paths promise. */
const WAYS: Readonly<Record<string, (request: FastifyRequest['raw']) => object>> = {
  'the headers': ({ headers }) => headers,
  'an object with headers': ({ headers }) => ({ headers }),
  'a request below a name': ({ headers, rawHeaders }) => ({ req: { headers, rawHeaders } }),
  'a request below two names': ({ headers, rawHeaders }) => ({ context: { req: { headers, rawHeaders } } }),
  'the raw headers': ({ rawHeaders }) => ({ rawHeaders }),
};

for (const [way, of] of Object.entries(WAYS)) {
  t.test(`${way}, logged: the identity is not in the line`, async (t) => {
    const lines: string[] = [];
    const bare: string[] = [];
    const app = fastify();
    await app.register(nnumbers, { env: environment([key]), now: () => NOW_MS });
    app.get('/', async ({ raw }) => {
      pino({ redact: [...redactPaths] }, logTo(lines)).info(of(raw));
      pino({}, logTo(bare)).info(of(raw));
      return {};
    });
    t.teardown(() => app.close());
    await app.listen({ host: '127.0.0.1', port: 0 });
    const address = app.server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const headers = { 'x-nnumbers-identity': ana, 'x-request-id': 'r-17' };
    t.equal((await fetch(`http://127.0.0.1:${port}/`, { headers })).status, 200);
    t.ok(bare.join('').includes(signature), 'it would be there without the paths');
    t.notOk(lines.join('').includes(signature));
    t.match(lines.join(''), /"level":30/, 'and the line is there');
    if (way !== 'the raw headers') t.match(lines.join(''), /r-17/, 'with what is no secret');
  });
}

t.test('Fastify takes them as they are', async (t) => {
  const lines: string[] = [];
  const serializers = { req: ({ headers }: { headers?: unknown }) => ({ headers }) };
  const app = fastify({
    logger: { redact: [...redactPaths], serializers, stream: logTo(lines) },
  });
  await app.register(nnumbers, { env: environment([key]), now: () => NOW_MS });
  app.get('/', async () => ({}));
  t.teardown(() => app.close());
  await app.inject({ url: '/', headers: { 'x-nnumbers-identity': ana } });
  t.match(lines.join(''), /"x-nnumbers-identity":"\[Redacted\]"/);
  t.notOk(lines.join('').includes(signature));
});
