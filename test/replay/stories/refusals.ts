import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { parseKeyRing } from '../../../client/encryption/key-ring.js';
import { labDataConverter } from '../../../client/encryption/payload-codec.js';
import { kitOrderId } from '../../../protocol/ids.js';
import { kitOrderName, orderChangedSignal } from '../../../protocol/order/messages.js';
import type { Fault } from '../../../protocol/unencrypted.js';
import { inventedKeys } from '../keys.js';
import { untilIdle, type Story } from './story.js';

/** Input by clients without the keys of a worker that requires encryption. */
export const refusals: readonly Story[] = [
  async function inputRefused(stage) {
    const { connection } = stage.temporal;
    const otherKeys = parseKeyRing(inventedKeys.replace('invented', 'another'));
    const clients: Record<Fault, Client> = {
      unencrypted: new Client({ connection }),
      unreadable: new Client({ connection, dataConverter: labDataConverter(otherKeys) }),
    };
    const recorded: Record<string, string> = { 'refused-start': kitOrderId('invented') };
    const start = { workflowId: kitOrderId('invented'), taskQueue: 'lab-operations', args: [{}] };
    await clients.unencrypted.workflow.execute(kitOrderName, start).catch(() => undefined);
    for (const [fault, client] of Object.entries(clients)) {
      stage.receiver.hangs = true;
      const { orderId } = await stage.place();
      const workflowId = kitOrderId(orderId);
      const order = client.workflow.getHandle(workflowId);
      await order.signal(orderChangedSignal.name, {});
      for (let activityId = ''; activityId === ''; await sleep(50)) {
        const { raw } = await order.describe();
        activityId =
          raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'notify')?.activityId ?? '';
        if (activityId !== '')
          await client.activity.complete({ workflowId, activityId }, { delivered: [], refused: [] });
      }
      stage.receiver.hangs = false;
      await untilIdle(stage, workflowId);
      recorded[`refused-${fault}`] = workflowId;
    }
    return recorded;
  },
];
