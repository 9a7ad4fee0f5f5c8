import { expect, test } from 'vitest';
import { deleteUserId } from '../../workflows/deletion/address.js';
import { eventually } from './kit.js';
import { Leaver } from './leaver.js';
import { setStage } from './story.js';

// So few that a deletion that is requested some times goes on in a new run.
const stage = setStage({ eventsPerRun: 40 });

test('a deletion that is requested very often goes on in new runs, tells once, and can be undone', async () => {
  const leaver = await Leaver.arrive(stage);
  const handle = await leaver.requestDeletion();
  const workflow = stage.temporal.workflow.getHandle(deleteUserId(leaver.userId));
  const { runId: first } = await workflow.describe();
  const { graceUntil } = await handle.state();
  for (let n = 0; n < 12; n += 1) {
    const again = await leaver.requestDeletion();
    expect(again.requested).toMatchObject({ phase: 'grace', graceUntil });
  }
  await eventually(async () => expect((await workflow.describe()).runId).not.toBe(first));
  expect(await handle.state()).toMatchObject({ phase: 'grace', graceUntil });
  expect(await handle.undo()).toMatchObject({
    outcome: 'undone',
    undo: { lostConnections: ['invented_watch', 'invented_ring'] },
  });
  expect(await handle.result()).toMatchObject({ outcome: 'undone' });
  await leaver.tells('deletion_scheduled', 'deletion_undone');
  expect(await leaver.reads()).toBe('present');
});
