/**
 * A clock that never goes back, from one that may: what was set back is left out, so that ages and pauses
 * keep what they had. Otherwise whoever sets the clock back an hour lends withdrawn keys another hour.
 * @param now milliseconds since the epoch, or since anything else.
 */
export function steadyClock(now: () => number): () => number {
  let lastMs = now();
  let leftOutMs = 0;
  return () => {
    const ms = now();
    if (ms < lastMs) leftOutMs += lastMs - ms;
    lastMs = ms;
    return ms + leftOutMs;
  };
}
