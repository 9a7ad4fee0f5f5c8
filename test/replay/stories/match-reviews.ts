import { setTimeout as sleep } from 'node:timers/promises';
import type { MatchReviewHandle, MatchReviewPolicy } from '../../../client/index.js';
import { matchReviewId } from '../../../protocol/ids.js';
import { reconcileOrdersName, reconcileScheduleId } from '../../../protocol/reconcile.js';
import { until, type Stage } from '../stage.js';
import type { Story } from './story.js';

/** A result that matches no order, and the review of it that its webhook has started. */
export async function unmatched(stage: Stage, policy?: MatchReviewPolicy): Promise<MatchReviewHandle> {
  const { id: rawResultId } = await stage.sandbox.createMatchReview({ webhook: policy === undefined });
  if (policy) await stage.labs.matchReviews.start({ rawResultId, policy });
  for (;;) {
    const handle = await stage.labs.matchReviews.getHandle({ rawResultId }).catch(() => undefined);
    if (!handle) {
      await sleep(50);
      continue;
    }
    await until(handle, ({ phase }) => phase === 'awaiting_decision');
    return handle;
  }
}

export const matchReviews: readonly Story[] = [
  /** Reported by a webhook, and accepted once its order was chosen. */
  async function reviewAccepted(stage) {
    const handle = await unmatched(stage);
    const { candidate_groups: groups } = (await stage.sandbox.matchReviews()).at(-1) as {
      candidate_groups: { candidates: { order_id: string }[] }[];
    };
    await handle.accept({ orderId: groups[0]?.candidates[0]?.order_id ?? '', note: 'invented' });
    await handle.result();
    return { 'review-accepted': matchReviewId(handle.rawResultId) };
  },

  /** Followed by the product, given to the service’s staff, given back, and rejected. */
  async function reviewRejected(stage) {
    const handle = await unmatched(stage, { firstPoll: '1m' });
    await handle.markUnsure();
    await stage.sandbox.moveMatchReview(handle.rawResultId, 'second_opinion');
    await until(handle, ({ phase }) => phase === 'unknown');
    await stage.sandbox.moveMatchReview(handle.rawResultId, 'pending_customer_review');
    await until(handle, ({ phase }) => phase === 'awaiting_decision');
    await handle.reject();
    await handle.result();
    return { 'review-rejected': matchReviewId(handle.rawResultId) };
  },

  /** A pass of the schedule finds a review that no webhook has reported. */
  async function reviewsReconciled(stage) {
    const { id: rawResultId } = await stage.sandbox.createMatchReview({ webhook: false });
    const workflowId = reconcileScheduleId('lab-operations');
    const pass = { workflowId, taskQueue: 'lab-operations', args: [] };
    await stage.temporal.workflow.execute(reconcileOrdersName, pass);
    const handle = await stage.labs.matchReviews.getHandle({ rawResultId });
    await handle.reject();
    await handle.result();
    return { 'reviews-reconciled': workflowId };
  },
];
