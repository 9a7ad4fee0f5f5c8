import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xorshift128plus } from 'pure-rand/generator/xorshift128plus';

/** Choices that a seed repeats. */
export class Random {
  readonly #generator;

  constructor(seed: number) {
    this.#generator = xorshift128plus(seed);
  }

  /** A whole number from 0 to one below the limit. */
  below(limit: number): number {
    return uniformInt(this.#generator, 0, limit - 1);
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  /** @throws RangeError if there is nothing to choose from */
  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError('There is nothing to choose from.');
    return choices[this.below(choices.length)] as T;
  }
}
