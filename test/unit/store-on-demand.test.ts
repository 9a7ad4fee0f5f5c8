import { expect, test } from 'vitest';
import type { HealthDataStore } from '../../store/health-data-store.js';
import { storeOnDemand } from '../../store/store-access.js';

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
