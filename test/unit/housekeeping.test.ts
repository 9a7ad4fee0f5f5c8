import { expect, test, vi } from 'vitest';
import { Housekeeping } from '../../store/housekeeping.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a chore that failed is tried again at the next call, and one that is done not before an hour', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    let tried = 0;
    const keeping = new Housekeeping([
      () => (++tried === 1 ? Promise.reject(new Error('away')) : Promise.resolve(true)),
    ]);
    keeping.nowAndThen();
    await settled();
    keeping.nowAndThen();
    await settled();
    expect(tried).toBe(2);
    vi.advanceTimersByTime(3_599_000);
    keeping.nowAndThen();
    await settled();
    expect(tried).toBe(2);
    vi.advanceTimersByTime(1_000);
    keeping.nowAndThen();
    await settled();
    expect(tried).toBe(3);
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
