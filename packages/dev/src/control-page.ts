import { escapeHtml, htmlDocument } from './page.js';
import type { DevPerson } from './people.js';
import type { Condition, Faults, QueryMeshCondition } from './state.js';

/** What the control page shows, and `GET /dev/state` gives. */
export interface ControlView {
  readonly faults: Faults;
  readonly keys: readonly (string | undefined)[];
  readonly people: readonly DevPerson[];
  readonly apps: readonly string[];
}

const conditions: readonly Condition[] = ['up', 'down', 'slow', 'garbage'];

const nameOf = (person: DevPerson): string => person.name ?? person.email ?? person.sub;
const hintOf = (person: DevPerson): string => person.email ?? person.sub;

function choice(
  name: 'broker' | 'jwks' | 'queryMesh',
  label: string,
  current: QueryMeshCondition,
  choices: readonly QueryMeshCondition[] = conditions,
): string {
  const options = choices
    .map((value) => `<option value="${value}"${value === current ? ' selected' : ''}>${value}</option>`)
    .join('');
  // Beside it and not around it: the name of the control is the label, without the list of choices.
  return `<p><label for="${name}">${label}</label> <select id="${name}" name="${name}">${options}</select></p>`;
}

const toggle = (name: string, label: string, on: boolean): string =>
  `<p><label><input type="checkbox" name="${name}"${on ? ' checked' : ''}> ${label}</label></p>`;

function denial(person: DevPerson, deny: readonly string[]): string {
  const value = escapeHtml(hintOf(person));
  const checked = deny.includes(hintOf(person)) ? ' checked' : '';
  return `<p><label><input type="checkbox" name="deny" value="${value}"${checked}> ${escapeHtml(nameOf(person))}</label></p>`;
}

/** The page of `GET /dev`. Every control has its label; what happened is announced. */
export function controlPage({ faults, keys, people, apps }: ControlView): string {
  const main = `<p>Applications: ${apps.map(escapeHtml).join(', ')}</p>
<form data-path="/dev/faults"><fieldset><legend><h2>What is wrong</h2></legend>
${choice('broker', 'Broker', faults.broker)}
${choice('jwks', 'Key set', faults.jwks)}
${toggle('brokerKeys', 'The broker has its keys', faults.brokerKeys)}
${choice('queryMesh', 'QueryMesh', faults.queryMesh, [...conditions, 'rejects'])}
${toggle('integration', 'The organization has configured QueryMesh', faults.integration)}
${toggle('capability', 'The application has the querymesh capability', faults.capability)}
<p><label>The platform’s clock is ahead by <input type="number" name="clockOffsetSeconds" value="${faults.clockOffsetSeconds}" step="any"> seconds</label></p>
<fieldset><legend>Data policies deny every query of</legend>
${people.map((person) => denial(person, faults.deny)).join('\n')}
</fieldset>
<button type="submit">Apply</button></fieldset></form>
<section><h2>Keys</h2><p>Published: <output id="keys">${keys.map((kid) => escapeHtml(kid ?? '')).join(', ')}</output></p>
<button type="button" data-path="/dev/keys" data-body='{"action":"rotate"}'>Rotate the key</button>
<button type="button" data-path="/dev/keys" data-body='{"action":"withdraw"}'>Withdraw the oldest key</button></section>
<section><h2>Sessions</h2>
${people.map((person) => `<button type="button" data-path="/dev/sessions" data-body="${escapeHtml(JSON.stringify({ end: hintOf(person) }))}">End the sessions of ${escapeHtml(nameOf(person))}</button>`).join('\n')}
</section><p role="status" id="outcome"></p>`;
  return htmlDocument('Local platform', main, '<script src="/dev/control.js" defer></script>');
}

/** The page's script: sends what was chosen as JSON, and says what came of it. */
export const controlScript = `const outcome = document.querySelector('#outcome');
const post = async (path, body) => {
  const response = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const answer = await response.json();
  outcome.textContent = response.ok ? 'Done: ' + JSON.stringify(answer.faults ?? answer) : answer.message;
  const state = await (await fetch('/dev/state')).json();
  document.querySelector('#keys').textContent = state.keys.join(', ');
};
const report = (work) => work.catch((error) => { outcome.textContent = String(error); });
for (const button of document.querySelectorAll('button[data-body]'))
  button.addEventListener('click', () => report(post(button.dataset.path, button.dataset.body)));
for (const form of document.querySelectorAll('form[data-path]'))
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { elements } = form;
    report(post(form.dataset.path, JSON.stringify({
      broker: elements.broker.value,
      jwks: elements.jwks.value,
      brokerKeys: elements.brokerKeys.checked,
      queryMesh: elements.queryMesh.value,
      integration: elements.integration.checked,
      capability: elements.capability.checked,
      clockOffsetSeconds: Number(elements.clockOffsetSeconds.value),
      deny: [...form.querySelectorAll('[name=deny]:checked')].map((box) => box.value),
    })));
  });
`;
