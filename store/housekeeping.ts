/** How often a store looks for what is too old. */
const everyMs = 3_600_000;

/** Removes some of what is too old, and says whether that may have been all. */
export type Chore = () => Promise<boolean>;

/** Removes what is too old, beside the work of the store that is waited for. */
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
    // Whoever asks the database next learns of the failure; the next call tries again.
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
