/** How often a store removes old rows. */
const everyMs = 3_600_000;

/** Removes some old rows, and returns true if there may be no more. */
export type Chore = () => Promise<boolean>;

/** Removes old rows in the background. */
export class Housekeeping {
  readonly #chores: readonly Chore[];
  #begunAt = -Infinity;
  #working: Promise<void> | undefined;
  #isClosed = false;

  constructor(chores: readonly Chore[]) {
    this.#chores = chores;
  }

  /** Call it often: it begins if the last time is long ago. */
  nowAndThen(): void {
    const now = performance.now();
    if (this.#working || this.#isClosed || now - this.#begunAt < everyMs) return;
    this.#begunAt = now;
    // The next caller of the database sees the failure; the next run tries again.
    const again = () => {
      this.#begunAt = -Infinity;
    };
    this.#working = this.#all()
      .catch(again)
      .finally(() => {
        this.#working = undefined;
      });
  }

  /** Settles when nothing is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
  }

  async #all(): Promise<void> {
    for (const chore of this.#chores) {
      let isAll: boolean;
      do {
        isAll = await chore();
      } while (!isAll && !this.#isClosed);
    }
  }
}
