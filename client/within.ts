/** The time of a call is up. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** Rejects if the work takes longer; the work itself continues, and its result is ignored. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed(`No answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The calls to Temporal that their caller no longer waits for. One may still pause before its next attempt; if that finds its
 * connection closed, it throws where nobody can catch it.
 */
export class AbandonedCalls {
  private readonly unsettled = new Set<Promise<unknown>>();

  /** Remembers a call until it settles. */
  track<T>(call: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = call.catch(() => undefined).finally(() => this.unsettled.delete(settled));
    this.unsettled.add(settled);
    return call;
  }

  /** Waits until no attempt is still to come: a few seconds at most. */
  async settled(): Promise<void> {
    await Promise.all(this.unsettled);
  }
}
