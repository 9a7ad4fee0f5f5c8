/** Keeps what has happened, so that a story can wait for something that may be over already. */
export class Occurrences<T> {
  readonly #past: T[] = [];
  readonly #waiting = new Set<(item: T) => void>();

  add(item: T): void {
    this.#past.push(item);
    for (const told of this.#waiting) told(item);
  }

  /** The first that fits, past or to come. */
  first(fits: (item: T) => boolean): Promise<T> {
    const past = this.#past.find(fits);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve) => {
      const told = (item: T): void => {
        if (!fits(item)) return;
        this.#waiting.delete(told);
        resolve(item);
      };
      this.#waiting.add(told);
    });
  }

  /** Calls back for each, past or to come. */
  each(told: (item: T) => void): void {
    for (const item of this.#past) told(item);
    this.#waiting.add(told);
  }

  some(fits: (item: T) => boolean): boolean {
    return this.#past.some(fits);
  }
}
