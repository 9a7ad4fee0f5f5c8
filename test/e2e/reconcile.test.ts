import { Registry } from 'prom-client';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EarlierFailure } from '../../client/index.js';
import { createLabService } from '../../service/lab-service.js';
import type { Order } from '../../service/order/orders.js';
import { kitOrderId } from '../../protocol/ids.js';
import { reconcileScheduleId, type ReconcileResult } from '../../protocol/reconcile.js';
import { watchReconciliation } from '../../workers/monitoring/last-reconciliation.js';
import { patience, stack } from './stack.js';

// Encrypted: a pass reads the result of the pass before, which another workflow of the schedule wrote.
const worker = { RECONCILE_EVERY_MINUTES: '1440', LABOPS_ENCRYPTION: 'required' };
const lab = stack({ own: true, worker });
const hour = 60 * 60_000;

/** From now on no webhook arrives: the outage of an ingress that outlasts all of the service's retries. */
beforeAll(async () => {
  await lab.sandbox.changeSettings({ webhookUrl: '' });
  // A pass of its own at midnight would be counted with those of the tests.
  await lab.rig.client.schedule.getHandle(reconcileScheduleId(lab.rig.taskQueue)).pause();
});

/** The service's events carry this time, so they lie as far back as the story needs. */
async function hoursAgo(hours: number): Promise<Date> {
  const time = new Date(Date.now() - hours * hour);
  await lab.sandbox.setClock(time);
  return time;
}

async function dashboardOrder(...statuses: string[]): Promise<string> {
  const { order } = await lab.sandbox.createOrder();
  for (const status of statuses) await lab.sandbox.move(order.id, status);
  return order.id;
}

/** The order as the service shows it. */
async function orderAtService(orderId: string): Promise<Order> {
  const { url: baseUrl, apiKey } = lab.service;
  const service = createLabService({ baseUrl, apiKey });
  try {
    return await service.orders.get(orderId);
  } finally {
    await service.close();
  }
}

const toTheEnd = ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed'];

/** One pass of the schedule, triggered manually. */
async function scheduledPass(): Promise<ReconcileResult> {
  const schedule = lab.rig.client.schedule.getHandle(reconcileScheduleId(lab.rig.taskQueue));
  const lastStarted = async () => (await schedule.describe()).info.recentActions.at(-1)?.action.workflow;
  // Two passes within a second have one workflow ID.
  const lastRunId = async () => (await lastStarted())?.firstExecutionRunId;
  const before = await lastRunId();
  // The schedule may not know yet that the pass before has ended: it starts this one as soon as it does.
  await schedule.trigger('BUFFER_ONE');
  await expect.poll(lastRunId, patience).not.toBe(before);
  const { workflowId = '', firstExecutionRunId } = (await lastStarted()) ?? {};
  return lab.rig.client.workflow.getHandle(workflowId, firstExecutionRunId).result() as Promise<ReconcileResult>;
}

describe('a range of time', () => {
  test('a range of time whose webhooks were lost is caught up: open orders are followed, a missed end is announced', async () => {
    const from = await hoursAgo(50);
    const [open, ended] = [await dashboardOrder('transit_customer'), await dashboardOrder(...toTheEnd)];
    const range = { from: from.toISOString(), to: new Date(from.getTime() + hour).toISOString() };
    expect(await lab.labs.orders.reconcile(range)).toEqual({
      watermark: range.to,
      ...{ listed: 2, notified: 1, finished: 0, reopened: 1, passedOver: 0, critical: 0, matchReviews: 0 },
    });
    const handle = await lab.labs.orders.getHandle({ orderId: open });
    await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
    expect(await lab.rig.client.workflow.getHandle(kitOrderId(ended)).result()).toMatchObject({
      outcome: 'completed',
      orderId: ended,
    });
    await expect.poll(() => lab.receiver.about(ended).map(({ type }) => type), patience).toContain('result');
  });

  test('an end that a running workflow has not received, or a terminated run has not seen, is counted as missed and brought; a known one starts no second run', async () => {
    const from = await hoursAgo(47);
    const known = await dashboardOrder(...toTheEnd);
    const [running, terminated] = [await dashboardOrder('transit_customer'), await dashboardOrder('transit_customer')];
    const range = { from: from.toISOString(), to: new Date(from.getTime() + hour).toISOString() };
    const resultOf = (orderId: string) => lab.rig.client.workflow.getHandle(kitOrderId(orderId)).result();
    expect(await lab.labs.orders.reconcile(range)).toMatchObject({ listed: 3, notified: 2, reopened: 1 });
    await resultOf(known);
    const handle = await lab.labs.orders.getHandle({ orderId: running });
    await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
    // It still reads its order when it shows the phase: that read must not bring the end.
    await lab.untilIdle(running);
    await lab.rig.client.workflow.getHandle(kitOrderId(terminated)).terminate('by the test');
    for (const status of toTheEnd.slice(1))
      for (const orderId of [running, terminated]) await lab.sandbox.move(orderId, status);
    expect(await lab.labs.orders.reconcile(range)).toMatchObject({ listed: 3, finished: 1, reopened: 2 });
    await Promise.all([resultOf(running), resultOf(terminated)]);
    expect(await lab.labs.orders.reconcile(range)).toMatchObject({ listed: 3, finished: 3, reopened: 0 });
    for (const orderId of [known, running]) expect(await lab.runsOf(orderId)).toHaveLength(1);
  });

  test('a range of time whose last run failed is run again, and why it failed is reported', async () => {
    const range = { from: '2001-02-01', to: '2001-02-02' };
    const action = { kind: 'answer', status: 400, body: { detail: 'Invented: not now' } } as const;
    await lab.sandbox.addFault({ method: 'GET', path: '/orders', times: 1, action });
    await expect(lab.labs.orders.reconcile(range)).rejects.toMatchObject({ name: 'OrderRefused' });
    const failures: EarlierFailure[] = [];
    const onEarlierFailure = (failure: EarlierFailure) => failures.push(failure);
    expect(await lab.labs.orders.reconcile(range, { onEarlierFailure })).toMatchObject({ listed: 0 });
    const error: unknown = expect.objectContaining({ name: 'OrderRefused', serviceSentence: 'Invented: not now' });
    expect(failures).toEqual([{ at: expect.any(Date) as Date, error }]);
    await lab.labs.orders.reconcile(range, { onEarlierFailure });
    expect(failures).toHaveLength(1);
  });
});

