import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { browser } from './fixtures/browser.js';
import { run } from './fixtures/command.js';
import { ask } from './fixtures/http.js';

const cli = fileURLToPath(new URL('./cli.js', import.meta.resolve('@nn-runtime/dev')));
const anyPorts = ['--port', '0', '--broker-port', '0', '--nyxdb-port', '0', '--iam-port', '0'];

t.test('a busy port is named with the option that changes it', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const option of ['--port', '--broker-port', '--nyxdb-port', '--iam-port']) {
    const dev = run(t, cli, [...anyPorts, option, String(port)]);
    t.equal(await dev.ended, 1);
    t.equal(dev.stderr(), `nn-dev: port ${port} is in use: choose another with ${option}\n`);
  }
});

t.test('ports that cannot be are named before anything starts', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const taken = `http://127.0.0.1:${port}`;
  const cases: [string[], string][] = [
    [['--port', '8085', '--iam-port', '8085'], '--port and --iam-port are the same port, 8085'],
    [
      ['--port', '8085', '--app', 'http://localhost:8085'],
      "--app http://localhost:8085 and --port are the same port: --app is the application's own address, not the one people use",
    ],
    [
      ['--app', taken, '--', process.execPath, '-e', ''],
      `something listens at ${taken} already, where your command should: end it, or choose another port with --app`,
    ],
  ];
  for (const [args, message] of cases) {
    const dev = run(t, cli, [...anyPorts, ...args]);
    t.equal(await dev.ended, 1);
    t.equal(dev.stderr(), `nn-dev: ${message}\n`);
    t.equal(dev.stdout(), '');
  }
});

t.test('it refuses to run in production', async (t) => {
  const dev = run(t, cli, anyPorts, { NODE_ENV: 'production' });
  t.equal(await dev.ended, 1);
  t.match(dev.stderr(), /^nn-dev: .*NODE_ENV=production/);
});

t.test('a wrong command line is 2, and says what is wrong', async (t) => {
  const cases: [string[], RegExp][] = [
    [['--prot', '1'], /--prot/],
    [['extra'], /extra/],
    [['node', 'server.js'], /a command goes after --: nn-dev \[options\] -- node server\.js/],
    [['--port', '0', 'npm', 'run', 'dev'], /a command goes after --: nn-dev \[options\] -- npm run dev/],
    [['--port', 'x'], /--port must be a port/],
    [['--broker-port', '65536'], /--broker-port must be a port/],
    [['--port'], /--port/],
    [['--'], /nothing follows --/],
  ];
  for (const [args, message] of cases) {
    const dev = run(t, cli, args);
    t.equal(await dev.ended, 2, args.join(' '));
    t.match(dev.stderr(), message);
    t.match(dev.stderr(), /nn-dev --help lists the options/);
  }
  const dev = run(t, cli, [...anyPorts, '--app', 'localhost:3000']);
  t.equal(await dev.ended, 1);
  t.match(dev.stderr(), /like http:\/\/127\.0\.0\.1:3000, not localhost:3000/);
});

t.test('--help names every option and its default', async (t) => {
  const dev = run(t, cli, ['--help']);
  t.equal(await dev.ended, 0);
  const short = run(t, cli, ['-h']);
  t.equal(await short.ended, 0);
  t.equal(short.stdout(), dev.stdout());
  // Taken on every recent Mac, by AirPlay: an example with it would be refused at once.
  t.notMatch(dev.stdout(), /:5000|:7000/);
  for (const line of [
    /--app URL .*default http:\/\/127\.0\.0\.1:3000\)/,
    /--port N .*default 8080\)/,
    /--broker-port N .*default 8090\)/,
    /--nyxdb-port N .*default 8091\)/,
    /--iam-port N .*default 8092\)/,
    /--people FILE /,
    /not for production/,
    /PORT \(of --app\)/,
    /its exit code/,
    /Ctrl-C/,
    /NO_COLOR=1/,
  ])
    t.match(dev.stdout(), line);
  t.ok(
    dev
      .stdout()
      .split('\n')
      .every((line) => line.length <= 120),
  );
});

t.test('--people says who can sign in', async (t) => {
  const file = `${t.testdir()}/people.json`;
  writeFileSync(file, JSON.stringify([{ sub: 'p1', name: 'Zoë', email: 'zoe@example.org' }]));
  const people = run(t, cli, [...anyPorts, '--people', file]);
  const [, edge = ''] = await people.until(/your application {2}(http:\S+)/);
  const person = browser();
  const page = await person.follow(`${edge}/.nnumbers/auth/login`);
  t.match(page.answer.text, /Zoë <span>zoe@example\.org<\/span>/);
  t.equal(page.answer.text.includes('Ana'), false);

  for (const [text, message] of [
    ['nonsense', /--people .*people\.json: /],
    ['[{"name":"no sub"}]', /--people .*people\.json: people: .*sub/s],
    ['[{"sub":"a","admin":true}]', /admin/],
    ['[]', /at least one person/],
  ] as const) {
    writeFileSync(file, text);
    const dev = run(t, cli, [...anyPorts, '--people', file]);
    t.equal(await dev.ended, 1, text);
    t.match(dev.stderr(), message);
  }
});

t.test('without a command it prints the variables, as a shell reads them', async (t) => {
  const dev = run(t, cli, anyPorts);
  await dev.until(/export NNUMBERS_ORG_ID=.*\n/);
  const lines = dev.stdout().match(/^export .*$/gm) ?? [];
  const script = `${lines.join('\n')}\nprintf '%s\\n' "$NNUMBERS_APP_ID" "$NNUMBERS_IDENTITY_JWKS" "$NNUMBERS_BROKER_URL"`;
  const [appId, jwks, brokerUrl] = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n');
  t.equal(appId, 'app_local');
  t.equal((await ask(`${brokerUrl}/v1/jwks`)).text, jwks);
});
