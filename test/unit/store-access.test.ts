import { expect, test } from 'vitest';
import { StoreFailed } from '../../store/database.js';
import type { HealthDataStore } from '../../store/health-data-store.js';
import { openedStore, storeOnDemand } from '../../store/store-access.js';
import { storeHealth, type StoreHealthOptions } from '../../workers/monitoring/health.js';

const counted = (rejectedEvents: number) => ({ rejectedEvents, expiredRejectedEvents: 0 });

/** The health of a store with the test's count and clock, and with what was logged. */
function healthOf(count: () => Promise<number>, options: Partial<StoreHealthOptions> = {}) {
  const clock = { now: 0 };
  const logged: unknown[] = [];
  const log: StoreHealthOptions['log'] = { warn: (fields: unknown) => void logged.push(fields) };
  const standing = async () => counted(await count());
  const store = openedStore({ standing } as unknown as HealthDataStore);
  const health = storeHealth(store, { answerWithinMs: 2_000, log, now: () => clock.now, ...options });
  return { clock, logged, health };
}

test('many probes count the rejected events once, and after 5 seconds they are counted again', async () => {
  let asked = 0;
  const { clock, health } = healthOf(() => Promise.resolve(++asked));
  expect(await Promise.all([health(), health()])).toEqual([counted(1), counted(1)]);
  clock.now = 5_000;
  expect(await health()).toEqual(counted(1));
  clock.now = 5_001;
  expect(await health()).toEqual(counted(2));
});

test('an outage is queried no more often than that either; its reason is logged and not answered', async () => {
  let isDown = true;
  const reason = 'connect ECONNREFUSED 10.1.2.3:5432';
  const count = () => (isDown ? Promise.reject(new StoreFailed(reason)) : Promise.resolve(3));
  const { clock, logged, health } = healthOf(count);
  expect(await health()).toEqual({ healthData: 'unavailable' });
  isDown = false;
  expect(await health()).toEqual({ healthData: 'unavailable' });
  expect(logged).toEqual([{ reason }]);
  clock.now = 5_001;
  expect(await health()).toEqual(counted(3));
});

test('a database that does not answer is unavailable, and is not queried by every probe', async () => {
  let asked = 0;
  const never = () => (asked++, new Promise<number>(() => {}));
  const { clock, health } = healthOf(never, { answerWithinMs: 20 });
  expect(await health()).toEqual({ healthData: 'unavailable' });
  clock.now = 60_000;
  expect(await health()).toEqual({ healthData: 'unavailable' });
  expect(asked).toBe(1);
});

function rig() {
  const events: string[] = [];
  const state = { isDown: true };
  const store = { close: () => Promise.resolve(events.push('closed')) } as unknown as HealthDataStore;
  const access = storeOnDemand(async () => {
    events.push('opening');
    await Promise.resolve();
    if (state.isDown) throw new Error('down');
    return store;
  });
  return { access, events, state, store };
}

test('a store is opened once for all who need it, when they first do', async () => {
  const { access, events, state, store } = rig();
  state.isDown = false;
  expect(events).toEqual([]);
  expect(await Promise.all([access.get(), access.get()])).toEqual([store, store]);
  expect(await access.get()).toBe(store);
  await access.close();
  expect(events).toEqual(['opening', 'closed']);
});

test('a store that could not be opened is tried again by the next caller', async () => {
  const { access, events, state, store } = rig();
  await expect(Promise.all([access.get(), access.get()])).rejects.toThrow('down');
  state.isDown = false;
  expect(await access.get()).toBe(store);
  expect(events).toEqual(['opening', 'opening']);
});

test('a store that was never opened has nothing to close', async () => {
  const { access, events } = rig();
  await access.close();
  await expect(access.get()).rejects.toThrow('down');
  await access.close();
  expect(events).toEqual(['opening']);
});
