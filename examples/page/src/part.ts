/** A part of the page that shows a person's data. */
export interface Part {
  /** Somebody is signed in: ask and show. */
  start(): void;
  /** They are not any more: end every request and forget what was shown. */
  stop(): void;
}
