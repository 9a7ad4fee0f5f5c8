import { describe, expect, test } from 'vitest';
import { kitOrderId } from '../../protocol/ids.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import { eventually } from '../rig/eventually.js';
import { followed } from '../rig/followed.js';
import type { Kit } from './kit.js';
import { setStage } from './story.js';

const stage = setStage();
const createPath = '/v3/order/testkit';

/** A kit whose sample is at the lab. */
async function kitAtLab(policy: OrderPolicy = {}) {
  const kit = await stage.place({ policy });
  await kit.register();
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab');
  return kit;
}

const sampleError = { status: 'sample_error', status_detail: 'sample_quantity_not_sufficient' };

describe('a sample that cannot be used', () => {
  test('needs a person’s decision by default, once no redraw came within a day', async () => {
    const kit = await kitAtLab();
    await kit.move(sampleError);
    await kit.expectState({
      phase: 'failed',
      attention: [],
      waiting: expect.objectContaining({ for: 'the next order' }) as never,
    });
    await stage.skip('25 hours');
    await kit.expectAttention('decision_needed');
    expect((await followed(kit.handle)).timeline.at(-1)).toMatchObject({ detail: 'sample_quantity_not_sufficient' });
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('leads to a new kit if the policy says replace', async () => {
    const kit = await kitAtLab({ onSampleError: 'replace' });
    await kit.move(sampleError);
    await stage.skip('25 hours');
    await kit.expectState({ phase: 'awaiting_registration', registered: false, attention: [] });
    expect(await stage.countRequests('POST', createPath)).toBe(2);
  });

  test('ends the order if the policy says fail', async () => {
    const kit = await kitAtLab({ onSampleError: 'fail' });
    await kit.move(sampleError);
    await stage.skip('25 hours');
    expect(await kit.result()).toMatchObject({ outcome: 'failed', orderId: kit.rootOrderId });
  });

  test('is followed by a redraw in the same transaction, which needs no decision and no new kit', async () => {
    const kit = await kitAtLab({ onSampleError: 'replace' });
    await kit.move(sampleError);
    await stage.skip('2 hours');
    await stage.syncClock();
    const redraw = await stage.sandbox.redraw(kit.rootOrderId);
    await kit.untilReceived(redraw);
    const { chain } = await kit.expectState({ orderId: redraw.order.id, phase: 'preparing', attention: [] });
    expect(chain).toMatchObject([
      { orderId: kit.rootOrderId, phase: 'failed', replacedBy: redraw.order.id },
      { orderId: redraw.order.id, origin: 'redraw', replaces: kit.rootOrderId },
    ]);
    await stage.skip('2 days');
    await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
    expect(await kit.result()).toMatchObject({ outcome: 'completed', orderId: redraw.order.id });
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('shares one workflow with a redraw that was reported before its transaction, once the transaction is reported', async () => {
    const kit = await kitAtLab();
    await kit.move(sampleError);
    await stage.sandbox.changeSettings({ transactionInBodies: false, transactionInWebhooks: false });
    const { order } = await stage.sandbox.redraw(kit.rootOrderId);
    const own = stage.temporal.workflow.getHandle(kitOrderId(order.id));
    await eventually(async () => expect(await own.query('state')).toMatchObject({ phase: 'preparing' }));

    await stage.sandbox.changeSettings({ transactionInBodies: true, transactionInWebhooks: true });
    await stage.sandbox.move(order.id, 'transit_customer');
    await kit.expectState({ orderId: order.id, phase: 'in_transit_to_customer' });
    await eventually(async () => expect(await own.query('state')).toMatchObject({ forwardsTo: kit.rootOrderId }));
    await stage.sandbox.move(order.id, 'completed');
    expect(await kit.result()).toMatchObject({ outcome: 'completed', orderId: order.id });
    expect(await own.result()).toMatchObject({ outcome: 'forwarded' });
  });

  /** The redraw of a kit whose failure no webhook reports. */
  async function redrawUnreported(kit: Kit) {
    await stage.sandbox.addWebhookFault({ status: 'sample_error', times: 1, action: { kind: 'lose' } });
    await stage.sandbox.move(kit.rootOrderId, sampleError);
    const redraw = await stage.sandbox.redraw(kit.rootOrderId);
    await kit.untilReceived(redraw);
    return redraw.order.id;
  }

  test('is read again if only its redraw is reported: nothing else would ever say that it failed', async () => {
    const kit = await kitAtLab();
    const redrawId = await redrawUnreported(kit);
    const failed = expect.objectContaining({ orderId: kit.rootOrderId, phase: 'failed' }) as never;
    const redrawn = expect.objectContaining({ orderId: redrawId, replaces: kit.rootOrderId }) as never;
    await kit.expectState({ orderId: redrawId, attention: [], chain: [failed, redrawn] });
    await eventually(() => expect(kit.notified).toContain('phase_changed failed'));
  });

  test('is read once more before the end if that read said nothing, and holds up neither decisions nor the end', async () => {
    const kit = await kitAtLab({ deliveryDeadline: '3 days' });
    const path = `/v3/order/${kit.rootOrderId}`;
    const refuse = { kind: 'answer', status: 422, body: { detail: 'invented: it cannot be shown now' } } as const;
    const fault = await stage.sandbox.addFault({ method: 'GET', path, action: refuse });
    const redrawId = await redrawUnreported(kit);
    await stage.expectRequests('GET', path, 1);
    await kit.move('transit_customer');
    await stage.skip('4 days');
    await kit.expectAttention('delivery_overdue');
    await stage.sandbox.removeFaults(fault);
    await kit.move('with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
    expect(await kit.result()).toMatchObject({
      outcome: 'completed',
      chain: [
        { orderId: kit.rootOrderId, phase: 'failed' },
        { orderId: redrawId, phase: 'completed' },
      ],
    });
  });

  test('is not replaced either if no webhook reported its redraw', async () => {
    const kit = await kitAtLab({ onSampleError: 'replace' });
    await kit.move(sampleError);
    await stage.syncClock();
    const redraw = await stage.sandbox.redraw(kit.rootOrderId, { webhook: false });
    await stage.skip('25 hours');
    await kit.expectState({ orderId: redraw.order.id, phase: 'preparing', attention: [] });
    expect(await stage.countRequests('POST', createPath)).toBe(1);
    expect((await followed(kit.handle)).chain.map(({ origin }) => origin)).toEqual(['initial', 'redraw']);
  });
});

test('a blocked sample that the lab can process after all needs no attention', async () => {
  const kit = await kitAtLab();
  await kit.move({ status: 'lab_processing_blocked', status_detail: 'date_of_collection_unspecified' });
  await kit.expectState({
    phase: 'at_lab',
    problem: expect.objectContaining({ detail: 'date_of_collection_unspecified' }) as never,
  });
  await stage.skip('3 days');
  await kit.move('delivered_to_lab');
  expect((await followed(kit.handle)).problem).toBeUndefined();
  // Still before the date by which the service expects the results: seven days after the arrival.
  await stage.skip('4 days');
  await kit.expectAttention();
  await kit.move('completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed' });
});

test('a sample that stays blocked needs attention and is never replaced automatically', async () => {
  const kit = await kitAtLab({ onProblem: 'replace' });
  await kit.move('lab_processing_blocked');
  await stage.skip('7 days');
  await kit.expectAttention('problem_persists');
  expect(await stage.countRequests('POST', createPath)).toBe(1);
});

test('a correction after the end is announced as a correction, and nothing else is announced again', async () => {
  const kit = await kitAtLab();
  await kit.move('completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed', interpretation: 'normal' });
  const before = kit.notifications.length;
  await stage.skip('5 days');
  await kit.move({ status: 'corrected', interpretation: 'abnormal' });
  expect(await kit.result()).toMatchObject({ outcome: 'completed', interpretation: 'abnormal' });
  const ids = new Set(kit.notifications.slice(0, before).map(({ id }) => id));
  const news = kit.notifications.filter(({ id }) => !ids.has(id));
  expect(news).toMatchObject([{ type: 'correction', data: { interpretation: 'abnormal' } }]);
});
