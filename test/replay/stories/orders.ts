import { setTimeout as sleep } from 'node:timers/promises';
import { errors, type OrderHandle } from '../../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../../protocol/ids.js';
import { kitFor, registration } from '../../rig/cast.js';
import { placeKitOrderName } from '../../../protocol/order/placing-messages.js';
import { reconcileOrdersId } from '../../../protocol/reconcile.js';
import { unreadableSignal } from '../../../protocol/unencrypted.js';
import { following } from '../../rig/followed.js';
import { until, type Stage } from '../stage.js';
import { untilIdle, untilListed, type Story } from './story.js';

const toCustomer = ['transit_customer', 'with_customer'];
const toResults = ['transit_lab', 'completed'];

export const orders: readonly Story[] = [
  async function registered(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, toCustomer);
    const { kit_sample_id: sampleId } = await stage.sandbox.order(orderId);
    await handle.register({ registration: registration(sampleId ?? '') });
    await stage.move(handle, orderId, toResults);
    await handle.result();
    return { placed: placeKitOrderId(handle.reference ?? ''), registered: kitOrderId(orderId) };
  },

  async function replacedAfterLoss(stage) {
    const { handle, orderId } = await stage.place({ onLost: 'replace' });
    await stage.move(handle, orderId, ['transit_customer', 'problem_in_transit_customer', 'lost']);
    const { orderId: replacement } = await until(following(handle), ({ chain }) => chain.length === 2);
    await stage.move(handle, replacement, [...toCustomer, ...toResults]);
    await handle.result();
    return { 'replaced-after-loss': kitOrderId(orderId) };
  },

  /** Nothing in the replacement's webhooks leads to the chain: they come to a run of its own, which passes them on. */
  async function replacedWithoutPassthrough(stage) {
    const { handle, orderId } = await stage.place({ onLost: 'replace' });
    await stage.sandbox.changeSettings({ echoPassthrough: false });
    await stage.move(handle, orderId, ['transit_customer', 'problem_in_transit_customer', 'lost']);
    const { orderId: replacement } = await until(following(handle), ({ chain }) => chain.length === 2);
    await stage.move(handle, replacement, [...toCustomer, ...toResults]);
    await handle.result();
    await stage.temporal.workflow.getHandle(kitOrderId(replacement)).result();
    await stage.sandbox.changeSettings({ echoPassthrough: true });
    return { 'replaced-without-passthrough': kitOrderId(orderId), 'joined-chain': kitOrderId(replacement) };
  },

  /** Raised by the alarm before the order completes, reminded of after its end, and acknowledged. */
  async function criticalResult(stage) {
    const { handle, orderId } = await stage.place({ criticalResultReminder: '1s' });
    await stage.move(handle, orderId, [...toCustomer, 'transit_lab', 'delivered_to_lab']);
    // The alarm is raised, and its reminder set, in a workflow task that could be replayed together with the one before it.
    await untilIdle(stage, kitOrderId(orderId));
    await stage.sandbox.reportCritical(orderId, { status: 'partial', interpretation: 'normal' });
    await until(following(handle), ({ criticalResult }) => criticalResult?.status === 'partial');
    await stage.sandbox.move(orderId, { status: 'completed', interpretation: 'critical' });
    await until(following(handle), ({ criticalResult }) => (criticalResult?.reminders ?? 0) > 1);
    await handle.acknowledgeCriticalResult({ orderId, by: 'nurse-17', outcome: 'confirmed' });
    await handle.result();
    return { 'critical-result': kitOrderId(orderId) };
  },

  /** The alarm about a redraw, and a signal that nobody can decrypt, come to a run of the redraw's own, which passes them on. */
  async function forwardedCriticalResult(stage) {
    await stage.sandbox.changeSettings({ transactionInWebhooks: false });
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'delivered_to_lab', 'sample_error']);
    const { order: redraw } = await stage.sandbox.redraw(orderId);
    await until(following(handle), ({ chain }) => chain.length === 2);
    await stage.sandbox.reportCritical(redraw.id, { status: 'partial', interpretation: 'critical' });
    await until(following(handle), ({ criticalResult }) => criticalResult?.status === 'partial');
    const forwarder = kitOrderId(redraw.id);
    await stage.temporal.workflow.getHandle(forwarder).signal(unreadableSignal);
    await until(following(handle), ({ attention }) => attention.some(({ reason }) => reason === 'unreadable_signal'));
    await stage.move(handle, redraw.id, ['transit_customer', 'completed']);
    await stage.temporal.workflow.getHandle(forwarder).result();
    await stage.sandbox.changeSettings({ transactionInWebhooks: true });
    return { 'critical-result-forwarded': forwarder };
  },

  /** Cancelled while an answer is lost: what was created meanwhile is found and cancelled. */
  async function cancelledWhilePlaced(stage) {
    const refused = { method: 'GET', path: '/orders', times: 1, action: { kind: 'refuse' } } as const;
    const lost = { method: 'POST', path: '/v3/order/testkit', action: { kind: 'drop_response' } } as const;
    await stage.sandbox.addFault(refused);
    await stage.sandbox.addFault(lost);
    const { user } = await stage.sandbox.createUser();
    const reference = `recorded-${user.user_id}`;
    const handle = await stage.labs.orders.place(
      kitFor(user.user_id, reference, { creationTimeout: '1s', creationSettling: '2s' }),
    );
    while ((await stage.sandbox.orders()).every(({ order }) => order.user_id !== user.user_id)) await sleep(50);
    await stage.sandbox.removeFaults();
    await handle.cancel();
    const workflowId = placeKitOrderId(reference);
    await stage.temporal.workflow.getHandle(workflowId).result();
    return { 'placing-cancelled': workflowId };
  },

  async function reconciled(stage) {
    const { handle, orderId } = await stage.place();
    await handle.cancel();
    await stage.temporal.workflow.getHandle(kitOrderId(orderId)).result();
    // What was updated lately is left to its webhooks.
    const range = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
    await stage.labs.orders.reconcile(range);
    return { reconciled: reconcileOrdersId('lab-operations', range) };
  },

  async function redrawn(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'delivered_to_lab', 'sample_error']);
    const { order: redraw } = await stage.sandbox.redraw(orderId);
    await until(following(handle), ({ chain }) => chain.length === 2);
    await stage.move(handle, redraw.id, [...toCustomer, ...toResults]);
    await handle.result();
    return { redrawn: kitOrderId(orderId) };
  },

  async function forwarded(stage) {
    await stage.sandbox.changeSettings({ transactionInWebhooks: false });
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'delivered_to_lab', 'sample_error']);
    const { order: redraw } = await stage.sandbox.redraw(orderId);
    await until(following(handle), ({ chain }) => chain.length === 2);
    await stage.move(handle, redraw.id, ['transit_customer', 'completed']);
    await handle.result();
    const forwarder = kitOrderId(redraw.id);
    await stage.temporal.workflow.getHandle(forwarder).result();
    await stage.sandbox.changeSettings({ transactionInWebhooks: true });
    return { forwarder };
  },

  async function cancelled(stage) {
    const { handle, orderId } = await stage.place();
    await handle.cancel();
    await handle.result();
    return { cancelled: kitOrderId(orderId) };
  },

  /** Reminders, a missed limit, more patience, a problem that outlasts its limit, and a manual replacement. */
  async function overdue(stage) {
    const policy = { registrationReminders: ['1s'], deliveryDeadline: '1s', problemLimit: '1s' } as const;
    const { handle, orderId } = await stage.place({
      ...policy,
      registrationReminders: [...policy.registrationReminders],
    });
    await stage.move(handle, orderId, ['transit_customer']);
    await until(handle, ({ attention }) => attention.some(({ reason }) => reason === 'delivery_overdue'));
    await handle.resolveProblem({ orderId, decision: 'wait' });
    await stage.move(handle, orderId, ['with_customer']);
    // The reminder was due within seconds.
    await until(handle, ({ waiting }) => !(Date.parse(waiting.until ?? '') < Date.now() + 5_000));
    await stage.move(handle, orderId, ['transit_lab', 'problem_in_transit_lab']);
    await until(handle, ({ attention }) => attention.some(({ reason }) => reason === 'problem_persists'));
    const { orderId: replacement } = await handle.replaceKit({ orderId });
    await stage.move(handle, replacement, ['completed']);
    await handle.result();
    return { overdue: kitOrderId(orderId) };
  },

  /** Started by a backend in another language, which gives a part of the policy. */
  async function placedElsewhere(stage) {
    const { user } = await stage.sandbox.createUser();
    const reference = `recorded-${user.user_id}`;
    const workflowId = placeKitOrderId(reference);
    const input = kitFor(user.user_id, reference, { shippingDeadline: '6d' });
    const placing = await stage.temporal.workflow.start(placeKitOrderName, {
      workflowId,
      taskQueue: 'lab-operations',
      args: [input],
    });
    await placing.result();
    const handle = await stage.labs.orders.getHandle({ reference });
    await handle.cancel();
    await handle.result();
    return { 'placed-elsewhere': workflowId };
  },

  async function policyChanged(stage) {
    const { handle, orderId } = await stage.place({ shippingDeadline: '1s' });
    await until(following(handle), ({ attention }) => attention.some(({ reason }) => reason === 'shipping_overdue'));
    await handle.setPolicy({ shippingDeadline: '8d' });
    await until(following(handle), ({ attention }) => attention.length === 0);
    await handle.cancel();
    await handle.result();
    return { 'policy-changed': kitOrderId(orderId) };
  },

  async function adopted(stage) {
    const { order } = await stage.sandbox.createOrder();
    const handle = await found(stage, order.id);
    await stage.move(handle, order.id, [...toCustomer, ...toResults]);
    await handle.result();
    return { adopted: kitOrderId(order.id) };
  },

  async function adoptedForReference(stage) {
    const { order } = await stage.sandbox.createOrder();
    const handle = await found(stage, order.id);
    const reference = `recorded-${order.id}`;
    await stage.labs.orders.adopt({ orderId: order.id, reference });
    await stage.move(handle, order.id, [...toCustomer, ...toResults]);
    await handle.result();
    return { adoption: placeKitOrderId(reference), 'adopted-for-reference': kitOrderId(order.id) };
  },

  async function corrected(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'completed']);
    await handle.result();
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(orderId));
    const { runId: first } = await workflow.describe();
    // A later run learns from the list what the earlier one announced; the list lags by moments.
    await untilListed(stage, `WorkflowId = '${workflow.workflowId}' AND ExecutionStatus = 'Completed'`);
    await stage.sandbox.move(orderId, 'corrected');
    while ((await workflow.describe()).runId === first) await sleep(50);
    await handle.result();
    return { corrected: kitOrderId(orderId) };
  },
];

async function found(stage: Stage, orderId: string): Promise<OrderHandle> {
  for (;;) {
    try {
      return await stage.labs.orders.getHandle({ orderId });
    } catch (error) {
      if (!(error instanceof errors.OrderNotFound)) throw error;
      await sleep(50);
    }
  }
}
