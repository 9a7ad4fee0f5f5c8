import { afterEach, expect, test } from 'vitest';
import type { RunningWork } from '../../workflows/deletion/messages.js';
import { eventually } from './kit.js';
import { Leaver } from './leaver.js';
import { setStage } from './story.js';

/* Temporal's list: the server that skips time has none, and the other one is never down. */
const list = { isDown: false, asked: 0, work: [] as RunningWork[] };

const stage = setStage({
  activities: {
    findRunningWork() {
      list.asked += 1;
      if (list.isDown) throw new Error('Temporal has no list now');
      return Promise.resolve({ work: list.work, notifies: true });
    },
  },
});

afterEach(() => {
  Object.assign(list, { isDown: false, asked: 0, work: [] });
});

const kit = { workflowId: 'kit-order/0d4c1f7e-5a11-4e0b-9d0e-2f1b6c7a8d90', name: 'kitOrder' };

/** A request while Temporal's list cannot be read. */
async function requestWithoutList(leaver: Leaver, policy = {}) {
  list.isDown = true;
  const requesting = leaver.requestDeletion({ policy });
  await eventually(() => expect(list.asked).toBeGreaterThan(0));
  await stage.skip('40 seconds');
  const handle = await requesting;
  expect(handle.requested).toMatchObject({ phase: 'requested' });
  return handle;
}

test('running work that is found only after the request was answered is told to the product, with what it is', async () => {
  const leaver = await Leaver.arrive(stage);
  const handle = await requestWithoutList(leaver);
  Object.assign(list, { isDown: false, work: [kit] });
  await stage.skip('5 minutes');
  expect(await handle.result()).toMatchObject({ outcome: 'running_work', work: [{ ...kit, fate: 'left' }] });
  await leaver.tells('deletion_failed running_work');
  const [told] = stage.receiver.accepted;
  expect(told?.data).toMatchObject({ work: [{ name: 'kitOrder', fate: 'left' }] });
  expect(await stage.countRequests('DELETE', leaver.path)).toBe(0);
});
