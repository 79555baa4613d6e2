import { styleText } from 'node:util';
import type { Exchange } from './journal.js';

/** Where lines go: colours only for a terminal, and as NO_COLOR, FORCE_COLOR and TERM have it. */
type Stream = NodeJS.WritableStream;
type Style = Parameters<typeof styleText>[0];

export const painted = (style: Style, text: string, stream: Stream): string =>
  styleText(style, text, { stream, validateStream: true });

const maxPathLength = 200;

/**
 * One exchange as a line: `12:30:05 edge   GET  200 /api/me  ana@example.org  3 ms`.
 *
 * A path and a name are strangers' text: what a terminal would take for a command is spelled out.
 */
export function logLine(exchange: Exchange, stream: Stream): string {
  const { startedAt, part, method, statusCode, path, person, durationMs, code, complete } = exchange;
  const who = person?.email ?? person?.preferred_username ?? person?.sub;
  const status = statusCode === undefined ? '---' : String(statusCode);
  const shown = printable(path);
  const words = [
    painted('dim', startedAt.toTimeString().slice(0, 8), stream),
    part.padEnd(6),
    method.padEnd(4),
    painted(statusStyle(statusCode), status, stream),
    shown.length > maxPathLength ? `${shown.slice(0, maxPathLength)}…` : shown,
    who === undefined ? painted('dim', ' anonymous', stream) : painted('cyan', ` ${printable(who)}`, stream),
    painted('dim', ` ${Math.round(durationMs)} ms`, stream),
  ];
  if (code !== undefined) words.push(painted('yellow', ` ${code}`, stream));
  if (!complete) words.push(painted('yellow', ' broken off', stream));
  return `${words.join(' ')}\n`;
}

function statusStyle(statusCode: number | undefined): Style {
  if (statusCode === undefined || statusCode >= 500) return 'red';
  if (statusCode >= 400) return 'yellow';
  return statusCode >= 300 ? 'cyan' : 'green';
}

const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Z}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
