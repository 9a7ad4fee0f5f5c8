import { expect, onTestFinished, test, vi } from 'vitest';
import { Housekeeping } from '../../store/housekeeping.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a chore that failed is tried again at the next call, and one that is done not before an hour', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let tried = 0;
  const chore = () => (++tried === 1 ? Promise.reject(new Error('away')) : Promise.resolve(true));
  const keeping = new Housekeeping([chore]);
  const triedAfter = async (milliseconds: number) => {
    vi.advanceTimersByTime(milliseconds);
    keeping.nowAndThen();
    await settled();
    return tried;
  };
  for (const times of [1, 2]) expect(await triedAfter(0)).toBe(times);
  expect(await triedAfter(3_599_000)).toBe(2);
  expect(await triedAfter(1_000)).toBe(3);
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
