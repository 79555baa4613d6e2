import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Caller,
  endWithResponse,
  httpAnswerOf,
  identityHeaderLines,
  isSameApplication,
  type Runtime,
  RuntimeError,
  type RuntimeOptions,
  runtimeOf,
} from '@nn-runtime/core';
import { send } from './send.js';

/** A middleware of Express 4 and 5 alike; it needs no more of a request than Node gives. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** The middleware, and the runtime behind it. */
export type NNumbersMiddleware = Middleware & {
  /** For health checks (`status()`) and for `close()` when the application ends. */
  readonly runtime: Runtime;
};

/** Options of the middleware: those of `createRuntime`, or a runtime that was made elsewhere. */
export interface NNumbersOptions extends RuntimeOptions {
  /** A ready runtime; the other options are not looked at then. Default: one of its own. */
  readonly runtime?: Runtime | undefined;
}

// Requests this package decorated, and for which runtime: by itself and not by a property anybody could set.
const decorated = new WeakMap<IncomingMessage, { readonly runtime: Runtime; readonly caller: Caller }>();

/**
 * The Express middleware: `app.use(nnumbers())`. Decorates every request with `identity` and `queryMesh`, and refuses with 401 a request
 * whose identity does not check out (503 when that cannot be known). Make it once; used twice on a request, it verifies once, unless the
 * second is of another application: an identity has to be for both.
 * @param mistaken nothing: `app.use(nnumbers)`, without parentheses, would hand requests to what makes the middleware.
 * @throws ConfigurationError at once, naming every wrong variable and option.
 */
export function nnumbers(options: NNumbersOptions = {}, ...mistaken: never[]): NNumbersMiddleware {
  if (mistaken.length > 0) throw new TypeError('nnumbers makes the middleware: app.use(nnumbers())');
  const runtime = runtimeOf(options);
  // Not an async function: Express 4 does not look at a returned promise.
  const middleware: Middleware = (request, response, next) => {
    const former = decorated.get(request);
    if (former !== undefined && isSameApplication(former.runtime, runtime)) {
      decorate(request, response, former.caller);
      next();
      return;
    }
    runtime.authenticate(identityHeaderLines(request)).then(
      (caller) => {
        try {
          decorate(request, response, caller);
        } catch (error) {
          // An earlier middleware made `identity` unchangeable: its value must not pass for ours, and a rejection here
          // would be nobody's.
          next(error);
          return;
        }
        decorated.set(request, { runtime, caller });
        next();
      },
      (error: unknown) => {
        // Somebody answered meanwhile, as a time limit does: setting a header now throws, and here nobody would catch it.
        if (error instanceof RuntimeError && response.headersSent) return;
        // Sent from here: an application's error handler must not be able to turn it into a success.
        if (error instanceof RuntimeError) send(response, httpAnswerOf(error));
        else next(error);
      },
    );
  };
  return Object.assign(middleware, { runtime });
}

// Defined, not assigned: whatever an earlier middleware left there, a value or a setter, is replaced.
function decorate(request: IncomingMessage, response: ServerResponse, caller: Caller): void {
  define(request, 'identity', caller.identity);
  define(request, 'queryMesh', endWithResponse(caller.queryMesh, response));
}

function define(
  request: IncomingMessage & { identity?: unknown; queryMesh?: unknown },
  name: 'identity' | 'queryMesh',
  value: unknown,
): void {
  // With nothing of that name, own or inherited, an assignment makes the same property, in a tenth of the time.
  if (!(name in request)) request[name] = value;
  else Object.defineProperty(request, name, { configurable: true, enumerable: true, writable: true, value });
}
