import { ask } from './ask.js';
import { elapsed, seconds } from './elapsed.js';
import { byId } from './element.js';
import { failureBox } from './panel.js';
import type { Part } from './part.js';
import { isQueryAnswer } from './query-answer.js';

/** A query that takes its time: how long it has run, and a button that ends it everywhere. */
export function longQuery(): Part {
  const [run, cancel, progress, timer] = ['run', 'cancel', 'progress', 'elapsed'].map(byId) as [
    HTMLElement,
    HTMLElement,
    HTMLElement,
    HTMLElement,
  ];
  const outcome = byId('outcome');
  const error = byId('long-error');
  let running: AbortController | undefined;

  function showRunning(isRunning: boolean): void {
    // Whoever pressed one button finds the focus on the one that takes its place.
    const hadFocus = [run, cancel, error].some((part) => part.contains(document.activeElement));
    run.hidden = isRunning;
    cancel.hidden = !isRunning;
    progress.hidden = !isRunning;
    if (hadFocus) (isRunning ? cancel : run).focus();
  }

  async function start(): Promise<void> {
    const controller = new AbortController();
    running = controller;
    outcome.textContent = 'Running.';
    const stopClock = elapsed((text) => {
      timer.textContent = text;
    });
    showRunning(true);
    error.replaceChildren();
    const asked = await ask('/api/long-query', isQueryAnswer, controller.signal);
    const took = seconds(stopClock());
    // Signed out meanwhile, or started again.
    if (running !== controller) return;
    running = undefined;
    showRunning(false);
    outcome.textContent =
      asked === undefined
        ? `Cancelled after ${took}.`
        : 'answer' in asked
          ? `${Number(asked.answer.rows[0]?.[0]).toLocaleString()} pairs, found in ${took}.`
          : `No answer after ${took}.`;
    if (asked !== undefined && 'failure' in asked)
      error.replaceChildren(failureBox(asked.failure, () => void start()));
  }

  run.addEventListener('click', () => void start());
  // The connection of the request is closed, which the application and the broker notice.
  cancel.addEventListener('click', () => running?.abort());

  return {
    start() {},
    stop() {
      const ended = running;
      running = undefined;
      ended?.abort();
      showRunning(false);
      outcome.textContent = '';
      error.replaceChildren();
    },
  };
}
