import { SignInLoopError, signIn, signOut } from '@nn-runtime/browser';
import t, { type Test } from 'tap';
import { pretendPage, startStandIn } from './standin.js';

const PAGE = 'https://app.example/a?b#c';
const URL_OF_A = '/.nnumbers/auth/login?return_to=%2Fa%3Fb%23c';

const pretendClock = (t: Test) => {
  const clock = { now: 1_700_000_000_000 };
  t.intercept(Date, 'now', { value: () => clock.now });
  return clock;
};

t.test('signing in goes to the sign-in page and comes back here', async (t) => {
  const { visited } = pretendPage(t, PAGE);
  signIn();
  signIn('/x');
  t.same(visited, [URL_OF_A, '/.nnumbers/auth/login?return_to=%2Fx']);
});

t.test('an attack navigates nowhere and is not counted', async (t) => {
  const { visited, stored } = pretendPage(t, PAGE);
  t.throws(() => signIn('//evil.example'), TypeError);
  t.same(visited, []);
  t.equal(stored.size, 0);
});

t.test('the fourth sign-in within a minute is a loop, and the tab stays where it is', async (t) => {
  const clock = pretendClock(t);
  const { visited } = pretendPage(t, PAGE);
  signIn();
  clock.now += 20_000;
  signIn();
  signIn();
  clock.now += 39_999;
  t.throws(() => signIn(), { name: 'SignInLoopError', code: 'SIGN_IN_LOOP' });
  t.equal(visited.length, 3);
  t.throws(() => signIn(), SignInLoopError, 'still');
  clock.now += 1;
  signIn();
  t.equal(visited.length, 4, 'a minute after the first there is room for one');
  t.throws(() => signIn(), SignInLoopError, 'and only one');
});

t.test('signing out starts the count anew', async (t) => {
  const server = await startStandIn(t);
  const { visited } = pretendPage(t, server.url);
  for (let i = 0; i < 3; i++) signIn();
  await signOut();
  signIn();
  t.equal(visited.length, 4);
});

t.test('what something else wrote into the storage neither blocks nor breaks', async (t) => {
  const clock = pretendClock(t);
  const { visited, stored } = pretendPage(t, PAGE);
  for (const junk of [
    '',
    'x',
    '{}',
    'NaN,NaN,NaN',
    'Infinity,Infinity,Infinity',
    '-1,-1,-1',
    `${clock.now + 9},${clock.now + 9},${clock.now + 9}`,
  ]) {
    stored.set('nn-runtime.sign-in', junk);
    signIn();
  }
  t.equal(visited.length, 7);
});

t.test('a browser that refuses storage refuses the cookie too, so nothing is started', async (t) => {
  const { visited } = pretendPage(t, PAGE);
  t.intercept(globalThis, 'sessionStorage' as keyof typeof globalThis, {
    get: () => {
      throw new Error('SecurityError');
    },
    configurable: true,
  });
  t.throws(() => signIn(), SignInLoopError);
  t.same(visited, []);
});
