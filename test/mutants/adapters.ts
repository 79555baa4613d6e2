import { type Mutant, mutantsOf } from './mutant.js';

/** The guards, and what the adapters add. */
export const adapterMutants: readonly Mutant[] = [
  ...mutantsOf(
    'core/src/guard.ts',
    ['core/guard', 'behaviour/guard'],
    [
      [
        'the person',
        'if (isPerson(identity)) return undefined;',
        'if (identity !== undefined) return undefined;',
      ],
      ['that only GET and HEAD navigate', "if (method !== 'GET' && method !== 'HEAD') return false;", ''],
      [
        '`Sec-Fetch-Mode`',
        "return mode === undefined ? prefersHtml(String(headers.accept ?? '')) : mode === 'navigate';",
        "return prefersHtml(String(headers.accept ?? ''));",
      ],
      [
        'what the client would rather have',
        'if (quality > best.quality) best = { type, quality };',
        'best = { type, quality };',
      ],
      ['that the target is a path', "!target.startsWith('/') || ", ''],
      ['the longest target', ' || target.length > MAX_RETURN_TO_CHARACTERS', ''],
      ['control characters in the target', '/[\\x00-\\x1f\\x7f]/.test(decoded) || ', ''],
      ['two slashes in front of the target', ' || /^[/\\\\]{2}/.test(decoded)', ''],
      ['where dot segments lead', " && !resolved.pathname.startsWith('//')", ''],
      [
        'that the target is encoded',
        'encodeURIComponent(returnTo(request.target))',
        'returnTo(request.target)',
      ],
      [
        'that nobody keeps the redirect',
        "headers: { location, 'cache-control': 'no-store' }",
        'headers: { location }',
      ],
    ],
  ),
  ...mutantsOf(
    'fastify/src/plugin.ts',
    ['fastify/plugin', 'behaviour/adapters', 'behaviour/refusals', 'behaviour/query', 'behaviour/identity'],
    [
      ['that nobody else owns the names', 'if (app.hasRequestDecorator(name)) {', 'if (Number.isNaN(0)) {'],
      ['the identity', "define(request, 'identity', caller.identity);", ''],
      [
        'that a setter in the way is replaced',
        'Object.defineProperty(request, name, { configurable: true, enumerable: true, writable: true, value });',
        '(request as unknown as Record<string, unknown>)[name] = value;',
      ],
      [
        'that a query ends with its response',
        'endWithResponse(caller.queryMesh, reply.raw)',
        'caller.queryMesh',
      ],
      [
        'that a refusal is not the error handler’s',
        'return send(reply, httpAnswerOf(error));',
        'throw error;',
      ],
      [
        'that it runs before the body is read',
        "app.addHook('onRequest', async (request, reply) => {",
        "app.addHook('preHandler', async (request, reply) => {",
      ],
      [
        'the body of an uncaught refusal',
        'if (error instanceof RuntimeError) uncaught.set(request, error);',
        '',
      ],
      ['that an error handler’s answer stands', ' || body !== fastifyErrorBody(error)', ''],
      [
        'that headers of the former body go with it',
        'for (const name of bodyHeaders) reply.removeHeader(name);',
        '',
      ],
      [
        'that its runtime ends with the application',
        "if (options.runtime === undefined) app.addHook('onClose', () => runtime.close());",
        '',
      ],
      ['that a lent runtime is not closed', 'if (options.runtime === undefined) app.addHook', 'app.addHook'],
      [
        'its reach beyond its own scope',
        "fp(plugin, { fastify: '5.x', name: '@nn-runtime/fastify' })",
        'plugin',
      ],
    ],
  ),
  ...mutantsOf(
    'fastify/src/guard.ts',
    ['fastify/plugin', 'behaviour/guard'],
    [
      ['the guard', 'return answer === undefined ? undefined : send(reply, answer);', 'return undefined;'],
      [
        'the hint that the plugin is missing',
        'if (request.identity === undefined) {',
        'if (Number.isNaN(0)) {',
      ],
    ],
  ),
  ...mutantsOf(
    'express/src/middleware.ts',
    [
      'express/middleware',
      'behaviour/adapters',
      'behaviour/refusals',
      'behaviour/query',
      'behaviour/identity',
    ],
    [
      [
        'that twice verifies once',
        'if (former !== undefined && isSameApplication(former.runtime, runtime)) {',
        'if (Number.isNaN(0)) {',
      ],
      ['that twice is of one application', ' && isSameApplication(former.runtime, runtime)', ''],
      ['the identity', "define(request, 'identity', caller.identity);", ''],
      [
        'that an earlier value is replaced',
        'Object.defineProperty(request, name, { configurable: true, enumerable: true, writable: true, value });',
        '(request as unknown as Record<string, unknown>)[name] ??= value;',
      ],
      [
        'that a setter in the way is replaced',
        'Object.defineProperty(request, name, { configurable: true, enumerable: true, writable: true, value });',
        '(request as unknown as Record<string, unknown>)[name] = value;',
      ],
      [
        'that a query ends with its response',
        'endWithResponse(caller.queryMesh, response)',
        'caller.queryMesh',
      ],
      [
        'that a refusal is not the error handler’s',
        'if (error instanceof RuntimeError) send(response, httpAnswerOf(error));\n        else next(error);',
        'next(error);',
      ],
      [
        'the refusal',
        'if (error instanceof RuntimeError) send(response, httpAnswerOf(error));\n        else next(error);',
        'void error; next();',
      ],
      [
        'that an answer somebody else sent is left alone',
        'if (error instanceof RuntimeError && response.headersSent) return;',
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'express/src/guard.ts',
    ['express/middleware', 'behaviour/guard'],
    [
      ['the guard', 'else send(response, answer);', 'else next();'],
      ['the hint that the middleware is missing', 'if (identity === undefined) {', 'if (Number.isNaN(0)) {'],
      ['the path below a mounted router', 'originalUrl = request.url', 'url: originalUrl = request.url'],
    ],
  ),
  ...mutantsOf(
    'express/src/error-handler.ts',
    ['express/middleware', 'behaviour/query'],
    [
      [
        'that foreign errors are passed on',
        'error instanceof RuntimeError && !response.headersSent',
        '!response.headersSent',
      ],
      ['that an answer under way is left alone', ' && !response.headersSent', ''],
    ],
  ),
];
