import { html } from './element.js';
import { panel } from './panel.js';
import type { Part } from './part.js';

/** As much of the runtime's `Person` as is shown. */
interface PersonAnswer {
  readonly kind: 'person';
  readonly subject: string;
  readonly organization: { readonly slug: string };
  readonly expiresAt: string;
  readonly name?: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
}

const isPersonAnswer = (value: unknown): value is PersonAnswer =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  value.kind === 'person' &&
  'subject' in value &&
  'expiresAt' in value &&
  'organization' in value;

/** Who the application says is signed in: what it verified, not what the page was told. */
export const identityPanel = (): Part =>
  panel({ id: 'identity', path: '/api/me', is: isPersonAnswer, what: 'the identity', show });

function show({ name, email, emailVerified, organization, subject, expiresAt }: PersonAnswer): Node[] {
  const checked = emailVerified === true ? 'verified' : 'not verified';
  const facts: readonly (readonly [string, string])[] = [
    ['Name', name ?? 'The account has none'],
    ['Email', email === undefined ? 'The account has none' : `${email} (${checked})`],
    ['Organization', organization.slug],
    ['Subject', subject],
    ['Valid until', new Date(expiresAt).toLocaleTimeString()],
  ];
  return [
    html(
      'dl',
      {},
      ...facts.map(([term, value]) => html('div', {}, html('dt', {}, term), html('dd', {}, value))),
    ),
  ];
}
