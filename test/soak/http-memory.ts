import { createRuntime } from '@nn-runtime/core';
import { claims, environment, headerOf, makeKey, signParts } from '../tokens.js';

/** A fresh process that verifies 10,000 people and tells how much more it holds: `heapBytes` of them, and in all. */
const PEOPLE = 10_000;
const key = makeKey('environment');
const env = environment([key]);

/** Each token is made for its one use; what the runtime keeps of it is what is measured. */
async function verify(count: number) {
  const runtime = createRuntime({ env, maxIdentities: PEOPLE });
  for (let person = 0; person < count; person++) {
    const changes = {
      sub: `person-${person}`,
      name: `Person Number ${person}`,
      email: `person-${person}@example.org`,
    };
    const payload = JSON.stringify(claims(changes, Date.now()));
    await runtime.authenticate(signParts(key, JSON.stringify(headerOf(key)), payload));
  }
  return runtime;
}

function held(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

// Code and its caches are there before anything is measured.
await (await verify(500)).close();
const beforeBytes = held();
const runtime = await verify(PEOPLE);
const afterBytes = held();
process.send?.({ identities: runtime.status().identities, beforeBytes, afterBytes });
await runtime.close();
