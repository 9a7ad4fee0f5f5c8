/**
 * 10 MiB in two minutes: slower than any file store's connection, and the time that a report of the usual limit may
 * take.
 */
const leastBytesPerMs = 10_485_760 / 120_000;

/** The tolerance for the connection's own timers, which detect a stalled host. */
const latenessMs = 1_000;

/**
 * Limits how long the hosts of one download may be waited for: twice the idle timeout, redirects included, plus the
 * time that the sent bytes take at the lowest rate. A host that sends a byte now and then never stalls, and would
 * occupy an upload's slot until its timeout. Only waiting counts: time that the service takes is not the host's fault.
 */
export class DownloadBudget {
  readonly #graceMs: number;
  #waitedMs = 0;
  #received = 0;
  #isSpent = false;

  constructor(idleTimeoutMs: number) {
    this.#graceMs = 2 * idleTimeoutMs + latenessMs;
  }

  /** True once a wait was ended because the budget was spent. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  received(bytes: number): void {
    this.#received += bytes;
  }

  /** Waits for a host; `giveUp` has to make the wait end. */
  async spend<T>(wait: () => Promise<T>, giveUp: () => void): Promise<T> {
    const begun = performance.now();
    const left = this.#graceMs + this.#received / leastBytesPerMs - this.#waitedMs;
    const timer = setTimeout(
      () => {
        this.#isSpent = true;
        giveUp();
      },
      Math.max(left, 0),
    );
    try {
      return await wait();
    } finally {
      clearTimeout(timer);
      this.#waitedMs += performance.now() - begun;
    }
  }
}
