import { expect, test } from 'vitest';
import { StoreFailed } from '../../store/database.js';
import type { HealthDataStore } from '../../store/health-data-store.js';
import { openedStore } from '../../store/store-access.js';
import { storeHealth } from '../../workers/store-health.js';

/** A store that counts as it is told to. */
function counting(count: () => Promise<number>) {
  return openedStore({ rejected: { count } } as unknown as HealthDataStore);
}

test('many probes count the rejected events once', async () => {
  let asked = 0;
  const health = storeHealth(
    counting(() => Promise.resolve(++asked)),
    2_000,
  );
  expect(await Promise.all([health(), health()])).toEqual([{ rejectedEvents: 1 }, { rejectedEvents: 1 }]);
  expect(await health()).toEqual({ rejectedEvents: 1 });
});

test('an outage is told, and asked about again by the next probe', async () => {
  let isDown = true;
  const count = () => (isDown ? Promise.reject(new StoreFailed('down')) : Promise.resolve(3));
  const health = storeHealth(counting(count), 2_000);
  expect(await health()).toEqual({ healthData: 'unavailable', reason: 'down' });
  isDown = false;
  expect(await health()).toEqual({ rejectedEvents: 3 });
});

test('a database that says nothing is unavailable, and is not asked by every probe', async () => {
  let asked = 0;
  const health = storeHealth(
    counting(() => {
      asked++;
      return new Promise(() => {});
    }),
    20,
  );
  const unavailable = { healthData: 'unavailable', reason: 'The database did not answer within 0.02 seconds' };
  expect(await health()).toEqual(unavailable);
  expect(await health()).toEqual(unavailable);
  expect(asked).toBe(1);
});
