import { expect, test, vi } from 'vitest';
import { Housekeeping } from '../../store/housekeeping.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a chore that failed is tried again at the next call, and one that is done not before an hour', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    let tried = 0;
    const chore = () => (++tried === 1 ? Promise.reject(new Error('away')) : Promise.resolve(true));
    const keeping = new Housekeeping([chore]);
    for (const [milliseconds, times] of [
      [0, 1],
      [0, 2],
      [3_599_000, 2],
      [1_000, 3],
    ] as const) {
      vi.advanceTimersByTime(milliseconds);
      keeping.nowAndThen();
      await settled();
      expect(tried).toBe(times);
    }
  } finally {
    vi.useRealTimers();
  }
});

test('a chore goes on until it is all done, then the next one begins', async () => {
  const done: string[] = [];
  let left = 3;
  const keeping = new Housekeeping([
    () => Promise.resolve((done.push('first'), --left === 0)),
    () => Promise.resolve((done.push('second'), true)),
  ]);
  keeping.nowAndThen();
  keeping.nowAndThen();
  await expect.poll(() => done).toEqual(['first', 'first', 'first', 'second']);
});
