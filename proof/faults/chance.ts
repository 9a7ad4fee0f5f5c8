import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Everything that a seed decides. The same seed gives the same answers to the same questions in the same order. */
export interface Chance {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  oneOf<Item>(items: readonly Item[]): Item;
}

/** @param seed a whole number; only its lowest 32 bits count */
export function chanceOf(seed: number): Chance {
  const generator = xoroshiro128plus(seed);
  const between = (least: number, most: number): number => uniformInt(generator, least, most);
  return {
    between,
    oneOf: (items) => {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new RangeError('There is nothing to choose from.');
      return item;
    },
  };
}
