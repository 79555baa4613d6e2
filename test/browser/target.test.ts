import { signInUrl } from '@nn-runtime/browser';
import t from 'tap';
import { pretendPage } from './standin.js';

const PAGE = 'https://app.example/orders/7?tab=lines&x=a%20b#row-3';

t.test('a sign-in comes back to where the page is, query and hash kept', async (t) => {
  pretendPage(t, PAGE);
  t.equal(signInUrl(), '/.nnumbers/auth/login?return_to=%2Forders%2F7%3Ftab%3Dlines%26x%3Da%2520b%23row-3');
});

t.test('a path or a URL of the own origin is kept, in the spelling of a URL', async (t) => {
  pretendPage(t, PAGE);
  for (const [given, encoded] of [
    ['/', '%2F'],
    ['/a', '%2Fa'],
    ['/a?u=https://evil.example/', '%2Fa%3Fu%3Dhttps%3A%2F%2Fevil.example%2F'],
    ['/a?b=//c#//d', '%2Fa%3Fb%3D%2F%2Fc%23%2F%2Fd'],
    ['/ação', '%2Fa%25C3%25A7%25C3%25A3o'],
    ['/a//b', '%2Fa%2F%2Fb'],
    ['lines', '%2Forders%2Flines'],
    ['?tab=all', '%2Forders%2F7%3Ftab%3Dall'],
    ['#top', '%2Forders%2F7%3Ftab%3Dlines%26x%3Da%2520b%23top'],
    ['https://app.example/b?c#d', '%2Fb%3Fc%23d'],
    ['/a/../b', '%2Fb'],
    ['/%09/evil.example', '%2F%2509%2Fevil.example'],
    // A scheme without slashes, the page's own, is a relative path to every URL parser.
    ['https:evil.example', '%2Forders%2Fevil.example'],
  ] as const) {
    t.equal(signInUrl(given), `/.nnumbers/auth/login?return_to=${encoded}`, given);
  }
  t.equal(signInUrl(new URL('https://app.example/u')), '/.nnumbers/auth/login?return_to=%2Fu');
});

t.test('whatever could lead away is a TypeError that does not repeat it', async (t) => {
  pretendPage(t, PAGE);
  for (const attack of [
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    ' //evil.example',
    '\u00a0//evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    '/a\u0000b',
    '/a\u0085b',
    '/a\u007fb',
    '/.//evil.example',
    '/x/..//evil.example',
    '/%2e//evil.example',
    'https://app.example//evil.example',
    '//app.example/own-host-but-not-a-path',
    'https://evil.example/',
    'http://app.example/',
    'https://app.example:8443/',
    'https://app.example.evil.example/',
    'https://app.example@evil.example/',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,evil',
    'blob:https://app.example/evil',
    'file:///evil',
    'https://[evil',
  ]) {
    let thrown: unknown;
    try {
      signInUrl(attack);
    } catch (error) {
      thrown = error;
    }
    t.ok(thrown instanceof TypeError, JSON.stringify(attack));
    t.notMatch(String(thrown), /evil/, 'the message does not repeat it');
  }
});

t.test('the longest return path is 2,048 characters, as written in a URL', async (t) => {
  pretendPage(t, PAGE);
  t.equal(signInUrl(`/${'a'.repeat(2047)}`).length, '/.nnumbers/auth/login?return_to='.length + 2050);
  t.throws(() => signInUrl(`/${'a'.repeat(2048)}`), TypeError);
  t.throws(() => signInUrl(`/${'é'.repeat(342)}`), TypeError, 'é is six characters');
});

t.test('a page at an address that cannot be come back to comes back to the start', async (t) => {
  const { location } = pretendPage(t, PAGE);
  location.href = 'https://app.example//evil.example';
  t.equal(signInUrl(), '/.nnumbers/auth/login?return_to=%2F');
  location.href = `https://app.example/?${'a'.repeat(3000)}`;
  t.equal(signInUrl(), '/.nnumbers/auth/login?return_to=%2F');
});
