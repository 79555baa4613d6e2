import type { EndpointClient, EndpointClientOptions } from '@nn-runtime/nyxdb';
import type { Test } from 'tap';
import type { Engine } from './engine.js';

/** One WebSocket implementation, and the client over it. */
export interface Implementation {
  readonly name: string;
  /** A client of this engine that authenticates as `app_sessions` with `t0k`, closed when the test is done. */
  connect(t: Test, engine: Pick<Engine, 'url'>, options?: Partial<EndpointClientOptions>): EndpointClient;
}

export const implementation = (
  name: string,
  create: (options: EndpointClientOptions) => EndpointClient,
): Implementation => ({
  name,
  connect(t, engine, options = {}) {
    const client = create({
      url: engine.url,
      authenticate: () => ({ provider: 'app_sessions', token: 't0k' }),
      ...options,
    });
    t.teardown(() => void client.close());
    return client;
  },
});
