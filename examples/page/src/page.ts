import type { Identity } from '@nn-runtime/core';

/** No script, no style, nothing from elsewhere; the form may only go to this address. */
export const homeHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  // What it says depends on who asks.
  'cache-control': 'no-store',
};

/** The page at `/`: who is signed in, and where to go from here. */
export function home(framework: string, identity: Identity): string {
  const visitor =
    identity.kind === 'person'
      ? `<p>Signed in as <strong>${escapeHtml(identity.name ?? identity.email ?? identity.subject)}</strong>
        of ${escapeHtml(identity.organization.slug)}.</p>
      <form method="post" action="/.nnumbers/auth/logout"><button>Sign out</button></form>`
      : `<p>Nobody is signed in.</p>
      <p><a href="/.nnumbers/auth/login?return_to=/">Sign in</a></p>`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Who signed in · ${framework}</title>
  </head>
  <body>
    <main>
      <h1>Who signed in</h1>
      ${visitor}
      <h2>What they may see</h2>
      <ul>
        <li><a href="/api/me">Who you are here</a></li>
        <li><a href="/api/nations">The nations, on your behalf</a></li>
        <li><a href="/api/private">Something for signed-in people only</a></li>
      </ul>
    </main>
  </body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
