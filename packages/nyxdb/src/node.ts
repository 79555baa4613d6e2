import { channel } from 'node:diagnostics_channel';
import { createClient, type EndpointClient } from './client.js';
import type { EndpointClientOptions } from './options.js';
import { wsFactory } from './ws.js';

export * from './index.js';

const diagnostics = channel('nn-runtime:nyxdb');

/**
 * A client of NYXDB endpoints, over ws unless the `webSocket` option says otherwise. What happens is published, as
 * `ClientEvent`s, on the diagnostics channel `nn-runtime:nyxdb`: names, counts and durations only.
 *
 * @throws TypeError for wrong or unknown options.
 */
export const createEndpointClient = (options: EndpointClientOptions): EndpointClient =>
  createClient(options, { webSocket: wsFactory, emit: (event) => diagnostics.publish(event) });
