import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeStores } from '../rig/stores.js';
import { activity, receive } from './received.js';

const spellings = (uuid: string): string[] => [
  uuid,
  uuid.toUpperCase(),
  uuid.replaceAll('-', ''),
  uuid.replaceAll('-', '').toUpperCase(),
  `{${uuid}}`,
  `urn:uuid:${uuid}`,
  ` ${uuid} `,
];

describeStores('a user', (rig) => {
  test('has the same data under every spelling of the id, and is deleted under all by each', async () => {
    const { store } = rig();
    for (const [index] of spellings(randomUUID()).entries()) {
      const uuid = randomUUID();
      const all = spellings(uuid);
      for (const [at, userId] of all.entries())
        expect(await receive(store, activity(userId, String(at)))).toBe('stored');
      await store.setAside(
        { reason: 'not_handled' },
        { id: randomUUID(), body: `broken "${uuid.replaceAll('-', '')}"` },
      );
      for (const userId of all) expect(await store.summaries({ userId })).toHaveLength(all.length);
      await store.deleteUserData(all[index] ?? '');
      for (const userId of all) {
        expect(await store.summaries({ userId })).toEqual([]);
        expect(await receive(store, activity(userId, 'late'))).toBe('user_deleted');
      }
      expect(await store.rejected.count()).toBe(0);
    }
  });

  test('whose id is a UUID in an unknown form has no data: the event waits for a person', async () => {
    const { store } = rig();
    const userId = randomUUID().replaceAll('-', '_');
    expect(await receive(store, activity(userId, '1'))).not.toBe('stored');
    expect(await store.summaries({ userId })).toEqual([]);
  });
});
