import { writeCells } from './nyxdb-tsv.js';

type Row = readonly string[];

/** Beyond this many comparisons the shortest way from one to the other is not looked for. */
const maxComparisons = 250_000;

/**
 * The positional deltas that make `after` of `before`, one line each (design N10): `+ TAB index TAB cells`,
 * `- TAB index`, `~ TAB index TAB cells`. Each index counts after the lines before it.
 *
 * @throws RequestError for a cell that is not representable
 */
export function diff(before: readonly Row[], after: readonly Row[]): string[] {
  const old = before.map((row) => row.join('\t'));
  const fresh = after.map((row) => row.join('\t'));
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let tail = 0;
  const shorter = Math.min(old.length, fresh.length) - start;
  while (tail < shorter && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;

  const kept = common(old.slice(start, old.length - tail), fresh.slice(start, fresh.length - tail));
  const lines: string[] = [];
  let oldAt = start;
  let at = start;
  for (const [keptOld, keptFresh] of [...kept, [old.length - tail - start, fresh.length - tail - start]]) {
    const oldEnd = start + (keptOld ?? 0);
    const end = start + (keptFresh ?? 0);
    for (; oldAt < oldEnd && at < end; oldAt++, at++) lines.push(`~\t${at}\t${cells(after, at)}`);
    for (; at < end; at++) lines.push(`+\t${at}\t${cells(after, at)}`);
    for (; oldAt < oldEnd; oldAt++) lines.push(`-\t${at}`);
    // The kept row itself stays where it is.
    oldAt++;
    at++;
  }
  return lines;
}

const cells = (rows: readonly Row[], index: number): string => writeCells(rows[index] ?? []);

/** A longest common subsequence, as pairs of places. */
function common(old: readonly string[], fresh: readonly string[]): [number, number][] {
  const width = fresh.length + 1;
  if (old.length * fresh.length > maxComparisons) return [];
  const longest = new Uint32Array((old.length + 1) * width);
  const length = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      longest[i * width + j] =
        old[i] === fresh[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < old.length && j < fresh.length; ) {
    if (old[i] === fresh[j]) pairs.push([i++, j++]);
    else if (length(i + 1, j) >= length(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}
