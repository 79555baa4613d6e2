import { frameworks } from './frameworks.js';
import { NOW_MS } from './tokens.js';

/**
 * One application in a process of its own: `serve.ts <framework>`. Everything it writes is for its parent to read; it tells its port
 * first, logs at level trace where the framework has a log, and ends when its standard input does.
 */
const framework = frameworks.find(({ name }) => name === process.argv[2]);
if (framework === undefined) throw new Error('which framework?');
const onRefused = (refusal: unknown): void => console.log(refusal);
const app = await framework.start({ now: () => NOW_MS, onRefused }, { log: process.stdout });
console.log(`port ${app.port}`);
process.stdin.resume().on('end', () => app.close());
