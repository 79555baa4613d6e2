import { type Mutant, mutantsOf } from './mutant.js';

const connections = ['core/connections', 'core/connections-process', 'behaviour/closing'];

/** The rules by which the runtime uses its connections to the broker again, and lets go of them. */
export const connectionMutants: readonly Mutant[] = [
  ...mutantsOf('core/src/connections.ts', connections, [
    ['the time for connecting', 'limitConnecting(request);\n', '\n'],
    [
      'redirects',
      'if (!REDIRECTS.has(response.statusCode)) return resolve(replyOf(response));',
      'return resolve(replyOf(response));',
    ],
    ['answers before the question was taken', 'if (!request.writableFinished) request.destroy();', ''],
    [
      'the end without an answer',
      "request.once('close', () => reject(new ConnectionFault('CONNECTION_CLOSED')));",
      '',
    ],
    ['that old connections are dropped', 'await this.#idleness.dropOverdue(agent);', ''],
    ['that its own end closes them', 'this.#plain.destroy();', ''],
    [
      'what is encoded in an unknown way',
      "return response.destroy(new ConnectionFault('UNKNOWN_CONTENT_ENCODING'));",
      'return response;',
    ],
    ['a decoder', 'if (decoder !== undefined) return pipeline', 'if (false) return pipeline'],
  ]),
  ...mutantsOf('core/src/idleness.ts', connections, [
    ['servers that keep nothing', ' || idle.limitMs <= 0', ''],
    ['the time an idle one is kept', 'socket.setTimeout(idle.limitMs);', ''],
    ['bytes that nobody asked for', "socket.once('data', destroy);", ''],
    ['that an idle one keeps no process', '.unref();', ';'],
    ['that one in use has no idle time', '.setTimeout(0);', ';'],
    ['what a server says of its time', 'Number(seconds) * 1_000 - MARGIN_MS', 'UNTOLD_MS'],
    ['the margin', ' - MARGIN_MS', ''],
    ['the longest time', 'Math.min(limitMs, MOST_MS)', 'limitMs'],
  ]),
];
