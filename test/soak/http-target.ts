import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../random.js';
import { environment } from '../tokens.js';
import { KINDS, type Kind, type Shot, type Weather } from './http-answer.js';
import { SoakBroker } from './http-broker.js';
import { ask, reset, Unanswered } from './http-client.js';
import { People } from './http-people.js';
import type { ServerStats } from './http-server.js';

const CONNECTIONS = 100;
/** One request in so many is given up by its client. */
const RESETS = 25;
/** How many queries are under way when the server is asked to end. */
const IN_FLIGHT = 10;

/** One framework under load: its process, its broker, its people, and what was seen. */
export class Target {
  readonly name: string;
  readonly broker: SoakBroker;
  readonly faults: string[] = [];
  readonly counts: Record<Kind, { sent: number; persons: number; refused: number }>;
  /** Answers of 5xx by their code. */
  readonly unavailable = new Map<string, number>();
  resets = 0;
  /** Requests after SIGTERM on a connection that nobody took: refused, or reset by the system when it was waiting to be taken. */
  readonly turnedAway = { refused: 0, waiting: 0 };
  exitMs = Number.NaN;
  weather: Weather | undefined = { clockOffsetMs: 0, brokerSinceMs: 0, goodSinceMs: Date.now() };
  readonly #startedMs = performance.now();
  readonly #people: People;
  readonly #random: Random;
  readonly #server: ChildProcess;
  readonly #agents: Agent[] = [];
  #port = 0;
  #isEnding = false;
  #isOver = false;

