import { expect, test } from 'vitest';
import { planOf } from '../../../proof/faults/plan.js';
import { describeFault } from '../../../proof/faults/schedule.js';

const size = { orders: 50, seconds: 60, hasDatabase: true };

test('the same seed gives the same subjects and faults, and another seed gives others', () => {
  expect(planOf({ seed: 7, ...size })).toEqual(planOf({ seed: 7, ...size }));
  expect(planOf({ seed: 8, ...size }).faults).not.toEqual(planOf({ seed: 7, ...size }).faults);
  expect(planOf({ seed: 8, ...size }).subjects).not.toEqual(planOf({ seed: 7, ...size }).subjects);
  expect(planOf({ seed: 8, ...size }).clocks).not.toEqual(planOf({ seed: 7, ...size }).clocks);
});

test('every fault begins and ends while faults may happen, and Temporal has time to come back', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const { faults, lengthMs } = planOf({ seed, ...size });
    expect(faults.length).toBeGreaterThan(30);
    for (const { atMs, forMs } of faults) {
      expect(forMs).toBeGreaterThan(0);
      expect(atMs + forMs).toBeLessThanOrEqual(lengthMs);
    }
    const kills = faults.flatMap((fault) => (fault.kind === 'kill' && fault.part === 'temporal' ? [fault.atMs] : []));
    const pauses = kills.slice(1).map((atMs, index) => atMs - (kills[index] ?? 0));
    expect(Math.min(...pauses, 20_000)).toBe(20_000);
  }
});

test('over some seeds every kind of fault, every part and every way is met, and each has a line of its own', () => {
  const faults = Array.from({ length: 20 }, (_, seed) => planOf({ seed, ...size }).faults).flat();
  const lines = faults.map((fault) => describeFault(fault).replace(/^.*? s: /, ''));
  for (const expected of [
    ...['kill temporal', 'kill worker-1', 'freeze worker-2', 'freeze temporal', 'kill ingress-1'],
    ...[
      'product to temporal: garble',
      'workers to service: cut',
      'service to ingresses: hang',
      'workers to product: reset',
      'ingresses to database: delay',
    ],
    ...['the receiver hangs', 'the receiver refuses', 'the receiver loses answers'],
  ]) {
    expect(lines).toContain(expected);
  }
  for (const kind of ['"kind":"lose"', '"status":429', '"kind":"drop_response"', '"kind":"reorder"', 'not JSON']) {
    expect(lines.some((line) => line.includes(kind))).toBe(true);
  }
});

test('a short plan has every story', () => {
  const { subjects } = planOf({ seed: 1, orders: 11, seconds: 10, hasDatabase: true });
  expect(new Set(subjects.map(({ story }) => story)).size).toBe(23);
  expect(new Set(subjects.map(({ name }) => name)).size).toBe(subjects.length);
});
