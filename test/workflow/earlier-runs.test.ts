import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { lastResultOf, runsOf } from '../../activities/workflow-runs.js';
import { lastRunOf } from '../../activities/last-run.js';
import { kitOrderId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/* The full server: it lists workflows. */
const stage = setStage({ eventsPerRun: 10_000 });

/** Like a server whose visibility does not know yet that anything ended. */
function lagging(temporal: Client): Client {
  const { workflow } = temporal;
  async function* list(options: { query?: string }) {
    for await (const { closeTime: _closeTime, ...run } of workflow.list(options)) {
      yield { ...run, status: { name: 'RUNNING', code: 1 } };
    }
  }
  return {
    workflow: { list, getHandle: workflow.getHandle.bind(workflow) },
    withDeadline: temporal.withDeadline.bind(temporal),
  } as unknown as Client;
}

test('a run that ended a moment ago counts as ended, although it is still listed as running', async () => {
  const kit = await stage.place();
  const workflowId = kitOrderId(kit.rootOrderId);
  await kit.handle.cancel();
  const result = await kit.result();
  const found = () => lastResultOf(lagging(stage.temporal), workflowId);
  // That it was started is listed within a moment.
  await expect.poll(found).toEqual(result);
});

test('a run that an operator has ended leads to the one before it that ended by itself', async () => {
  const kit = await stage.place();
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  await kit.handle.cancel();
  const result = await kit.result();
  const { runId: first } = await workflow.describe();

  // The service sends the kit that was cancelled all the same.
  await kit.move('transit_customer');
  await expect.poll(async () => (await workflow.describe()).runId).not.toBe(first);
  const { runId, workflowId } = await workflow.describe();
  await workflow.terminate('by an operator');
  // The run before it is found by a search, and visibility lags by a moment.
  await expect.poll(() => lastResultOf(stage.temporal, workflowId, { runId })).toEqual(result);
});

test('a run that is still going has no result, and is not waited for', async () => {
  const kit = await stage.place();
  const workflowId = kitOrderId(kit.rootOrderId);
  await eventually(async () => expect(await runsOf(stage.temporal, workflowId)).toHaveLength(1));
  expect(await lastResultOf(stage.temporal, workflowId)).toBeUndefined();
});

test('a critical result that was handed to a chain whose workflow still runs counts as known there', async () => {
  const kit = await stage.place();
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'sample_error');
  // Then the redraw's webhooks do not say which chain it belongs to.
  await stage.sandbox.changeSettings({ transactionInWebhooks: false });
  const { order } = await stage.sandbox.redraw(kit.rootOrderId);
  const { id: orderId } = order;
  await kit.expectState({ orderId });
  const lastRun = () => lastRunOf(stage.temporal, orderId);
  const ofChain = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));

  await stage.sandbox.move(orderId, 'completed');
  await expect.poll(lastRun).toMatchObject({ ended: 'by_itself', criticalOrders: [] });
  await stage.sandbox.interpret(orderId, { interpretation: 'critical' });
  await kit.expectAttention('critical_result');
  await expect.poll(lastRun).toMatchObject({ ended: 'by_itself', criticalOrders: [orderId] });
  expect((await ofChain.describe()).status.name).toBe('RUNNING');

  await kit.handle.acknowledgeCriticalResult({ by: 'nurse-17', outcome: 'confirmed', orderId });
  await kit.result();
  expect(await lastRun()).toMatchObject({ ended: 'by_itself', criticalOrders: [orderId] });
});

test('a replacement whose reservation was lost with its run is known by its number: no second kit is ordered', async () => {
  const kit = await stage.place();
  await kit.move('transit_customer', 'lost');
  const { orderId } = await kit.handle.replaceKit({ orderId: kit.rootOrderId });
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  const { runId } = await workflow.describe();
  await workflow.terminate('by an operator');
  await kit.moveOrder(orderId, 'transit_customer');
  await expect.poll(async () => (await workflow.describe()).runId).not.toBe(runId);
  expect(await kit.handle.replaceKit({ orderId: kit.rootOrderId })).toMatchObject({
    orderId,
    chain: [{ replacedBy: orderId }, { origin: 'replacement' }],
  });
  expect(await stage.sandbox.orders()).toHaveLength(2);
});
