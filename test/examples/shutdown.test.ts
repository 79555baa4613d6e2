// How each example ends when it is asked to: real processes, real sockets, and clients that would stay.
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createTestBroker, type TestBroker, testPeople } from '@nn-runtime/dev/testing';
import t, { type Test } from 'tap';
import { ask } from '../http.js';
import { runModule } from '../module-process.js';
import { RawConnection, requestText } from '../raw-http.js';
import { type Application, examples, refusesConnections, start } from './application.js';

const peru = { columns: [{ name: 'name', type: 'varchar' }], rows: [['PERU']] };
/** More than the buffers of two sockets hold. */
const large = { ...peru, rows: Array.from({ length: 60 }, () => ['x'.repeat(100_000)]) };

interface Ending extends Application {
  readonly broker: TestBroker;
  /** The headers of a signed-in person. */
  readonly ana: Readonly<Record<string, string>>;
  /** Sends SIGTERM, and resolves once it listens no longer. */
  end(): Promise<void>;
  /** Its exit code, or the signal that ended it, and how long after SIGTERM that was. */
  readonly ended: Promise<{ readonly code: unknown; readonly afterMs: number }>;
}

async function started(t: Test, app: string): Promise<Ending> {
  const broker = await createTestBroker();
  t.teardown(() => broker.close());
  const application = await start(app, broker.env);
  t.teardown(() => application.child.kill('SIGKILL'));
  let askedMs = Number.NaN;
  return {
    ...application,
    broker,
    ana: broker.identities.headers(testPeople.ana),
    async end() {
      askedMs = performance.now();
      application.child.kill('SIGTERM');
      await refusesConnections(application.port);
    },
    ended: once(application.child, 'exit').then(([code, signal]) => ({
      code: code ?? signal,
      afterMs: performance.now() - askedMs,
    })),
  };
}

