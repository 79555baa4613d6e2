import { errorText, RequestError } from './nyxdb-error.js';

/** How many of something each user has, with a cap. Ours: the contract speaks of quota errors and gives no number. */
export class Quota {
  readonly #perUser: number;
  readonly #taken = new Map<string, number>();

  constructor(perUser: number) {
    this.#perUser = perUser;
  }

  /** Takes one; the function returned gives it back, once. @throws RequestError when the user has all of theirs */
  take(userId: string): () => void {
    const taken = this.#taken.get(userId) ?? 0;
    if (taken >= this.#perUser) throw new RequestError(errorText.quotaExceeded);
    this.#taken.set(userId, taken + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const left = (this.#taken.get(userId) ?? 1) - 1;
      if (left > 0) this.#taken.set(userId, left);
      else this.#taken.delete(userId);
    };
  }

  /** How many all users have together. */
  get total(): number {
    let total = 0;
    for (const taken of this.#taken.values()) total += taken;
    return total;
  }
}
