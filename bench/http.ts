import { type ChildProcess, fork } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { claims, environment, headerOf, makeKey, signParts } from '../test/tokens.js';
import { type CpuAnswer, SERVER_KINDS, type ServerKind } from './http-server.js';
import { median } from './measure.js';
import { machine, table, targetTable } from './turns.js';

/** What checking an identity costs a server, beside the server that checks nothing and beside other libraries. */

const CONNECTIONS = 32;
const PEOPLE = 200;

interface Server {
  readonly kind: ServerKind;
  readonly child: ChildProcess;
  readonly url: string;
}

interface Turn {
  readonly requestsPerSecond: number;
  /** CPU of the server's process, per request. */
  readonly cpuMicroseconds: number;
}

const key = makeKey('k1');

async function start(kind: ServerKind): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'http-server.ts'), [kind], {
    execArgv: ['--import=tsx'],
    env: {
      ...process.env,
      ...environment([key]),
      NODE_ENV: 'production',
      BENCH_PEM: createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' }).toString(),
    },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { kind, child, url: `http://127.0.0.1:${port}/me` };
}

async function cpuOf({ child }: Server): Promise<number> {
  child.send('cpu');
  const [answer] = (await once(child, 'message')) as [CpuAnswer];
  return answer.cpuMicroseconds;
}

async function turn(server: Server, people: readonly string[], seconds: number): Promise<Turn> {
  const before = await cpuOf(server);
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: seconds,
    requests: people.map((identity) => ({
      // Each library finds the identity where it looks for it; the bare server has to read as much.
      headers: { 'x-nnumbers-identity': identity, authorization: `Bearer ${identity}` },
    })),
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${server.kind}: ${result.non2xx} refused`);
  const requests = result['2xx'];
  return {
    requestsPerSecond: requests / result.duration,
    cpuMicroseconds: ((await cpuOf(server)) - before) / requests,
  };
}

export async function run(): Promise<void> {
  const rounds = Number(process.env.ROUNDS ?? 7);
  const seconds = Number(process.env.TURN_S ?? 2);
  const people = Array.from({ length: PEOPLE }, (_, index) =>
    signParts(
      key,
      JSON.stringify(headerOf(key)),
      JSON.stringify(
        claims({ sub: `person-${index}`, exp: Math.floor(Date.now() / 1000) + 3_000 }, Date.now()),
      ),
    ),
  );
  const servers = await Promise.all(SERVER_KINDS.map(start));
  const turns = new Map<ServerKind, Turn[]>();
  try {
    // The first round warms up.
    for (let round = -1; round < rounds; round += 1) {
      for (const server of servers) {
        const taken = await turn(server, people, seconds);
        if (round >= 0) turns.set(server.kind, [...(turns.get(server.kind) ?? []), taken]);
      }
    }
  } finally {
    for (const { child } of servers) child.disconnect();
  }
  const of = (kind: ServerKind): Turn => {
    const taken = turns.get(kind) ?? [];
    return {
      requestsPerSecond: median(taken.map((each) => each.requestsPerSecond)),
      cpuMicroseconds: median(taken.map((each) => each.cpuMicroseconds)),
    };
  };
  const bareOf = (kind: ServerKind): Turn =>
    of(kind.startsWith('Fastify') ? 'Fastify, bare' : 'Express, bare');
  console.log(
    table(
      ['server', 'requests/s', 'of bare', 'server CPU µs/request', 'of bare (CPU)'],
      SERVER_KINDS.map((kind) => {
        const [own, bare] = [of(kind), bareOf(kind)];
        return [
          kind,
          own.requestsPerSecond.toFixed(0),
          (own.requestsPerSecond / bare.requestsPerSecond).toFixed(2),
          own.cpuMicroseconds.toFixed(1),
          (bare.cpuMicroseconds / own.cpuMicroseconds).toFixed(2),
        ];
      }),
    ),
  );
  const rate = (kind: ServerKind): number => of(kind).requestsPerSecond;
  console.log(
    `\n${targetTable([
      ['Fastify with hits, of bare', rate('Fastify, ours') / rate('Fastify, bare'), 0.85],
      ['Express with hits, of bare', rate('Express, ours') / rate('Express, bare'), 0.85],
      ['Fastify with hits, × @fastify/jwt', rate('Fastify, ours') / rate('Fastify, @fastify/jwt'), 2],
      [
        'Express with hits, × express-oauth2-jwt-bearer',
        rate('Express, ours') / rate('Express, express-oauth2-jwt-bearer'),
        2,
      ],
    ])}\n\n${machine()}`,
  );
}
