import type { DevPerson } from './people.js';

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Text as HTML text or attribute value. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

const style = `body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}
button{display:block;width:100%;margin:.5rem 0;padding:.75rem 1rem;font:inherit;text-align:left;color:inherit;background:#f4f4f7;border:1px solid #6b6b76;border-radius:.5rem;cursor:pointer}
button:hover{background:#e6e6ee}button:focus-visible{outline:3px solid #1a56c4;outline-offset:2px}
button span{display:block;color:#4a4a54}fieldset{border:0;margin:0;padding:0}`;

/** A whole page of the platform. `head` is put last into the head. */
export function htmlDocument(title: string, main: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title><style>${style}</style>${head}</head>
<body><main><h1>${escapeHtml(title)}</h1>
${main}
<p><small>Local nNumbers platform for development: no passwords, no real people, not for production.</small></p></main></body>
</html>
`;
}

function button(person: DevPerson): string {
  const label = person.name ?? person.email ?? person.preferred_username ?? `Subject ${person.sub}`;
  const detail = person.email ?? (person.name === undefined ? 'no name and no email' : 'no email');
  return `<button type="submit" name="sub" value="${escapeHtml(person.sub)}">${escapeHtml(label)} <span>${escapeHtml(detail)}</span></button>`;
}

/** The IAM's sign-in page: one button for each person, in a plain form, so that it works without scripts and by keyboard. */
export function signInPage(
  people: readonly DevPerson[],
  appId: string,
  action: string,
  unknownHint: string | undefined,
): string {
  const note =
    unknownHint === undefined
      ? ''
      : `<p role="alert">Nobody here is known as “${escapeHtml(unknownHint)}”.</p>\n`;
  return htmlDocument(
    'Sign in',
    `${note}<form method="post" action="${escapeHtml(action)}"><fieldset><legend>Continue to <strong>${escapeHtml(appId)}</strong> as</legend>
${people.map(button).join('\n')}
</fieldset></form>`,
  );
}

/** The page for a sign-in that cannot go on. */
export const faultPage = (message: string): string =>
  htmlDocument('Sign-in cannot go on', `<p>${escapeHtml(message)}</p>`);
