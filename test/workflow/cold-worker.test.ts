import { test } from 'vitest';
import { kitOrderId } from '../../protocol/ids.js';
import { criticalResultReportedSignal, orderChangedSignal } from '../../protocol/order/messages.js';
import { defaultInstallation } from '../../service/installation.js';
import { snapshotOf } from '../../service/order/projection.js';
import type { Kit } from './kit.js';
import { setStage } from './story.js';

/*
 * An order's events come days apart, so its worker seldom has it in memory. The SDK then hands a command to the workflow in one step
 * with the reports before it that changed nothing; every later replay hands them over one after the other.
 */
const stage = setStage({ isCold: true, fullServer: true });

const workflow = ({ rootOrderId }: Kit) => stage.temporal.workflow.getHandle(kitOrderId(rootOrderId));

/** A webhook that says nothing which the workflow acts on. */
async function reportTracking(kit: Kit): Promise<void> {
  const order = snapshotOf(await stage.service.orders.get(kit.rootOrderId), defaultInstallation);
  const updatedAt = new Date(Date.now() + 1000).toISOString();
  const shipment = { ...order.shipment, outboundTrackingNumber: 'INVENTED-1' };
  await workflow(kit).signal(orderChangedSignal, { ...order, updatedAt, shipment });
}

test('an overdue order goes on after it got a tracking number, and a person decided to wait', async () => {
  const kit = await stage.place({ policy: { shippingDeadline: '2s' } });
  await kit.expectAttention('shipping_overdue');
  await kit.untilIdle();
  await reportTracking(kit);
  await kit.untilIdle();
  await kit.handle.resolveProblem({ orderId: kit.rootOrderId, decision: 'wait' });
  await kit.move('transit_customer');
  await kit.expectState({ phase: 'in_transit_to_customer' });
});

test('an order whose critical result was reported twice, and acknowledged, raises the next alarm', async () => {
  const kit = await stage.place({ kind: 'with_patient' });
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab');
  const report = { orderId: kit.rootOrderId, status: 'partial', interpretation: 'critical' };
  await workflow(kit).signal(criticalResultReportedSignal, report);
  await kit.expectAttention('critical_result');
  await kit.untilIdle();
  await workflow(kit).signal(criticalResultReportedSignal, report);
  await kit.untilIdle();
  await kit.handle.acknowledgeCriticalResult({ orderId: kit.rootOrderId, by: 'nurse-17', outcome: 'confirmed' });
  await kit.untilIdle();
  await workflow(kit).signal(criticalResultReportedSignal, { ...report, status: 'final' });
  await kit.expectAttention('critical_result');
});
