import { type Asked, ask } from './ask.js';
import { byId, html } from './element.js';
import type { Failure } from './failure.js';
import type { Part } from './part.js';

/** How a panel asks, and shows what it was told. */
export interface PanelOptions<T> {
  /** The element that is filled. */
  readonly id: string;
  readonly path: string;
  readonly is: (unverified: unknown) => unverified is T;
  /** What is awaited: `the nations`. */
  readonly what: string;
  readonly show: (answer: T) => readonly Node[];
}

/** A part of the page that asks one question: it is loading, has an answer, or says why not and what to do. */
export function panel<T>({ id, path, is, what, show }: PanelOptions<T>): Part {
  const content = byId(id);
  let asking: AbortController | undefined;

  async function load(): Promise<void> {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    content.setAttribute('aria-busy', 'true');
    // Whoever pressed "Try again" finds the focus where the answer will be, and not at the top of the page.
    const hadFocus = content.contains(document.activeElement);
    content.replaceChildren(html('p', { class: 'loading' }, `Asking for ${what}…`));
    if (hadFocus) content.focus();
    const asked: Asked<T> = await ask(path, is, signal);
    if (asked === undefined || signal.aborted) return;
    content.removeAttribute('aria-busy');
    content.replaceChildren(
      ...('answer' in asked ? show(asked.answer) : [failureBox(asked.failure, () => void load())]),
    );
  }

  return {
    start: () => void load(),
    stop() {
      asking?.abort();
      content.removeAttribute('aria-busy');
      content.replaceChildren();
    },
  };
}

/** Says what went wrong and what to do about it. */
export function failureBox(
  { code, message, advice, isWorthRepeating }: Failure,
  again: () => void,
): HTMLElement {
  const box = html(
    'div',
    { class: 'failure', role: 'alert' },
    html('p', {}, html('strong', {}, message), ' ', advice),
    html('p', { class: 'code' }, 'Code ', html('code', {}, code)),
  );
  if (isWorthRepeating) {
    const button = html('button', { type: 'button' }, 'Try again');
    button.addEventListener('click', again);
    box.append(button);
  }
  return box;
}
