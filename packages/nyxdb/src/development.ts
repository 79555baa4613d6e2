import { decodeText } from './decode.js';
import { FrameError } from './fault.js';
import { type Delta, documentedProfile, type EngineProfile, errorTexts } from './profile.js';
import { parseTsv } from './tsv.js';

const LF = 0x0a;
const LINE = /^(?:-\t[^\t]+$|[+~]\t[^\t]+\t)/;

/**
 * Lines of `+ TAB index TAB cells`, `- TAB index` and `~ TAB index TAB cells`, each ended by LF. Ours: the contract speaks of
 * positional deltas and publishes no layout.
 */
function readDeltas(payload: Uint8Array): Delta[] {
  const deltas: Delta[] = [];
  let end: number;
  for (let start = 0; start < payload.length || start === 0; start = end + 1) {
    end = payload.indexOf(LF, start);
    if (end < 0) throw new FrameError('delta-grammar');
    // Line by line: cells of one text for the whole frame would keep it as long as any of them stays in the replica.
    const line = decodeText(payload.subarray(start, end));
    if (!LINE.test(line)) throw new FrameError('delta-grammar');
    const [op, place, ...row] = line.split('\t') as [Delta['op'], string, ...string[]];
    // A place that is no number is an impossible one: the state is rebuilt rather than guessed at.
    // Only its one canonical spelling is a number; one that is no index, such as -1 or NaN, the replica refuses.
    const index = Number(place);
    if (String(index) !== place) throw new FrameError('delta-index');
    deltas.push({ op, index, row });
  }
  return deltas;
}

/**
 * What this project's own development engine speaks. The contract leaves the status table and the bodies of subscriptions out,
 * so these are ours, with statuses so implausible that a mix-up with a real engine fails at once.
 */
export const developmentProfile: EngineProfile = Object.freeze({
  ...documentedProfile,
  revision: 'development 1',
  provenance: 'development',
  errors: Object.freeze({
    ...documentedProfile.errors,
    ...errorTexts(
      'dev: ',
      'not-run',
      'not authenticated',
      'unknown endpoint',
      'not granted',
      'quota exceeded',
    ),
    ...errorTexts('dev: ', 'unknown', 'query failed', 'cancelled'),
    // Run to its end, for nothing.
    ...errorTexts('dev: ', 'completed', 'result too large', 'cell not representable'),
  }),
  subscription: Object.freeze({
    statuses: Object.freeze({ 208: 'snapshot', 209: 'delta', 223: 'end' } as const),
    readSnapshot: (payload, limits) => parseTsv(decodeText(payload), documentedProfile.tsv, limits),
    readDeltas,
  } satisfies EngineProfile['subscription']),
});
