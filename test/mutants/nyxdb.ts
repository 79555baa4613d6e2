import { type Mutant, mutantsOf } from './mutant.js';

const calls = ['nyxdb/connection', 'nyxdb/execute'];
const streams = ['nyxdb/subscribe', 'nyxdb/replica', 'nyxdb/reentry'];

/** The checks of the NYXDB client on what it is given and what comes over the wire. */
export const nyxdbMutants: readonly Mutant[] = [
  ...mutantsOf(
    'nyxdb/src/decode.ts',
    ['nyxdb/frames', ...calls],
    [
      ['the shortest frame', "if (actual < 0) throw new FrameError('short-frame');", ''],
      [
        'the cap on a frame',
        "if (Math.max(declared, actual) > maxPayloadBytes) throw new FrameError('over-cap');",
        '',
      ],
      ['the declared length under the cap', 'Math.max(declared, actual)', 'actual'],
      ['the real length under the cap', 'Math.max(declared, actual)', 'declared'],
      [
        'that both lengths agree',
        "if (actual !== declared) throw new FrameError(actual < declared ? 'truncated' : 'trailing-bytes');",
        '',
      ],
      ['strict UTF-8', 'fatal: true', 'fatal: false'],
      ['a leading U+FEFF', 'ignoreBOM: true', 'ignoreBOM: false'],
      ['the length of what is compared', 'one.length === other.length && ', ''],
      [
        'all bytes but the first of what is compared',
        'one.every((byte, index) => byte === other[index])',
        'one[0] === other[0]',
      ],
    ],
  ),
  ...mutantsOf(
    'nyxdb/src/ids.ts',
    ['nyxdb/frames'],
    [
      ['that no request has the zero id', 'if (!isZero(id)) return id;', 'return id;'],
      ['that ids are copies', 'pool.slice(', 'pool.subarray('],
      ['that the pool is wiped', 'pool.fill(0);', ''],
    ],
  ),
  ...mutantsOf(
    'nyxdb/src/payload.ts',
    ['nyxdb/frames', 'nyxdb/execute'],
    [
      ['that a parameter is text', "must(typeof value === 'string',", 'must(true,'],
      ['that a name has something in it', 'must(value || mayBeEmpty,', 'must(true,'],
      ['NUL in a field', "!value.includes('\\0') && ", ''],
      ['lone surrogates', ' && !LONE_SURROGATE.test(value)', ''],
      ['that parameters are an array', "must(Array.isArray(parameters), 'parameters must be an array');", ''],
    ],
  ),
  ...mutantsOf(
    'nyxdb/src/tsv.ts',
    ['nyxdb/frames', ...calls],
    [
      ['the header', "if (end === 0) throw new FrameError('tsv-no-header');", ''],
      [
        'the final LF where it is required',
        "if (rules.finalLf === 'required' && !text.endsWith('\\n')) throw new FrameError('tsv-final-lf');",
        '',
      ],
      [
        'the limit of columns',
        "if (columns.length > limits.maxColumns) throw new FrameError('over-cap');",
        '',
      ],
      ['the limit of rows', "if (rows.length >= limits.maxRows) throw new FrameError('over-cap');", ''],
      ['rows that are too narrow', "if (tab >= lineEnd) throw new FrameError('tsv-columns');", ''],
      ['rows that are too wide', "if (tab < lineEnd) throw new FrameError('tsv-columns');", ''],
    ],
  ),
  ...mutantsOf(
    'nyxdb/src/answer.ts',
    [...calls, 'nyxdb/cancel'],
    [
      ['the whole success body', 'if (sameBytes(payload, AUTHENTICATED)) return null;', 'return null;'],
      [
        'an application error where authentication is answered',
        "if (code === 'APPLICATION_ERROR') throw new FrameError('contradictory');",
        '',
      ],
      ['own names of the profile', 'Object.hasOwn(profile.errors, key)', 'true'],
      ['the status of an authentication', 'if (status !== STATUS_ERROR) refuseStatus(status, profile);', ''],
      ['the one LF after an error', "text.replace(/\\n$/, '')", 'text'],
      ['the end of an acknowledgement', '\\n?$/;', '/;'],
      ['the zero of an acknowledgement', '|0\\t0)', '|0\\t[01])'],
    ],
  ),
  ...mutantsOf(
    'nyxdb/src/channel.ts',
    [...calls, 'nyxdb/revocation', 'nyxdb/cancel', 'nyxdb/subscribe'],
    [
      ['binaryType', "socket.binaryType = 'arraybuffer';", ''],
      [
        'that a dead socket is not heard',
        "if (channel.state === 'dead') return;\n    let isCompleted",
        'let isCompleted',
      ],
      ['text messages', "if (typeof data === 'string') throw new FrameError('text-message');", ''],
      [
        'messages that are no ArrayBuffer',
        "if (String(data) !== '[object ArrayBuffer]') throw new FrameError('not-arraybuffer');",
        '',
      ],
      ['request ids', 'request !== undefined && sameBytes(request.id, requestId)', 'request !== undefined'],
      ['unmatched frames', "if (!isMatched) throw new FrameError('unmatched');", ''],
      ['the id of a revocation', '(isMatched || isZero(requestId)) &&', ''],
      ['the status of a revocation', 'status === STATUS_ERROR &&', ''],
      ['the body of a revocation', 'sameBytes(payload, REVOKED)', 'true'],
      ['that nothing is revoked before authentication', "channel.state !== 'connecting' &&", ''],
      ['that a finished request is forgotten', 'request = undefined;\n', '\n'],
      [
        'that a given-up socket takes nothing new',
        "if (channel.state === 'draining') end();\n      else ",
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'nyxdb/src/link.ts',
    ['nyxdb/revocation', 'nyxdb/connection'],
    [
      ['that a revoked token is remembered', 'revoked.add(principal);', ''],
      ['whose sockets a revocation ends', 'if (channel.principal === principal) channel.end', 'channel.end'],
    ],
  ),
  ...mutantsOf(
    'nyxdb/src/connect.ts',
    [...calls, 'nyxdb/revocation'],
    [
      [
        'the look at revoked tokens',
        "if (principal && link.revoked.has(principal)) throw link.error({ code: 'AUTH_REVOKED' }, 'not-sent');",
        '',
      ],
      ['that a failed authentication ends there', "if (code) throw link.error({ code }, 'not-sent');", ''],
    ],
  ),
  ...mutantsOf('nyxdb/src/replica.ts', streams, [
    ['whole indexes', 'index >>> 0 !== index || ', ''],
    ['the end of the rows', ' || index >= length', ''],
    [
      'the width of a row',
      "else if (Object.freeze(row).length !== replica.columns?.length) throw new FrameError('delta-width');",
      'else Object.freeze(row);',
    ],
    ['frozen rows of a delta', 'Object.freeze(row).length', 'row.length'],
    ['frozen rows of a snapshot', 'rows.forEach(Object.freeze);', ''],
    ['the limit of rows', "if (length > maxRows) throw new FrameError('over-cap');", ''],
    ['that a view is safe from later frames', 'epoch++;', ''],
  ]),
  ...mutantsOf('nyxdb/src/development.ts', streams, [
    [
      'the end of a line',
      "if (end < 0) throw new FrameError('delta-grammar');",
      'if (end < 0) end = payload.length;',
    ],
    ['the grammar of a line', "if (!LINE.test(line)) throw new FrameError('delta-grammar');", ''],
    ['the spelling of an index', "if (String(index) !== place) throw new FrameError('delta-index');", ''],
  ]),
  ...mutantsOf('nyxdb/src/stream.ts', streams, [
    ['that deltas need a snapshot', "else if (!live) throw new FrameError('delta-before-snapshot');", ''],
    ["that the stream's own end is no loss", 'channel.onDead = undefined;', ''],
    ['which statuses a stream has', '?? refuseStatus(status, profile)', "?? 'snapshot'"],
  ]),
  ...mutantsOf('nyxdb/src/subscription.ts', streams, [
    ['the limit of rebuilds', 'if (rebuiltMs.length > backoff.rebuildsPerMinute)', 'if (false)'],
    ['that what cannot pass is final', 'else if (!isPassing(error.code)) return end(error);', ''],
    ['that a lost state is stale', 'stale = true;\n    };', '};'],
    ['since when it is lost', 'if (generation !== former) lostMs = nowMs;', ''],
    ['that an ended state is stale', 'stale ||= error !== null;', ''],
    ["that the stream's own end leaves a state", 'stale ||= error !== null;', 'stale = true;'],
    ['that it ends once', 'if (over) return;\n    over', 'over'],
    ['that a failure is told to every reader', 'if (result.done && failure) throw failure;', ''],
    ['the wait for its socket', 'await scope.channel?.closed;', ''],
    ['that a client knows its subscriptions', 'subscriptions.add(subscription);', ''],
    ['the time until it gives up', 'if (nowMs + delayMs - lostMs >= backoff.totalMs) return end(error);', ''],
  ]),
  ...mutantsOf(
    'nyxdb/src/execute.ts',
    [...calls, 'nyxdb/cancel'],
    [
      ['what may be repeated', "error.code !== 'BUSY' || ", ''],
      ['how often it is repeated', 'sends >= backoff.busyAttempts || ', ''],
      ['the time for repeating it', ' || clock.now() + delayMs >= endsAtMs', ''],
      ['the cancellation', "if (channel.state === 'busy') void cancelRequest(link, channel, id);", ''],
    ],
  ),
  ...mutantsOf(
    'nyxdb/src/options.ts',
    ['nyxdb/options'],
    [
      ['unknown options', 'must(odd === undefined,', 'must(true,'],
      [
        'that ws: is for loopback',
        "must(protocol === 'wss:' || isTrusted, 'url must be wss: or trustedNetwork: true');",
        '',
      ],
      [
        'that the development profile is for loopback',
        "must(isAnywhere, 'allowDevelopmentProfile must be true off loopback');",
        '',
      ],
      ['names of limits', 'Object.hasOwn(defaults, name) && ', ''],
      ['the largest number', ' && value < 2 ** 31', ''],
    ],
  ),
];
