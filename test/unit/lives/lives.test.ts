import { expect, test } from 'vitest';
import { kinds, live } from '../../../proof/lives/lives.js';

/* A part of `npm run lives`, always the same. `npm run lives -- --of <workflow> --lives 1 --seed <seed>` prints the story of a seed. */

/** The last one broke a claim once. */
const seeds = [...Array.from({ length: 60 }, (_, index) => index + 1), 9670];

test.each(Object.keys(kinds))(
  'whatever answers are late, lost or older than they look, %s keeps every claim when the dust has settled: nothing is done twice, acknowledged commands are reflected, ends are true and announced, nothing follows from silence without asking, nothing announced is lost or goes back, nothing hangs, and replays agree',
  async (name) => {
    const broken: string[] = [];
    let counted = 0;
    for (const seed of seeds) {
      const { violations, counts } = await live(name, seed);
      counted += counts['tasks'] ?? 0;
      for (const { claim, what } of violations) broken.push(`seed ${seed}: ${claim}: ${what}`);
    }
    expect(broken).toEqual([]);
    expect(counted).toBeGreaterThan(seeds.length * 3);
  },
);
