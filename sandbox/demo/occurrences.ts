/** Keeps what has happened, so a story can wait for something that may have happened already. */
export class Occurrences<T> {
  readonly #past: T[] = [];
  readonly #listeners = new Set<(item: T) => void>();

  add(item: T): void {
    this.#past.push(item);
    for (const listener of this.#listeners) listener(item);
  }

  /** The first that fits, past or future. */
  first(fits: (item: T) => boolean): Promise<T> {
    const past = this.#past.find(fits);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve) => {
      const listener = (item: T): void => {
        if (!fits(item)) return;
        this.#listeners.delete(listener);
        resolve(item);
      };
      this.#listeners.add(listener);
    });
  }

  /** Calls the listener with each, past or future. */
  each(listener: (item: T) => void): void {
    for (const item of this.#past) listener(item);
    this.#listeners.add(listener);
  }

  some(fits: (item: T) => boolean): boolean {
    return this.#past.some(fits);
  }
}
