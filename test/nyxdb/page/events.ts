/** What the suite uses of `node:events`, for a page. */
export class Emitter {
  readonly #listeners = new Map<string, Set<(...args: never[]) => void>>();

  on(name: string, listener: (...args: never[]) => void): this {
    this.#listeners.set(name, (this.#listeners.get(name) ?? new Set()).add(listener));
    return this;
  }

  emit(name: string, ...args: unknown[]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) listener(...(args as never[]));
  }
}

/** The arguments of the next event. */
export const once = (emitter: Emitter, name: string): Promise<unknown[]> =>
  new Promise((resolve) => emitter.on(name, (...args: unknown[]) => resolve(args)));

const heard = new WeakMap<EventTarget, Set<unknown>>();
const { addEventListener, removeEventListener } = AbortSignal.prototype;
AbortSignal.prototype.addEventListener = function (...args: Parameters<typeof addEventListener>) {
  heard.set(this, (heard.get(this) ?? new Set()).add(args[1]));
  Reflect.apply(addEventListener, this, args);
};
AbortSignal.prototype.removeEventListener = function (...args: Parameters<typeof removeEventListener>) {
  heard.get(this)?.delete(args[1]);
  Reflect.apply(removeEventListener, this, args);
};

/** Who listens to an abort signal: a page cannot tell by itself. */
export const getEventListeners = (signal: AbortSignal): unknown[] => [...(heard.get(signal) ?? [])];
