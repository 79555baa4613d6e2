/** One way of reading one answer, in a process of its own: prints its peak memory in MiB, and what of it came after the body was read. */

import { readFileSync } from 'node:fs';
import { WAYS } from './query-ways.js';

const [way = '', file = ''] = process.argv.slice(2);
const body = readFileSync(file);
const before = process.memoryUsage.rss();
const kept = WAYS[way]?.(body);
const peak = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ peak: peak / 2 ** 20, above: (peak - before) / 2 ** 20, kept: typeof kept }));
