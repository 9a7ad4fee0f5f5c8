import { kitOrderId } from '../../../protocol/ids.js';
import { criticalResultReportedSignal, orderChangedSignal } from '../../../protocol/order/messages.js';
import { defaultInstallation } from '../../../service/installation.js';
import { snapshotOf } from '../../../service/order/projection.js';
import { following } from '../../rig/followed.js';
import { until } from '../stage.js';
import { untilIdle, type Story } from './story.js';

/** Each ends with a command after a report that changed nothing: the worker gets both in one step, a replay one after the other. */
export const cold: readonly Story[] = [
  async function coldDecision(stage) {
    const { handle, orderId } = await stage.place({ shippingDeadline: '2s' });
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(orderId));
    await until(following(handle), ({ attention }) => attention.length > 0);
    await untilIdle(stage, workflow.workflowId);
    const order = snapshotOf((await stage.sandbox.order(orderId)).order, defaultInstallation);
    const updatedAt = new Date(Date.now() + 1000).toISOString();
    const shipment = { ...order.shipment, outboundTrackingNumber: 'INVENTED-1' };
    await workflow.signal(orderChangedSignal, { ...order, updatedAt, shipment });
    await untilIdle(stage, workflow.workflowId);
    await handle.resolveProblem({ orderId, decision: 'wait' });
    await stage.move(handle, orderId, ['transit_customer']);
    return { 'cold-decision': workflow.workflowId };
  },

  async function coldAcknowledgement(stage) {
    const { handle, orderId } = await stage.place();
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(orderId));
    await stage.move(handle, orderId, ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab']);
    const report = { orderId, status: 'partial', interpretation: 'critical' };
    for (let time = 0; time < 2; time += 1) {
      await workflow.signal(criticalResultReportedSignal, report);
      await until(following(handle), ({ criticalResult }) => criticalResult?.isOpen === true);
      await untilIdle(stage, workflow.workflowId);
    }
    await handle.acknowledgeCriticalResult({ orderId, by: 'nurse-17', outcome: 'confirmed' });
    await stage.move(handle, orderId, ['completed']);
    return { 'cold-acknowledgement': workflow.workflowId };
  },
];
