import { expect, test } from 'vitest';
import { UserLink } from './user-link.js';
import { eventually } from '../rig/eventually.js';
import { withoutRepeats } from './kit.js';
import { setStage } from './story.js';

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
