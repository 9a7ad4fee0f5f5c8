import { expect, test } from 'vitest';
import { kitOrderId, matchReviewId } from '../../protocol/ids.js';
import type { MatchReviewState } from '../../protocol/match-review/messages.js';
import { eventually } from '../rig/eventually.js';
import { answer, labops } from './labops.js';
import { expectNothingReadable } from './raw-history.js';
import { patience, stack } from './stack.js';

const lab = stack();

test('an operator accepts a result that a webhook reported: its order ends with it, and no note is readable anywhere', async () => {
  const { id, order_ids: orderIds } = await lab.sandbox.createMatchReview({ decision_code: 'multiple_demo_match' });
  const [, orderId = ''] = orderIds;
  const listed = async () => {
    const { reviews } = await answer<{ reviews: { rawResultId: string; attention: string[] }[] }>(
      labops(lab, ['match-reviews', 'list', '--phase', 'awaiting decision', '--attention', '-o', 'json']),
    );
    return reviews;
  };
  await expect.poll(listed, patience).toMatchObject([{ rawResultId: id, attention: ['decision_needed'] }]);
  const ambiguous = await labops(lab, ['match-reviews', 'accept', id]);
  expect(ambiguous).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^DecisionRefused: .*to be chosen/) as string,
  });
  const accept = ['match-reviews', 'accept', id, '--order', orderId, '--note-file', '-', '-o', 'json'];
  const input = 'Testperson Imaginary called';
  const state = await answer<MatchReviewState>(labops(lab, accept, { input }));
  expect(state).toMatchObject({ outcome: 'accepted', resolvedOrderId: orderId });
  expect(await answer(labops(lab, accept, { input }))).toMatchObject({ outcome: 'accepted' });
  // Its workflow is started by its webhook.
  const order = await eventually(() => lab.labs.orders.getHandle({ orderId }));
  expect(await order.result()).toMatchObject({ outcome: 'completed' });
  await expect
    .poll(() => lab.receiver.accepted.filter(({ subject }) => subject === id).map(({ type }) => type), patience)
    .toEqual(expect.arrayContaining(['match_review.review_needed', 'match_review.ended']));
  for (const workflowId of [matchReviewId(id), kitOrderId(orderId)]) {
    const history = await lab.rig.client.workflow.getHandle(workflowId).fetchHistory();
    expectNothingReadable(history, 'invented', /Testperson|Imaginary|to be chosen/);
  }
  for (const output of [lab.worker.output(), lab.ingress.output()]) expect(output).not.toMatch(/Testperson|Imaginary/);
});
