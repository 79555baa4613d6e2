import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createShop } from '@nn-runtime-examples/recipes/sessions';
import t from 'tap';
import { ask } from '../http.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');

t.test('a cart is one person’s, also when the next one has the same cookie', async (t) => {
  const server = createServer(
    createShop('a secret of the test', { env: environment([key]), now: () => NOW_MS }),
  );
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const as = (sub: string | undefined, cookie?: string): Record<string, string> => ({
    ...(sub !== undefined && { 'x-nnumbers-identity': token(key, { sub }) }),
    ...(cookie !== undefined && { cookie }),
  });

  const added = await ask(`${url}/cart/tea`, { method: 'POST', headers: as('ana-0001') });
  const cookie = added.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  t.strictSame((await ask(`${url}/cart`, { headers: as('ana-0001', cookie) })).json(), ['tea']);
  const bruno = await ask(`${url}/cart`, { headers: as('bruno-0002', cookie) });
  t.strictSame(bruno.json(), [], 'somebody else');
  t.not(bruno.headers['set-cookie']?.[0]?.split(';')[0], cookie, 'and their session is a new one');
  t.strictSame((await ask(`${url}/cart`, { headers: as(undefined, cookie) })).json(), [], 'nobody');

  const again = await ask(`${url}/cart/jam`, { method: 'POST', headers: as('ana-0001') });
  const mine = again.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  t.strictSame((await ask(`${url}/cart`, { headers: as(undefined, mine) })).json(), [], 'signed out');
});
