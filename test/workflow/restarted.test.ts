import { expect, test } from 'vitest';
import { UserLink } from './user-link.js';
import { eventually } from '../rig/eventually.js';
import { withoutRepeats } from './kit.js';
import { setStage } from './story.js';
import { Visit } from './visit.js';

/* The full server: the one that skips time lets no workflow continue as new that was cancelled. */
const stage = setStage({ eventsPerRun: 10_000 });

test('a link that an operator cancelled starts again while its end is still being notified, and can be cancelled', async () => {
  const link = await UserLink.start(stage);
  const { linkToken } = await link.handle.linkUrl();
  const runId = await link.runId();
  stage.receiver.isDown = true;
  await stage.temporal.workflow.getHandle(link.workflowId).cancel();
  await link.expectState({ outcome: 'cancelled' });
  const again = await UserLink.start(stage, { userId: link.handle.userId });
  expect((await again.handle.linkUrl()).linkToken).not.toBe(linkToken);
  await eventually(async () => expect(await again.runId()).not.toBe(runId));
  await again.logIn('mfa-sms');
  await stage.temporal.workflow.getHandle(link.workflowId).cancel();
  await again.expectState({ outcome: 'cancelled' });
  stage.receiver.isDown = false;
  await stage.finish(link.workflowId);
  await eventually(() =>
    expect(withoutRepeats(link.notifications).map(({ data }) => data['outcome'])).toEqual(['cancelled', 'cancelled']),
  );
});

test('an appointment is requested again after an operator cancelled its run, while that end is still being notified', async () => {
  const visit = await Visit.start(stage);
  const workflow = stage.temporal.workflow.getHandle(visit.workflowId);
  const { runId } = await workflow.describe();
  await visit.choose();
  stage.receiver.isDown = true;
  await workflow.cancel();
  await visit.expectState({ outcome: 'abandoned' });
  await Visit.start(stage, { orderId: visit.orderId });
  await eventually(async () => expect((await workflow.describe()).runId).not.toBe(runId));
  await visit.expectState({ phase: 'confirmed' });
  stage.receiver.isDown = false;
});
