import { readFileSync } from 'node:fs';
import type { Identity } from '@nn-runtime/core';
import { script, style } from './assets.js';
import { contentSecurityPolicy } from './policy.js';

const template = readFileSync(new URL('../../page.html', import.meta.url), 'utf8');

/** The headers of the page at `/`. */
export const homeHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  // Not no-referrer: then a browser says `Origin: null` of the sign-out form too (Fetch, "append a request Origin header"), and nobody can sign out.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  // What it says depends on who asks.
  'cache-control': 'no-store',
};

/** The page at `/`. It says who is signed in, and leads to sign-in and sign-out, before and without its script. */
export function home(framework: string, identity: Identity): string {
  const isSignedIn = identity.kind === 'person';
  const values: Readonly<Record<string, string>> = {
    framework,
    script: script.path,
    style: style.path,
    session: identity.kind,
    who: isSignedIn
      ? (identity.name ?? identity.email ?? identity.preferredUsername ?? identity.subject)
      : '',
    organization: isSignedIn ? identity.organization.slug : '',
  };
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => escapeHtml(values[name] ?? ''));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
