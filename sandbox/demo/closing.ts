/** The demo is being ended: nothing new is started any more. */
class Ending extends Error {
  override readonly name = 'Ending';
}

/** Everything that was started and has to be ended, the last first. */
export class Closing {
  readonly #steps: (() => Promise<void>)[] = [];
  #closed = false;

  /**
   * Starts something and remembers how to end it. What takes time to start is given as its promise, so an end that comes meanwhile
   * does not miss it.
   *
   * @throws Ending once `close` was called
   */
  use<T>(start: () => T, end: (started: T) => Promise<void>): T {
    if (this.#closed) throw new Ending('The demo is being ended');
    const started = start();
    this.#steps.push(() => end(started));
    return started;
  }

  /** Ends everything; one failure does not keep the rest. @throws the failures */
  async close(): Promise<void> {
    this.#closed = true;
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be ended');
  }
}