/** One connection of a client that does not behave. */
async function open(t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  // It is reset when the process ends.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** A connection that is kept after an answer, by a client that asks nothing more. */
async function keep(t: Test, port: number): Promise<Socket> {
  const socket = await open(t, port);
  socket.write(requestText([], '/api/me'));
  await once(socket, 'data');
  return socket;
}

const linesOf = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

/** A client that has its next request ready, on one connection, until an answer is the last; fails for a request without an answer. */
async function saturate(
  connection: RawConnection,
  headers: readonly string[],
  path: string,
  onAnswer: () => void,
) {
  for (;;) {
    const answer = await connection.request(headers, path);
    if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
    onAnswer();
    if (answer.headers.connection === 'close') return;
  }
}

for (const { app, framework } of examples) {
  t.test(`${framework}: what was asked is answered, and a second signal changes nothing`, async (t) => {
    const { url, port, child, broker, ana, end, ended } = await started(t, app);
    const agent = new Agent({ keepAlive: true });
    t.teardown(() => agent.destroy());
    const [kept, begun] = await Promise.all([RawConnection.open(port), RawConnection.open(port)]);
    t.teardown(() => {
      kept.close();
      begun.close();
    });
    t.equal((await kept.request([], '/api/me')).headers.connection, 'keep-alive');
    begun.write('GET /api/me HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    const held = broker.hold();
    const inFlight = ask(`${url}/api/nations`, { headers: ana, agent });
    await held.arrived;

    await end();
    child.kill('SIGTERM');
    child.kill('SIGINT');
    begun.write('\r\n');
    const asked = kept.request([], '/api/me');
    held.answer(peru);
    const [next, late, answer] = await Promise.all([asked, begun.answer(), inFlight]);
    t.match(next, { body: '{"kind":"anonymous"}', headers: { connection: 'close' } }, 'on a kept connection');
    t.match(late, { body: '{"kind":"anonymous"}', headers: { connection: 'close' } }, 'where it had begun');
    t.equal(answer.status, 200);
    t.same(answer.json(), peru);
    t.equal(answer.headers.connection, 'close');
    const { code, afterMs } = await ended;
    t.equal(code, 0);
    t.ok(afterMs < 5_000, `after ${afterMs} ms`);
  });

  t.test(`${framework}: clients that ask without a pause see no request lost`, async (t) => {
    const { url, port, broker, ana, end, ended } = await started(t, app);
    broker.answer(peru);
    const clients = 12;
    let answers = 0;
    const busy = new Promise<void>((resolve) => {
      const onAnswer = () => ++answers === 20 * clients && resolve();
      void t.resolves(
        Promise.all(
          Array.from({ length: clients }, async (_, index) => {
            const connection = await RawConnection.open(port);
            t.teardown(() => connection.close());
            await saturate(connection, linesOf(ana), index % 2 === 0 ? '/api/me' : '/api/nations', onAnswer);
          }),
        ),
        'each request has an answer, and the last answer of each connection says so',
      );
    });
    // As a client library has it: after the last answer of a connection it opens another, which nobody takes.
    const library = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.teardown(() => agent.destroy());
      for (;;) {
        const { status } = await ask(`${url}/api/me`, { headers: ana, agent });
        if (status !== 200) throw new Error(`answered with ${status}`);
      }
    };
    const libraries = Array.from({ length: 6 }, () => t.rejects(library(), { code: 'ECONNREFUSED' }));
    await busy;
    await end();
    await Promise.all(libraries);
    t.match(await ended, { code: 0 });
  });

  t.test(`${framework}: whatever clients do, it is gone within 5 s`, async (t) => {
    const { port, broker, ana, end, ended } = await started(t, app);
    const [silent, half, dripping, deaf] = await Promise.all([
      open(t, port),
      open(t, port),
      open(t, port),
      open(t, port),
    ]);
    half.write('GET /api/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half');
    dripping.write(
      requestText(['Content-Type: application/json', 'Content-Length: 1000'], '/api/me', 'POST'),
    );
    const drip = setInterval(() => dripping.write('1'), 100);
    t.teardown(() => clearInterval(drip));
    const [late, piped] = await Promise.all([RawConnection.open(port), RawConnection.open(port)]);
    t.teardown(() => {
      late.close();
      piped.close();
    });
    t.equal((await late.request([], '/api/me')).status, 200);
    late.write('GET /api/me HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    const held = broker.hold();
    piped.write(requestText([], '/api/me') + requestText(linesOf(ana), '/api/nations'));
    t.equal((await piped.answer()).status, 200);
    await held.arrived;
    broker.answer(large);
    deaf.write(requestText(linesOf(ana), '/api/nations'));
    await once(deaf, 'data');
    deaf.pause();
    const idle = await keep(t, port);

    await end();
    await once(idle, 'close');
    late.write('\r\n');
    held.answer(peru);
    const answers = await Promise.all([late.answer(), piped.answer()]);
    t.same(
      answers.map(({ status }) => status),
      [200, 200],
      'what had begun is answered, also after kept connections were closed',
    );
    for (const [who, socket] of Object.entries({ silent, half, dripping, deaf }))
      t.equal(socket.closed, false, `${who} is still there`);
    const { code, afterMs } = await ended;
    t.equal(code, 0);
    t.ok(afterMs < 5_000, `after ${afterMs} ms`);
  });

  t.test(`${framework}: an answer that had begun is read to its end, by whoever is slow`, async (t) => {
    const { port, broker, ana, end, ended } = await started(t, app);
    broker.answer(large);
    const slow = await open(t, port);
    slow.write(requestText(linesOf(ana), '/api/nations'));
    const [first] = (await once(slow, 'data')) as [Buffer];
    slow.pause();
    const [head = '', begun = ''] = first.toString('latin1').split('\r\n\r\n');
    t.match(head, /^connection: keep-alive$/im);
    const idle = await keep(t, port);
    await end();
    await once(idle, 'close');
    let length = begun.length;
    for await (const chunk of slow) length += (chunk as Buffer).length;
    t.equal(length, Number(/^content-length: (\d+)$/im.exec(head)?.[1]));
    const { code, afterMs } = await ended;
    t.equal(code, 0);
    t.ok(afterMs < 3_500, `its connection is not kept until the deadline, but ended after ${afterMs} ms`);
  });
}

/** A server of one listener that answers at once, and its client, in one process that tells itself to end; `then` does so and asks again. */
const atOnce = (then: string) => `
  import { Agent, createServer, get } from 'node:http';
  import { endOnSignal } from '@nn-runtime-examples/shutdown';
  const server = createServer((_, response) => response.end());
  const seen = [];
  let closed = 0;
  endOnSignal(server, async () => void closed++);
  process.once('exit', () => console.log(seen.join(), closed));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let port;
  const ask = (then = () => {}) => {
    get({ host: '127.0.0.1', port, agent }, (response) => {
      seen.push(response.headers.connection);
      response.resume().on('end', then);
    });
  };
  server.listen(0, '127.0.0.1', () => {
    port = server.address().port;
    ask(() => setImmediate(() => { ${then} }));
  });
`;

t.test(
  'a listener that answers at once says that it is the last time, and the rest is closed once',
  async (t) => {
    const then = `process.once('SIGTERM', () => ask()); process.kill(process.pid, 'SIGTERM')`;
    t.same(await runModule(atOnce(then), {}), { code: 0, out: 'keep-alive,close 1\n' });
  },
);

t.test('a server that was busy for longer than its grace reads what came meanwhile', async (t) => {
  const then = `
    process.once('SIGTERM', () => {
      ask();
      // Once it is written, nothing else runs until the grace is over.
      setImmediate(() => { for (const until = performance.now() + 1_500; performance.now() < until; ); });
    });
    process.kill(process.pid, 'SIGTERM')`;
  t.same(await runModule(atOnce(then), {}), { code: 0, out: 'keep-alive,close 1\n' });
});
