import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is read of the README of a package. */
export interface Readme {
  readonly text: string;
  readonly title: string;
  /** The TypeScript blocks, as they stand. */
  readonly examples: readonly string[];
  /** The tables under "Names of", one for each door. */
  readonly tables: readonly {
    readonly door: string;
    /** What stands between the heading and its table. */
    readonly prose: string;
    readonly names: readonly string[];
  }[];
  /** Where its links lead, those to other sites left out. */
  readonly links: readonly string[];
}

export function readReadme(folder: string): Readme {
  const text = readFileSync(join(folder, 'README.md'), 'utf8');
  const sections = text.split(/^###? /m).slice(1);
  return {
    text,
    title: /^# (.+)$/m.exec(text)?.[1] ?? '',
    examples: [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? ''),
    tables: sections.flatMap((section) => {
      const door = /^Names of `([^`]+)`$/m.exec(section)?.[1];
      if (door === undefined) return [];
      const [prose = '', ...rows] = section.split(/^\|/m);
      // The first cell of each row after the header and its rule.
      const cells = rows.slice(2).map((row) => row.split('|')[0] ?? '');
      return {
        door,
        prose,
        names: cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((m) => m[1] ?? '')),
      };
    }),
    links: [...text.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map((match) => match[1] ?? ''),
  };
}
