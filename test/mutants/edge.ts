import { type Mutant, mutantsOf } from './mutant.js';

const upgrade = ['nyxdb-edge/upgrade'];
const frames = ['nyxdb-edge/frames'];

/** The checks of the edge in front of NYXDB: who may open a relay, and what passes through one. */
export const edgeMutants: readonly Mutant[] = [
  ...mutantsOf('nyxdb-edge/src/admission.ts', upgrade, [
    [
      'the network',
      "if (settings.allowRemote(request.socket.remoteAddress ?? '') !== true) return wrongNetwork;",
      '',
    ],
    [
      'that a network is allowed by true alone',
      "settings.allowRemote(request.socket.remoteAddress ?? '') !== true",
      "!settings.allowRemote(request.socket.remoteAddress ?? '')",
    ],
    ['that Origin is there', 'settings.allowMissingOrigin ? undefined : wrongOrigin;', 'undefined;'],
    ['the list of origins', ' && settings.origins.has(origin)', ''],
    ['that Origin is one line', 'others.length === 0 && ', ''],
    ['that strangers are asked to sign in', 'isPerson(identity) || allowAnonymous', 'true'],
    ['the time for the identity', 'if (caller === undefined) return { refusal: late };', ''],
  ]),
  ...mutantsOf(
    'nyxdb-edge/src/edge.ts',
    ['nyxdb-edge/life', ...upgrade, 'nyxdb-edge/attach', ...frames, 'nyxdb-edge/engine'],
    [
      [
        'that a closing edge takes nothing',
        'if (closing) return refuse(socket, goingAway);\n    if (relays',
        'if (relays',
      ],
      [
        'the look at an end after the identity was checked',
        "if (closing) return refuse(socket, goingAway);\n    if ('refusal'",
        "if ('refusal'",
      ],
      [
        'the limit of relays',
        'if (relays.size + checking >= limits.maxRelays) return refuse(socket, tooManyRelays);',
        '',
      ],
      ['the verdict', "if ('refusal' in admission) return refuse(socket, admission.refusal);", ''],
      ['that a handshake has no body', 'if (hasBody(request)) return refuse(socket, noHandshake);', ''],
      ['the sockets of one person', 'if (count >= limits.socketsPerPerson) return undefined;', ''],
      ['that a place is given back', 'onEnded: () => leavePlace?.(),', 'onEnded() {},'],
      ['the cap on a request in ws', 'maxPayload: limits.maxRequestBytes + HEADER_BYTES,', ''],
      ['the cap on fragments', 'maxFragments: limits.maxFragments,', ''],
      ['which subprotocol is chosen', 'authenticate !== undefined && offered.has(EDGE_PROTOCOL)', 'true'],
    ],
  ),
  ...mutantsOf(
    'nyxdb-edge/src/attach.ts',
    ['nyxdb-edge/attach'],
    [
      ['that upgrades are WebSocket’s', "headers.upgrade?.toLowerCase() === 'websocket'", 'true'],
      ['HTTP/1.0', "httpVersion !== '1.0' && ", ''],
      [
        'the owed answer of an upgrade',
        'if (owesAnAnswer(request, socket)) socket.destroy();\n        else ',
        '',
      ],
      ['that a path is claimed once', 'if (handlers.has(path)) throw', 'if (false) throw'],
    ],
  ),
  ...mutantsOf('nyxdb-edge/src/request.ts', frames, [
    ['which operations pass', "if (!operations.has(operation)) return 'operation';", ''],
    [
      'that a client does not authenticate where the edge does',
      'if (authenticate === undefined) operations.add(OP_AUTH);',
      'operations.add(OP_AUTH);',
    ],
    ['that a capability is asked for', 'if (allowCapability) operations', 'operations'],
    ['the zero id of a request', "if (hasZeroId(message, 1)) return 'malformed';", ''],
    [
      'the length of a cancel',
      "if (operation === OP_CANCEL_REQUEST && message.length !== HEADER_BYTES + REQUEST_ID_BYTES)\n    return 'malformed';",
      '',
    ],
    ['that OP_AUTH is of one user', 'operation === OP_AUTH && !isOneUser', 'false && !isOneUser'],
    ['that OP_AUTH names a provider', 'first >= 0 && ', ''],
    ['a second NUL of OP_AUTH', ' && payload.indexOf(0, first + 1) < 0', ''],
  ]),
  ...mutantsOf('nyxdb-edge/src/response.ts', frames, [
    [
      'the shape of a response',
      "if (fault !== undefined) return fault === 'over-cap'",
      "if (false) return fault === 'over-cap'",
    ],
    [
      'what the zero id may say',
      "return isRevocation(message) ? 'revoked' : 'engine-protocol';",
      'return undefined;',
    ],
  ]),
  ...mutantsOf(
    'nyxdb-edge/src/relay.ts',
    [...frames, 'nyxdb-edge/life', 'nyxdb-edge/engine', 'nyxdb-edge/pressure'],
    [
      [
        'text messages of a client',
        "isBinary ? this.#take(data as Buffer) : 'text-message'",
        'this.#take(data as Buffer)',
      ],
      ['a second OP_AUTH', "if (operation === OP_AUTH && this.#authAsked) return 'operation';", ''],
      ['the bound on what is held', "? undefined : 'too-early'", '? undefined : undefined'],
      ['that a revocation ends both', 'return reason ?? (', 'return ('],
      ['the end of its life', "this.#after(lifeMs, () => this.retire('renew'));", ''],
      [
        'that it ends when its last answer came',
        '(this.#unanswered > 0 ? undefined : this.#retiring)',
        'undefined',
      ],
      [
        'the time to authenticate',
        "this.#after(settings.deadlines.authMs, () =>\n        this.#endFor(this.#authAsked ? undefined : 'unauthenticated'),\n      );",
        '{}',
      ],
      ['that its engine goes with it', 'this.#engine.end();', ''],
    ],
  ),
  ...mutantsOf(
    'nyxdb-edge/src/engine.ts',
    ['nyxdb-edge/engine', ...frames],
    [
      [
        'that an ended relay opens nothing',
        "if (this.#state === 'ended') return;\n        if (unverified",
        'if (unverified',
      ],
      ['that a person without a token is told', "this.#events.onFailed('no-token');\n          return;", ''],
      [
        'text messages of an engine',
        "if (!isBinary) this.#events.onFailed('engine-protocol');\n    else if",
        'if',
      ],
      [
        'the verdict on its authentication',
        'if (failed === undefined) this.#ready(socket);',
        'if (true) this.#ready(socket);',
      ],
      ['the cap on a response in ws', 'maxPayload: limits.maxResponseBytes + HEADER_BYTES,', ''],
    ],
  ),
  ...mutantsOf(
    'nyxdb-edge/src/pump.ts',
    ['nyxdb-edge/pressure'],
    [
      ['that a writer is paused', 'this.#from.pause();', ''],
      ['that a writer goes on', 'this.#from.resume();', ''],
      ['the time for a stalled side', 'this.#stop = clock.after(deadlines.stalledMs, this.#onStalled);', ''],
    ],
  ),
  ...mutantsOf(
    'nyxdb-edge/src/heartbeat.ts',
    ['nyxdb-edge/life'],
    [
      ['who answers no ping', 'onGone();\n      return;', ''],
      ['that a busy side may answer late', 'mayBeBusy() ? 0 : missed + 1', 'missed + 1'],
      ['that a pong counts', 'missed = 0;\n  });', '});'],
    ],
  ),
];
