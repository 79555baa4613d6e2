import {
  type ClientEvent,
  createEndpointClient,
  developmentProfile,
  type EndpointClient,
} from '@nn-runtime/nyxdb';

/** A client of the application's own relay. The relay authenticates: no token is here to be given. */
export const createLiveClient = (onEvent: (event: ClientEvent) => void): EndpointClient =>
  createEndpointClient({
    url: '/live',
    authenticate: 'edge',
    // What subscriptions look like is not published: this is the development engine's own form.
    profile: developmentProfile,
    // Somebody looks at it: after a long outage too, it is back soon.
    backoff: { maxMs: 4_000 },
    onEvent,
  });
