import { WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { runsOf } from '../../activities/workflow-runs.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import { namespace } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/** The service shows no passthrough again, and the full server lists workflows. */
const stage = setStage({ fullServer: true, echoesPassthrough: false });

/** Removes closed workflows, as the end of the namespace's retention does. */
async function forget(...workflowIds: string[]): Promise<void> {
  for (const workflowId of workflowIds) {
    await stage.temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  }
  for (const workflowId of workflowIds) {
    // The server deletes half a minute later.
    const described = () =>
      stage.temporal.workflow
        .getHandle(workflowId)
        .describe()
        .catch((error: unknown) => error);
    await expect.poll(described, { timeout: 180_000, interval: 500 }).toBeInstanceOf(WorkflowNotFoundError);
    await eventually(async () => expect(await runsOf(stage.temporal, workflowId)).toEqual([]));
  }
}

async function placed(input: PlaceKitOrderInput, cancelled: boolean): Promise<string> {
  const handle = await stage.product.orders.place(input);
  const orderId = await handle.orderId();
  await eventually(async () => expect((await handle.state()).reference).toBe(input.reference));
  if (cancelled) {
    await handle.cancel();
    await handle.result();
  }
  await eventually(async () => expect(await runsOf(stage.temporal, kitOrderId(orderId))).toHaveLength(1));
  return orderId;
}

test('a reference whose placement is past retention orders no second kit, whether its order goes on or has ended', async () => {
  const [running, over] = [await stage.input(), await stage.input()];
  // Placed a day before they are placed again.
  await stage.sandbox.setClock(new Date(Date.now() - 86_400_000));
  const orderIds = [await placed(running, false), await placed(over, true)];
  await forget(placeKitOrderId(running.reference), placeKitOrderId(over.reference));
  const again = await Promise.all([running, over].map((input) => stage.product.orders.place(input)));
  expect(await Promise.all(again.map((handle) => handle.orderId()))).toEqual(orderIds);
  expect(await stage.sandbox.orders()).toHaveLength(2);
});
