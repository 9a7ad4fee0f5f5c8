import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../../activities/workflow-runs.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import { namespace } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { registration } from '../rig/cast.js';
import { setStage, type Stage } from './story.js';

/** Removes closed workflows, as the end of the namespace's retention does. */
async function forget(stage: Stage, ...workflowIds: string[]): Promise<void> {
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

async function placed(stage: Stage, input: PlaceKitOrderInput, cancelled: boolean): Promise<string> {
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

// The full server lists workflows.
describe('at a service that shows no passthrough', () => {
  const stage = setStage({ fullServer: true, echoesPassthrough: false });

  test('a reference whose placement is past retention orders no second kit, whether its order goes on or has ended', async () => {
    const [running, over] = [await stage.input(), await stage.input()];
    // Placed a day before they are placed again.
    await stage.sandbox.setClock(new Date(Date.now() - 86_400_000));
    const orderIds = [await placed(stage, running, false), await placed(stage, over, true)];
    await forget(stage, placeKitOrderId(running.reference), placeKitOrderId(over.reference));
    const again = await Promise.all([running, over].map((input) => stage.product.orders.place(input)));
    expect(await Promise.all(again.map((handle) => handle.orderId()))).toEqual(orderIds);
    expect(await stage.sandbox.orders()).toHaveLength(2);
  });
});

describe('at a service that shows passthrough', () => {
  const stage = setStage({ fullServer: true });

  test('a reference past retention orders no second kit: neither after a registration to another user, nor if the order cannot be read, nor for another user', async () => {
    const [moved, hidden, others] = [await stage.input(), await stage.input(), await stage.input()];
    const [movedId, hiddenId] = [await placed(stage, moved, false), await placed(stage, hidden, false)];
    await placed(stage, others, false);
    const { user } = await stage.sandbox.createUser();
    const { kit_sample_id: printed } = await stage.sandbox.order(movedId);
    await stage.service.orders.register(registration(printed ?? '', user.user_id));
    await forget(stage, ...[moved, hidden, others].map(({ reference }) => placeKitOrderId(reference)));

    expect(await (await stage.product.orders.place(moved)).orderId()).toBe(movedId);
    await stage.sandbox.addFault({
      path: `/v3/order/${hiddenId}`,
      action: { kind: 'answer', status: 422, body: { detail: 'invented: not a UUID' } },
    });
    expect(await (await stage.product.orders.place(hidden)).orderId()).toBe(hiddenId);
    const ofAnother = { ...others, order: { ...others.order, user_id: user.user_id } } as PlaceKitOrderInput;
    const refused = (await stage.product.orders.place(ofAnother)).orderId();
    await expect(refused).rejects.toMatchObject({ name: 'OrderRefused', fields: [{ field: 'reference' }] });
    expect(await stage.sandbox.orders()).toHaveLength(3);
  });
});
