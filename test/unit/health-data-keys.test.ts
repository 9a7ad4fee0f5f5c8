import { expect, test } from 'vitest';
import { keyed } from '../../store/keys.js';

/** Of CPU: the time of day goes on while other processes have the processor. */
function microsecondsFor(faulty: number): number {
  const samples = Array.from({ length: faulty }, () => ({ data: null }));
  const read = { kind: 'samples' as const, eventType: 'e', userId: 'u', resource: 'r', data: {}, samples };
  const before = process.cpuUsage();
  const { entry, problem } = keyed({ ...read, source: { provider: 'invented_watch' } });
  const { user, system } = process.cpuUsage(before);
  expect(entry).toBeUndefined();
  expect(problem).toBe(
    `${faulty} of ${faulty} samples cannot be stored: not an object (at 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …)`,
  );
  return user + system;
}

test('a batch of faulty samples takes time in proportion to their number, not to its square', () => {
  // The best of several runs: garbage may have been collected in any of them.
  const best = (faulty: number) => Math.min(...Array.from({ length: 5 }, () => microsecondsFor(faulty)));
  best(10_000); // compiled now
  // Ten times as many: about 10 in proportion, 100 by the square.
  expect(best(100_000) / best(10_000)).toBeLessThan(50);
});
