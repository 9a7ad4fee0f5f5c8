import { expect, test } from 'vitest';
import { matchReviewId } from '../../protocol/ids.js';
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

test.each(['started', 'reported'] as const)(
  'a match review that is %s after an operator cancelled its run, while that end is still being notified, is followed again',
  async (how) => {
    const { id } = await stage.sandbox.createMatchReview();
    const workflow = stage.temporal.workflow.getHandle(matchReviewId(id));
    const review = await eventually(() => stage.product.matchReviews.get({ rawResultId: id }));
    stage.onClear(() => stage.cancelIfRunning(workflow.workflowId));
    const until = (phase: string) => eventually(async () => expect((await review.state()).phase).toBe(phase));
    await until('awaiting_decision');
    const { runId } = await workflow.describe();
    stage.receiver.isDown = true;
    await workflow.cancel();
    await until('abandoned');
    if (how === 'started') await stage.product.matchReviews.start({ rawResultId: id });
    else await stage.sandbox.moveMatchReview(id, 'pending_customer_review');
    await eventually(async () => expect((await workflow.describe()).runId).not.toBe(runId));
    await until('awaiting_decision');
    await workflow.cancel();
    await until('abandoned');
    stage.receiver.isDown = false;
  },
);
