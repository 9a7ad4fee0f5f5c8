import { describe, expect, test } from 'vitest';
import type { OrderPolicy } from '../../workflows/order/policy.js';
import { setStage } from './story.js';

const stage = setStage();
const createPath = '/v3/order/testkit';

/** A kit whose sample is at the lab. */
async function kitAtLab(policy: OrderPolicy = {}) {
  const kit = await stage.place({ policy });
  await kit.register();
  await kit.goes('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab');
  return kit;
}

const sampleError = { status: 'sample_error', status_detail: 'sample_quantity_not_sufficient' };

describe('a sample that cannot be used', () => {
  test('asks a person by default, once no redraw came within a day', async () => {
    const kit = await kitAtLab();
    await kit.goes(sampleError);
    await kit.shows({
      phase: 'failed',
      attention: [],
      waiting: expect.objectContaining({ for: 'the order that follows' }) as never,
    });
    await stage.skip('25 hours');
    await kit.asksFor('decision_needed');
    expect((await kit.handle.state()).timeline.at(-1)).toMatchObject({ detail: 'sample_quantity_not_sufficient' });
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('brings a new kit where the policy says replace', async () => {
    const kit = await kitAtLab({ onSampleError: 'replace' });
    await kit.goes(sampleError);
    await stage.skip('25 hours');
    await kit.shows({ phase: 'awaiting_registration', registered: false, attention: [] });
    expect(await stage.countRequests('POST', createPath)).toBe(2);
  });

  test('ends the order where the policy says fail', async () => {
    const kit = await kitAtLab({ onSampleError: 'fail' });
    await kit.goes(sampleError);
    await stage.skip('25 hours');
    expect(await kit.ends()).toMatchObject({ outcome: 'failed', orderId: kit.rootOrderId });
  });

  test('is followed by a redraw of the same transaction, which needs no decision and no new kit', async () => {
    const kit = await kitAtLab({ onSampleError: 'replace' });
    await kit.goes(sampleError);
    await stage.skip('2 hours');
    await stage.syncClock();
    const redraw = await stage.sandbox.redraw(kit.rootOrderId);
    await kit.hears(redraw);
    const { chain } = await kit.shows({ orderId: redraw.order.id, phase: 'preparing', attention: [] });
    expect(chain).toMatchObject([
      { orderId: kit.rootOrderId, phase: 'failed', replacedBy: redraw.order.id },
      { orderId: redraw.order.id, origin: 'redraw', replaces: kit.rootOrderId },
    ]);
    await stage.skip('2 days');
    await kit.goes('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
    expect(await kit.ends()).toMatchObject({ outcome: 'completed', orderId: redraw.order.id });
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('whose redraw no webhook told of is not replaced either', async () => {
    const kit = await kitAtLab({ onSampleError: 'replace' });
    await kit.goes(sampleError);
    await stage.syncClock();
    const redraw = await stage.sandbox.redraw(kit.rootOrderId, { webhook: false });
    await stage.skip('25 hours');
    await kit.shows({ orderId: redraw.order.id, phase: 'preparing', attention: [] });
    expect(await stage.countRequests('POST', createPath)).toBe(1);
    expect((await kit.handle.state()).chain.map(({ origin }) => origin)).toEqual(['initial', 'redraw']);
  });
});

test('a blocked sample that the lab can process after all asks nobody', async () => {
  const kit = await kitAtLab();
  await kit.goes({ status: 'lab_processing_blocked', status_detail: 'date_of_collection_unspecified' });
  await kit.shows({
    phase: 'at_lab',
    problem: expect.objectContaining({ detail: 'date_of_collection_unspecified' }) as never,
  });
  await stage.skip('3 days');
  await kit.goes('delivered_to_lab');
  expect((await kit.handle.state()).problem).toBeUndefined();
  await stage.skip('6 days');
  await kit.asksFor();
  await kit.goes('completed');
  expect(await kit.ends()).toMatchObject({ outcome: 'completed' });
});

test('a sample that stays blocked asks a person and is never replaced by itself', async () => {
  const kit = await kitAtLab({ onProblem: 'replace' });
  await kit.goes('lab_processing_blocked');
  await stage.skip('8 days');
  await kit.asksFor('problem_persists');
  expect(await stage.countRequests('POST', createPath)).toBe(1);
});

test('a correction after the end is announced as one, and nothing else is announced again', async () => {
  const kit = await kitAtLab();
  await kit.goes('completed');
  expect(await kit.ends()).toMatchObject({ outcome: 'completed', interpretation: 'normal' });
  const before = kit.notifications.length;
  await stage.skip('5 days');
  await kit.goes({ status: 'corrected', interpretation: 'abnormal' });
  expect(await kit.ends()).toMatchObject({ outcome: 'completed', interpretation: 'abnormal' });
  const ids = new Set(kit.notifications.slice(0, before).map(({ id }) => id));
  const news = kit.notifications.filter(({ id }) => !ids.has(id));
  expect(news).toMatchObject([{ type: 'correction', data: { interpretation: 'abnormal' } }]);
});
