import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { eventually } from '../rig/eventually.js';
import { describeStores } from '../rig/stores.js';
import { activity, receive } from './received.js';

describeStores('taken messages', (rig) => {
  test('are known for as long as required, whether the store or Temporal took them', async () => {
    const { store } = rig();
    const [delivered, stored] = [randomUUID(), randomUUID()];
    expect(await store.wasTaken(delivered, 600)).toBe(false);
    await store.rememberMessage(delivered);
    await receive(store, activity('a-user', '1'), { id: stored });
    for (const id of [delivered, stored]) {
      expect(await store.wasTaken(id, 600)).toBe(true);
      expect(await store.wasTaken(id, 0)).toBe(false);
    }
  });

  test('are remembered from the last time on', async () => {
    const { store } = rig();
    const id = randomUUID();
    await store.rememberMessage(id);
    await expect.poll(() => store.wasTaken(id, 5)).toBe(false);
    await eventually(async () => {
      await store.rememberMessage(id);
      expect(await store.wasTaken(id, 5)).toBe(true);
    });
  });
});
