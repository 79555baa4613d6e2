import {
  type Connection,
  type ConnectionEvent,
  describe,
  next,
  signedOut,
} from '@nn-runtime-examples/page/connection';
import t from 'tap';

const lostMs = Date.UTC(2026, 10, 30, 22, 31, 7);

/** The connection after these events. */
const after = (...events: readonly ConnectionEvent[]): Connection =>
  events.reduce((connection, event) => next(connection, event, lostMs), signedOut);

const opened: ConnectionEvent = { name: 'opened' };
const live: ConnectionEvent = { name: 'subscription-live' };
const lost: ConnectionEvent = { name: 'subscription-retry', code: 'CONNECTION_LOST' };
const refused: ConnectionEvent = { name: 'subscription-retry', code: 'CONNECTION_FAILED' };
const revoked: ConnectionEvent = { name: 'subscription-ended', code: 'AUTH_REVOKED' };
const out: ConnectionEvent = { name: 'signed-out' };

t.test('it is signed out, connecting, live', async (t) => {
  t.same(signedOut, { state: 'signed-out', wasRevoked: false });
  t.same(after(opened), { state: 'connecting', attempts: 1 });
  t.same(after(opened, live), { state: 'live' });
  t.same(after(opened, live, out), { state: 'signed-out', wasRevoked: false });
});

t.test('a loss makes it stale from when it was lost, until the next snapshot', async (t) => {
  const stale = after(opened, live, lost);
  t.same(stale, { state: 'stale', sinceMs: lostMs });
  t.same(next(stale, refused, lostMs + 5_000), stale, 'attempts that fail do not make the rows younger');
  t.same(next(stale, live, lostMs + 9_000), { state: 'live' });
});

t.test('what was never reached is not stale', async (t) => {
  t.same(after(opened, refused), { state: 'connecting', attempts: 2 });
  t.same(after(opened, refused, refused), { state: 'connecting', attempts: 3 });
  t.same(after(opened, refused, live), { state: 'live' });
});

t.test('a revocation is told as such, also to whoever is signed out by it', async (t) => {
  t.same(after(opened, live, revoked), { state: 'revoked' });
  t.same(after(opened, live, revoked, out), { state: 'signed-out', wasRevoked: true });
  t.same(after(opened, live, revoked, out, opened), { state: 'connecting', attempts: 1 });
  t.same(after(opened, live, revoked, out, opened, out), { state: 'signed-out', wasRevoked: false });
});

t.test('an end is one on purpose, or has a code', async (t) => {
  t.same(after(opened, live, { name: 'subscription-ended', code: undefined }), { state: 'ended' });
  t.same(after(opened, { name: 'subscription-ended', code: 'REBUILD_LIMIT' }), {
    state: 'failed',
    code: 'REBUILD_LIMIT',
  });
});

t.test('each state has its own word, and a sentence that says what it means', async (t) => {
  const time = new Date(lostMs).toLocaleTimeString();
  const said = (...events: readonly ConnectionEvent[]) =>
    Object.values(describe(after(...events))).join(': ');
  t.equal(said(), 'Signed out: Sign in to follow your fills.');
  t.equal(said(opened), 'Connecting: Waiting for the first rows.');
  t.equal(said(opened, refused), 'Connecting: NYXDB could not be reached yet. Trying again by itself.');
  t.equal(said(opened, live), 'Live: Rows change here as they change in NYXDB.');
  t.equal(
    said(opened, live, lost),
    `Stale: The connection was lost at ${time}. These rows may be out of date; connecting again by itself.`,
  );
  t.equal(said(opened, live, revoked), 'Withdrawn: Your access was withdrawn while you were watching.');
  t.equal(
    said(opened, live, revoked, out),
    'Signed out: Your access was withdrawn while you were watching. Sign in to follow your fills again.',
  );
  t.equal(
    said(opened, live, { name: 'subscription-ended', code: undefined }),
    'Ended: NYXDB ended this stream.',
  );
  t.equal(
    said(opened, { name: 'subscription-ended', code: 'BUSY' }),
    'Failed: NYXDB could not be followed (BUSY).',
  );
});
