import { anonymous, guardPerson } from '@nn-runtime/core';
import t from 'tap';

const returnTo = (target: string): string => {
  const answer = guardPerson(anonymous, { method: 'GET', target, headers: { 'sec-fetch-mode': 'navigate' } });
  const location = answer?.headers.location ?? '';
  t.ok(location.startsWith('/.nnumbers/auth/login?return_to='), location);
  return decodeURIComponent(location.slice('/.nnumbers/auth/login?return_to='.length));
};

t.test('a path of the address itself is where one comes back to', async (t) => {
  for (const target of [
    '/',
    '/a?u=https://x',
    '/a/b/?q=//e&r=%0A',
    '/a%2Fb',
    '/50%',
    '/a//b',
    '/a?//e',
    '/a?b=c&d=%2F',
    '/caf%C3%A9',
    `/${'a'.repeat(2047)}`,
  ]) {
    t.equal(returnTo(target), target);
  }
});

t.test('anything that could lead elsewhere becomes the start page', async (t) => {
  for (const target of [
    '//e',
    '//e/a',
    '///e',
    '/\\e',
    '/a\\b',
    '/\\/e',
    '\\\\e',
    '/%0a/e',
    '/%00',
    '/%2e//e',
    'https:e',
    ' /a',
    'a',
    '@e',
    '/%09/e',
    '/\t/e',
    '/%2Fe',
    '/%2f%2fe',
    '/%5Ce',
    '/.//e',
    '/..//e',
    '/a/..//e',
    '/%0d%0aSet-Cookie:a',
    '/a\u0000b',
    'https://e',
    'javascript:alert(1)',
    '*',
    '',
    `/${'a'.repeat(2048)}`,
  ]) {
    t.equal(returnTo(target), '/', JSON.stringify(target.slice(0, 40)));
  }
});

t.test('only GET and HEAD are navigations: a form is never sent round the sign-in', async (t) => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', '']) {
    const answer = guardPerson(anonymous, { method, target: '/', headers: { 'sec-fetch-mode': 'navigate' } });
    t.equal(answer?.statusCode, 401, method);
  }
});