describe('the schedule', () => {
  test('goes on where its last complete pass ended, and starts no second run for a known end', async () => {
    await hoursAgo(2);
    const ended = await dashboardOrder(...toTheEnd);
    const first = await scheduledPass();
    expect(first.reopened).toBeGreaterThanOrEqual(1);
    await lab.rig.client.workflow.getHandle(kitOrderId(ended)).result();
    await hoursAgo(0.5);
    const later = await dashboardOrder('transit_customer');
    const second = await scheduledPass();
    expect(Date.parse(second.watermark)).toBeGreaterThan(Date.parse(first.watermark));
    expect(second).toMatchObject({ listed: 1, notified: 1, reopened: 0 });
    expect((await (await lab.labs.orders.getHandle({ orderId: later })).state()).phase).toBe('in_transit_to_customer');
    await lab.untilListedAsEnded(ended, 1);
  });

  test('announces an end that is listed only long after it happened, once', async () => {
    const { watermark } = await scheduledPass();
    await hoursAgo(30);
    const ended = await dashboardOrder(...toTheEnd);
    const order = { ...(await orderAtService(ended)), updated_at: watermark };
    const list = { kind: 'answer', status: 200, body: { orders: [order], total: 1, size: 50 } } as const;
    await lab.sandbox.addFault({ method: 'GET', path: '/orders', action: list });
    expect(await scheduledPass()).toMatchObject({ listed: 1, reopened: 1 });
    await lab.rig.client.workflow.getHandle(kitOrderId(ended)).result();
    expect(await scheduledPass()).toMatchObject({ listed: 1, finished: 1, reopened: 0 });
    expect(await lab.runsOf(ended)).toHaveLength(1);
  });

  test('finds a critical result that was lost, wherever its order was listed last, and reminds until it is acknowledged', async () => {
    await hoursAgo(5);
    const orderId = await dashboardOrder(...toTheEnd);
    await lab.labs.orders.reconcile({
      from: new Date(Date.now() - 6 * hour).toISOString(),
      to: new Date().toISOString(),
    });
    await lab.rig.client.workflow.getHandle(kitOrderId(orderId)).result();
    // Long before what the next pass lists.
    await hoursAgo(20);
    await lab.sandbox.interpret(orderId, { interpretation: 'critical', webhook: false });
    // Not every deployment knows each of the two filters.
    await lab.sandbox.changeSettings({ criticalFilter: 'is_critical' });
    expect((await scheduledPass()).critical).toBe(1);
    await lab.sandbox.changeSettings({ criticalFilter: 'interpretation' });
    expect((await scheduledPass()).critical).toBe(1);
    await lab.sandbox.changeSettings({ criticalFilter: 'both' });
    const handle = await lab.labs.orders.getHandle({ orderId });
    await expect
      .poll(async () => (await handle.state()).attention, patience)
      .toMatchObject([{ reason: 'critical_result' }]);
    await expect.poll(() => lab.receiver.about(orderId).map(({ type }) => type), patience).toContain('critical_result');
    await scheduledPass();
    expect((await handle.state()).attention).toHaveLength(1);
    await handle.acknowledgeCriticalResult({ orderId, by: 'nurse-17', outcome: 'confirmed' });
    await lab.rig.client.workflow.getHandle(kitOrderId(orderId)).result();
    await lab.untilListedAsEnded(orderId, 2);
    await scheduledPass();
    expect(await lab.runsOf(orderId)).toHaveLength(2);
  });

  test('shows as a metric when its last complete pass began', async () => {
    const before = Math.floor(Date.now() / 1000);
    await scheduledPass();
    const begun = async () => {
      const registry = new Registry();
      await watchReconciliation(registry, {
        client: lab.rig.client,
        taskQueue: lab.rig.taskQueue,
        log: { warn: () => expect.unreachable() },
        isOn: true,
      })();
      const shown = await registry.getSingleMetric('labops_last_reconciliation_timestamp_seconds')?.get();
      return shown?.values[0]?.value ?? 0;
    };
    await expect.poll(begun, patience).toBeGreaterThanOrEqual(before);
  });
});
