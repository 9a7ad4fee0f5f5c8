import { expect, test } from 'vitest';
import { quickSearches } from '../../../proof/model/models.js';

/*
 * Every state within small bounds, played by the workflows themselves. `npm run model` explores more of them; what a step must
 * keep to is in proof/model/explore.ts and in the claims of each model.
 */
test.each(quickSearches)(
  'in every state that can be reached, every claim about the lifecycle holds: $name ($bounds)',
  async ({ explore }) => {
    const { faults, isComplete, states, ends } = await explore();
    expect(faults).toEqual([]);
    expect(isComplete).toBe(true);
    expect(states).toBeGreaterThan(20);
    expect(ends).toBeGreaterThan(0);
  },
);
