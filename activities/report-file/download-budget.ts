/** 10 MiB in two minutes: slower than any line that a file store has, and what a report of the usual limit may take. */
const leastBytesPerMs = 10_485_760 / 120_000;

/** By so much the connection's own timers may be late, which say that a host stands still. */
const latenessMs = 1_000;

/**
 * How long the hosts of one download may be waited for: twice the idle timeout, redirects included, and as long as what
 * they have sent takes at the least rate. A host that sends a byte now and then never stands still, and would hold an
 * upload's slot until its timeout. Only waiting counts: what the service takes its time for is not the host's fault.
 */
export class DownloadBudget {
  readonly #graceMs: number;
  #waitedMs = 0;
  #received = 0;
  #isSpent = false;

  constructor(idleTimeoutMs: number) {
    this.#graceMs = 2 * idleTimeoutMs + latenessMs;
  }

  /** True once a wait was ended because nothing was left. */
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
