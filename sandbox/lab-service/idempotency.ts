import { type Clock, dayMs } from './clock.js';
import { ServiceProblem } from './validation.js';

interface StoredAnswer {
  readonly until: number;
  readonly answer: { readonly body: object } | { readonly problem: ServiceProblem };
}

/**
 * `X-Idempotency-Key`: the first answer to a key is given again, for 24 hours where an order is created, failures too,
 * unless the request that failed said `X-Idempotency-Error: no-cache`. Whether a key with another body is refused is not
 * documented; here it gets the stored answer. The hours are the clock's own, never compressed: a caller's retries are not part of
 * a story.
 */
export class IdempotencyKeys {
  readonly #clock: Clock;
  readonly #answers = new Map<string, StoredAnswer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param keepFailures false for `no-cache`; @param keptMs how long the answer is given again */
  once(key: string | undefined, keepFailures: boolean, work: () => object, keptMs = dayMs): object {
    if (key === undefined) return work();
    const stored = this.#fresh(key);
    if (stored !== undefined) {
      if ('problem' in stored.answer) throw stored.answer.problem;
      return stored.answer.body;
    }
    const until = this.#clock.now() + keptMs;
    try {
      const body = work();
      this.#answers.set(key, { until, answer: { body } });
      return body;
    } catch (problem) {
      if (problem instanceof ServiceProblem && keepFailures) {
        this.#answers.set(key, { until, answer: { problem } });
      }
      throw problem;
    }
  }

  #fresh(key: string): StoredAnswer | undefined {
    const stored = this.#answers.get(key);
    if (stored === undefined || this.#clock.now() < stored.until) return stored;
    this.#answers.delete(key);
    return undefined;
  }
}