  private constructor(name: string, random: Random, broker: SoakBroker) {
    this.name = name;
    this.#random = random;
    this.broker = broker;
    this.#people = new People(broker, random);
    const count = () => ({ sent: 0, persons: 0, refused: 0 });
    this.counts = Object.fromEntries(KINDS.map((kind) => [kind, count()])) as typeof this.counts;
    this.#server = fork(
      new URL('./http-server.ts', import.meta.url),
      [name, process.env.SOAK_FAULT ?? 'none'],
      {
        execArgv: ['--expose-gc', '--import=tsx'],
        env: {
          ...process.env,
          ...environment([this.#people.environmentKey], broker.url),
          NODE_ENV: 'production',
        },
      },
    );
  }

  static async start(name: string, random: Random): Promise<Target> {
    const broker = new SoakBroker(random);
    await broker.start();
    const target = new Target(name, random, broker);
    const [{ port }] = (await once(target.#server, 'message')) as [{ readonly port: number }];
    target.#port = port;
    return target;
  }

  async stats(): Promise<ServerStats> {
    return (await this.#ask('stats')) as ServerStats;
  }

  /** Changes the weather: while it changes, and for what is under way, each of its answers is right. */
  async change(to: Partial<Weather>, how: () => Promise<void> | void): Promise<void> {
    const former = this.weather;
    this.weather = undefined;
    await how();
    if (former !== undefined) this.weather = { ...former, ...to };
  }

  setClock(clockOffsetMs: number): Promise<void> {
    return this.change({ clockOffsetMs }, async () => {
      await this.#ask({ clockOffsetMs });
    });
  }

  /** Cuts every connection of the broker; `start` takes it back up. */
  killBroker(): Promise<void> {
    const never = Number.POSITIVE_INFINITY;
    return this.change({ brokerSinceMs: never, goodSinceMs: never }, () => this.broker.kill());
  }

  async startBroker(): Promise<void> {
    await this.broker.start();
    await this.change({ brokerSinceMs: Date.now(), goodSinceMs: Date.now() }, () => {});
  }

  /** What the broker publishes from now on. */
  setKeys(state: 'good' | 'garbage'): Promise<void> {
    const goodSinceMs = state === 'good' ? Date.now() : Number.POSITIVE_INFINITY;
    return this.change({ goodSinceMs }, () => {
      this.broker.keysState = state;
    });
  }

  /** The load. Resolves when `end()` ended it. */
  async load(): Promise<void> {
    await Promise.all(
      Array.from({ length: CONNECTIONS }, () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        this.#agents.push(agent);
        return this.#client(agent);
      }),
    );
  }

  /** SIGTERM under load: what is in flight must be answered, and the process be gone within five seconds. */
  async end(): Promise<void> {
    const exit = once(this.#server, 'exit');
    const shots = Array.from({ length: IN_FLIGHT }, () => this.#people.query());
    this.broker.hold(shots.map(({ number }) => number));
    // By clients of their own, that would stay.
    const agent = new Agent({ keepAlive: true });
    this.#agents.push(agent);
    const inFlight = shots.map((shot) => this.#shoot(agent, shot, true));
    for (let tries = 0; tries < 400 && this.broker.heldCount < IN_FLIGHT; tries++) await pause(25);
    if (this.broker.heldCount < IN_FLIGHT)
      this.#report('the queries that were to be in flight did not arrive');
    this.#isEnding = true;
    const askedMs = performance.now();
    this.#server.kill('SIGTERM');
    await pause(500);
    this.broker.release();
    await Promise.all(inFlight);
    const ended = await Promise.race([exit, pause(30_000, undefined, { ref: false })]);
    this.exitMs = performance.now() - askedMs;
    this.#isOver = true;
    if (ended === undefined) this.#server.kill('SIGKILL');
    const [code, signal] = ended ?? [undefined, 'none in 30 s'];
    if (code !== 0) this.#report(`ended with ${String(code ?? signal)} after SIGTERM`);
    if (this.exitMs > 5_000) this.#report(`ended ${this.exitMs.toFixed(0)} ms after SIGTERM`);
  }

  /** Ends the load and lets the clients go; the server stays. */
  async rest(loading: Promise<void>): Promise<void> {
    this.#isOver = true;
    await loading;
    for (const agent of this.#agents.splice(0)) agent.destroy();
    this.#isOver = false;
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) agent.destroy();
    await this.broker.kill();
  }

  report(fault: string): void {
    this.#report(fault);
  }

  async #client(agent: Agent): Promise<void> {
    while (!this.#isOver) {
      const shot = this.#people.draw();
      if (this.#random.integer(RESETS) === 0) {
        this.resets++;
        await reset(this.#port, agent, shot, this.#random.integer(4));
      } else if (!(await this.#shoot(agent, shot, false))) return;
      // A server that answers at once must not keep the others from their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Whether it was answered. */
  async #shoot(agent: Agent, shot: Shot, mustBeAnswered: boolean): Promise<boolean> {
    const count = this.counts[shot.kind];
    const sentIn = this.weather;
    count.sent++;
    try {
      const answer = await ask(this.#port, agent, shot);
      if (answer.body.kind === 'person') count.persons++;
      if (answer.status === 401) count.refused++;
      if (answer.status >= 500) {
        const what = `${answer.status} ${String(answer.body.code)}`;
        this.unavailable.set(what, (this.unavailable.get(what) ?? 0) + 1);
      }
      const fault = shot.fault(answer, sentIn === this.weather ? sentIn : undefined);
      if (fault !== undefined) this.#report(`${shot.kind}: ${fault}`);
      return true;
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      // On a connection that brought an answer before, the server must answer or have said that there is no next one.
      const { code } = error.cause as { readonly code?: unknown };
      if (this.#isEnding && !mustBeAnswered && !error.isCut && !error.isKept)
        this.turnedAway[code === 'ECONNREFUSED' ? 'refused' : 'waiting']++;
      else this.#report(`${shot.kind}: ${error.message}: ${String(error.cause)}`);
      return false;
    }
  }

  #report(fault: string): void {
    const atSeconds = (performance.now() - this.#startedMs) / 1000;
    this.faults.push(`${this.name}, at ${atSeconds.toFixed(1)} s: ${fault}`);
  }

  async #ask(what: 'stats' | { readonly clockOffsetMs: number }): Promise<unknown> {
    const answer = once(this.#server, 'message');
    this.#server.send(what);
    return (await answer)[0];
  }
}
