import { getSession } from '@nn-runtime/browser';
import type { ClientEvent, EndpointClient, SubscriptionState } from '@nn-runtime/nyxdb';
import { type Connection, type ConnectionEvent, next, signedOut } from './connection.js';
import { showConnection } from './connection-line.js';
import { byId, html } from './element.js';
import { fillsTable } from './fills-table.js';
import { createLiveClient } from './live-client.js';
import type { Part } from './part.js';

type SubscriptionEvent = Extract<ClientEvent, { name: `subscription-${string}` }>;

const isOfSubscription = (event: ClientEvent): event is SubscriptionEvent =>
  event.name.startsWith('subscription-');

/** The person's fills of one instrument, as they change. */
export function follow(): Part {
  const content = byId('fills');
  let connection: Connection = signedOut;
  let client: EndpointClient | undefined;

  function note(event: ConnectionEvent): void {
    connection = next(connection, event, Date.now());
    showConnection(connection, open);
    // Rows that somebody may not see any more, or that are another's, are not left on the screen.
    if (['signed-out', 'revoked'].includes(connection.state)) content.replaceChildren();
    content.classList.toggle('is-old', ['stale', 'ended', 'failed'].includes(connection.state));
  }

  function showRows(shown: HTMLElement): void {
    const region = content.querySelector('.scroll');
    // Kept, and only filled anew: whoever scrolled or tabbed into it stays there.
    if (region !== null && shown.matches('.scroll')) region.replaceChildren(...shown.childNodes);
    else content.replaceChildren(shown);
  }

  function close(): void {
    const former = client;
    client = undefined;
    void former?.close();
  }

  function open(): void {
    close();
    content.replaceChildren(html('p', { class: 'loading' }, 'No rows yet.'));
    note({ name: 'opened' });
    try {
      const opened = createLiveClient((event) => {
        if (client === opened && isOfSubscription(event)) hear(event);
      });
      client = opened;
      void read(opened);
    } catch {
      // No WebSocket here, or a profile that this address may not have: the rest of the page goes on.
      note({ name: 'subscription-ended', code: 'NOT_AVAILABLE' });
    }
  }

  function hear(event: SubscriptionEvent): void {
    note(event);
    // A relay that is refused looks like a network that is down: only the platform knows whether the session is over.
    if (event.name !== 'subscription-live') getSession().catch(() => undefined);
  }

  async function read(opened: EndpointClient): Promise<void> {
    let before: SubscriptionState | undefined;
    try {
      for await (const state of opened.subscribe('my_fills_live', [instrument()])) {
        if (client !== opened) return;
        showRows(fillsTable(state, before));
        before = state;
      }
    } catch {
      // Told as the event `subscription-ended`, with its code.
    }
  }

  byId('instruments').addEventListener('change', open);
  return {
    start: open,
    stop() {
      close();
      note({ name: 'signed-out' });
    },
  };
}

/** The instrument that is chosen. */
function instrument(): string {
  const chosen = byId('instruments').querySelector<HTMLInputElement>('input:checked');
  return chosen?.value ?? 'BTC-USD';
}
