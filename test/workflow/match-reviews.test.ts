import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { kitOrderId, matchReviewId } from '../../protocol/ids.js';
import { stateQuery } from '../../protocol/order/messages.js';
import { personal } from '../rig/cast.js';
import { taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { reconcileOrdersName } from '../../protocol/reconcile.js';
import type { reconcileOrders } from '../../workflows/reconcile.js';
import { eventsOf, textOf } from './recorded.js';
import { setStage } from './story.js';
import { stateWith } from './watched.js';

/* Results that match no order: what people decide, here and at the service. */

const stage = setStage();

/** A result that arrives at the service and matches no order; its webhook starts the review. */
async function unmatched(wanted: Parameters<typeof stage.sandbox.createMatchReview>[0] = {}) {
  await stage.syncClock();
  const { id, order_ids: orderIds } = await stage.sandbox.createMatchReview(wanted);
  const handle = await eventually(() => stage.product.matchReviews.getHandle({ rawResultId: id }));
  stage.onClear(() => stage.cancelIfRunning(matchReviewId(id)));
  await stateWith(handle, { phase: 'awaiting_decision' });
  return { id, orderIds, handle };
}

/** Nothing of an order is reported by itself. */
async function loseOrderWebhooks(): Promise<void> {
  for (const event_type of ['labtest.order.created', 'labtest.order.updated']) {
    await stage.sandbox.addWebhookFault({ event_type, action: { kind: 'lose' } });
  }
}

/** Waits until the order's own workflow shows these orders, the last of them completed. */
async function expectChain(...expected: object[]): Promise<void> {
  const [{ orderId = '' }] = expected as [{ orderId?: string }];
  await eventually(async () => {
    const { chain, phase } = await stage.temporal.workflow.getHandle(kitOrderId(orderId)).query(stateQuery);
    expect(chain).toMatchObject(expected);
    expect(phase).toBe('completed');
  });
}

describe('a result that a person accepts', () => {
  test('is brought to its order although the order’s webhooks are lost, and nobody is named on the way', async () => {
    const review = await unmatched({ decision_code: 'match_sample_id_mismatch_demo' });
    const [orderId = ''] = review.orderIds;
    const offered = { decisionCode: 'match_sample_id_mismatch_demo', allowedActions: ['accept', 'reject', 'unsure'] };
    expect(await review.handle.state()).toMatchObject(offered);
    const candidate_groups = [{ candidates: [{ order_id: orderId, confidence_level: 'high' }] }];
    const read = await stage.product.matchReviews.read(review.id);
    expect(read).toMatchObject({ patient: { last_name: 'Invented' }, candidate_groups });
    await loseOrderWebhooks();
    const note = 'Testperson Imaginary called';
    const decided = await review.handle.accept({ orderId, note });
    const accepted = { outcome: 'accepted', resolvedOrderId: orderId, decision: { action: 'accept' } };
    expect(decided).toMatchObject({ ...accepted, attention: [] });
    await expectChain({ orderId });
    expect((await stage.sandbox.matchReviews())[0]).toMatchObject({ note });
    await eventually(() => expect(stage.receiver.accepted.map(({ type }) => type)).toContain('match_review.ended'));
    const history = textOf(await eventsOf(stage, matchReviewId(review.id)));
    expect(history.replaceAll(note, '').match(personal)).toBeNull();
    expect(JSON.stringify(stage.receiver.accepted).match(personal)).toBeNull();
  });

  test('is accepted once, and the same decision is answered the same again, also after the end', async () => {
    const review = await unmatched();
    const [orderId = ''] = review.orderIds;
    const [first, second] = await Promise.all([review.handle.accept({ orderId }), review.handle.accept({ orderId })]);
    expect(second).toMatchObject({ outcome: first.outcome, resolvedOrderId: orderId });
    const loud = await stage.product.matchReviews.getHandle({ rawResultId: review.id.toUpperCase() });
    expect(loud.rawResultId).toBe(review.id);
    await review.handle.result();
    expect(await review.handle.accept({ orderId })).toMatchObject({ outcome: 'accepted', resolvedOrderId: orderId });
    await expect(review.handle.reject()).rejects.toMatchObject({ name: 'MatchReviewEnded' });
    expect(await stage.countRequests('POST', `/v3/unmatched_result/${review.id}/accept`)).toBe(1);
  });

  test('is followed to an order that is made again in the chain of a cancelled one', async () => {
    const review = await unmatched({ decision_code: 'match_cancelled' });
    const [cancelled = ''] = review.orderIds;
    await loseOrderWebhooks();
    const { resolvedOrderId = '' } = await review.handle.accept();
    expect(resolvedOrderId).not.toBe(cancelled);
    await expectChain({ orderId: cancelled }, { orderId: resolvedOrderId, origin: 'recreation' });
  });
});

test('a review whose webhook was lost is found by the next pass, once, and not again after an operator has ended it', async () => {
  const { id } = await stage.sandbox.createMatchReview({ webhook: false });
  const pass = async () => {
    const workflowId = `reconcile-orders/${randomUUID()}`;
    const { matchReviews } = await stage.temporal.workflow.execute<typeof reconcileOrders>(reconcileOrdersName, {
      workflowId,
      taskQueue,
      args: [],
    });
    return matchReviews;
  };
  expect(await pass()).toBe(1);
  const workflow = stage.temporal.workflow.getHandle(matchReviewId(id));
  stage.onClear(() => stage.cancelIfRunning(matchReviewId(id)));
  expect(await pass()).toBe(0);
  await workflow.cancel();
  await workflow.result();
  expect(await pass()).toBe(0);
  await stage.syncClock();
  await stage.sandbox.advanceClock('1m');
  await stage.sandbox.moveMatchReview(id, { status: 'pending_customer_review', webhook: false });
  expect(await pass()).toBe(1);
  await stage.sandbox.changeSettings({ matchReviews: false });
  expect(await pass()).toBe(0);
});
