import { expect, test } from 'vitest';
import { kinds, live } from '../../../proof/lives/lives.js';

/*
 * A part of `npm run lives`: some lives of each workflow, always the same. A seed that stands here is played again by
 * `npm run lives -- --of <workflow> --lives 1 --seed <seed>`, which prints its story.
 */

const lives = 60;

test.each(Object.keys(kinds))(
  'whatever answers are late, lost or older than they look, %s keeps every claim when the dust has settled: nothing is done twice, acknowledged commands are reflected, ends are true and announced, nothing follows from silence without asking, nothing announced is lost or goes back, nothing hangs, and replays agree',
  async (name) => {
    const broken: string[] = [];
    let counted = 0;
    for (let seed = 1; seed <= lives; seed += 1) {
      const { violations, counts } = await live(name, seed);
      counted += counts['tasks'] ?? 0;
      for (const { claim, what } of violations) broken.push(`seed ${seed}: ${claim}: ${what}`);
    }
    expect(broken).toEqual([]);
    expect(counted).toBeGreaterThan(lives * 3);
  },
);
