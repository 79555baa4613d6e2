import { type Connection, describe } from './connection.js';
import { byId, html } from './element.js';

/** Says how the connection is, in words that are read out when they change, with a button where it does not go on by itself. */
export function showConnection(connection: Connection, again: () => void): void {
  const line = byId('connection');
  const { word, sentence } = describe(connection);
  line.dataset.state = connection.state;
  // The same words written again would be read out again.
  if (line.textContent !== `${word} ${sentence}`)
    line.replaceChildren(html('strong', {}, word), ' ', html('span', {}, sentence));
  const place = byId('again');
  const hadFocus = place.contains(document.activeElement);
  place.replaceChildren();
  if (!['revoked', 'ended', 'failed'].includes(connection.state)) {
    // The button is gone, and what it did is told here.
    if (hadFocus) line.focus();
    return;
  }
  const button = html('button', { type: 'button' }, 'Follow again');
  button.addEventListener('click', again);
  place.append(button);
  if (hadFocus) button.focus();
}
