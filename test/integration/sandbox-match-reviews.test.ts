import { expect, onTestFinished, test } from 'vitest';
import { decisionCodes } from '../../sandbox/lab-service/match-reviews.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { readEvent } from '../../service/events.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import { all } from '../rig/all.js';
import {
  sandboxApiKey,
  webhookSecret,
  startReceiver,
  startSandbox,
  type Received,
  type Sandbox,
} from './sandbox-rig.js';

/* Results that match no order, as the stand-in plays them. */

async function start(
  settings: Partial<Settings> = {},
): Promise<Sandbox & Pick<LabService, 'matchReviews' | 'orders'> & { received: readonly Received[] }> {
  const { url: webhookUrl, received } = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl, webhookSecrets: [webhookSecret], ...settings });
  const client = createLabService({ baseUrl: sandbox.service.url, apiKey: sandboxApiKey });
  onTestFinished(() => client.close());
  const { matchReviews, orders } = client;
  return { ...sandbox, matchReviews, orders, received };
}

const simulator = '/v3/unmatched_result_test';

test('the simulator plays every decision code, once for a key, and reports its run', async () => {
  const { call, matchReviews, control, received } = await start();
  const cases = (await call('GET', `${simulator}/case`)).body.data as unknown as { case: string }[];
  expect(cases.map(({ case: name }) => name)).toEqual([...decisionCodes]);
  for (const { case: name } of cases) {
    const body = { case: name, order_source: 'managed' };
    const run = await call('POST', simulator, body, { 'x-idempotency-key': name });
    expect(run.status).toBe(202);
    const { run_id: runId } = run.body as unknown as { run_id: string };
    expect((await call('GET', `${simulator}/${runId}`)).body).toMatchObject({ run_id: runId, status: 'succeeded' });
    expect((await call('POST', simulator, body, { 'x-idempotency-key': name })).text).toBe(run.text);
    const other = { ...body, result_status: 'partial' };
    expect((await call('POST', simulator, other, { 'x-idempotency-key': name })).status).toBe(409);
    expect((await call('POST', simulator, body)).status).toBe(422);
  }
  const found = await all(matchReviews.list({}, { pageSize: 3 }));
  expect(new Set(found.map(({ decision_code: code }) => code))).toEqual(new Set(decisionCodes));
  expect(found).toHaveLength(decisionCodes.length);
  const [only] = await all(matchReviews.list({ decisionCode: 'wrong_lab', status: 'pending_customer_review' }));
  expect(only).toMatchObject({
    sub_reason_codes: ['lab_account_mismatch'],
    candidate_groups: [{ candidates: [{ candidate_type: 'order_option' }] }],
  });
  await control.settleWebhooks();
  expect(received.map(({ json }) => readEvent(json))).toMatchObject(
    decisionCodes.map((decisionCode) => ({ kind: 'match_review', report: { decisionCode } })),
  );
  expect(received[0]?.json).not.toHaveProperty('user_id');
});

test('a result is accepted by its order or another user’s, and an order that takes no result is made again', async () => {
  const { matchReviews, orders, control, newUser } = await start();
  const { id, order_ids: ids } = await control.createMatchReview({ decision_code: 'match_cancelled' });
  const userId = await newUser();
  const { order: others } = await control.createOrder({ user_id: userId });
  const wrong = matchReviews.accept(id, { order_id: others.id, user_id: await newUser() });
  await expect(wrong).rejects.toMatchObject({ status: 422 });
  const again = await matchReviews.accept(id);
  expect(again).toMatchObject({ origin: 'recreation', parent_id: ids[0], status: 'completed' });
  const parent = await orders.get(ids[0] ?? '');
  expect(again.order_transaction?.id).toBe(parent.order_transaction?.id);
  await expect(matchReviews.accept(id)).rejects.toMatchObject({ status: 404 });
  expect(await matchReviews.get(id)).toMatchObject({
    ...{ status: 'resolved', resolution_action: 'accept', allowed_actions: [] },
    ...{ resolved_order_id: again.id, resolved_user_id: parent.user_id },
  });
  const apart = await control.createMatchReview({ decision_code: 'match_sample_id_mismatch_demo' });
  const [orderId = ''] = apart.order_ids;
  await expect(matchReviews.accept(apart.id)).rejects.toMatchObject({ status: 422 });
  const moved = await matchReviews.accept(apart.id, { user_id: parent.user_id ?? '', order_id: ids[0] ?? '' });
  expect(moved).toMatchObject({ user_id: parent.user_id, parent_id: ids[0] });
  expect((await orders.get(orderId)).status).not.toBe('completed');
});

test('what is over is left out of the list, and the settings play what is not documented', async () => {
  const { matchReviews, control } = await start({ resolvedReviewsShown: false });
  const { id } = await control.createMatchReview();
  expect(await matchReviews.resolve(id, { action: 'reject', note: 'invented' })).toMatchObject({
    status: 'resolved',
  });
  await expect(matchReviews.get(id)).rejects.toMatchObject({ status: 404 });
  expect(await all(matchReviews.list())).toEqual([]);
  expect(await all(matchReviews.list({ status: 'resolved' }))).toMatchObject([{ id, note: 'invented' }]);
  await control.changeSettings({ matchReviews: false });
  await expect(all(matchReviews.list())).rejects.toMatchObject({ name: 'FeatureNotEnabled', status: 400 });
});
