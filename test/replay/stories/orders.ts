import { setTimeout as sleep } from 'node:timers/promises';
import { OrderNotFound, type KitOrderHandle } from '../../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../../workflows/order/address.js';
import { registration } from '../../e2e/invented.js';
import { until, type Stage } from '../stage.js';
import { untilListed, type Story } from './story.js';

const toCustomer = ['transit_customer', 'with_customer'];
const toResults = ['transit_lab', 'completed'];

export const orders: readonly Story[] = [
  async function registered(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, toCustomer);
    const { kit_sample_id: sampleId } = await stage.sandbox.order(orderId);
    await handle.register(registration(sampleId ?? ''));
    await stage.move(handle, orderId, toResults);
    await handle.result();
    return { placed: placeKitOrderId(handle.reference ?? ''), registered: kitOrderId(orderId) };
  },

  async function replacedAfterLoss(stage) {
    const { handle, orderId } = await stage.place({ onLost: 'replace' });
    await stage.move(handle, orderId, ['transit_customer', 'problem_in_transit_customer', 'lost']);
    const { orderId: replacement } = await until(handle, ({ chain }) => chain.length === 2);
    await stage.move(handle, replacement, [...toCustomer, ...toResults]);
    await handle.result();
    return { 'replaced-after-loss': kitOrderId(orderId) };
  },

  async function redrawn(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'delivered_to_lab', 'sample_error']);
    const { order: redraw } = await stage.sandbox.redraw(orderId);
    await until(handle, ({ chain }) => chain.length === 2);
    await stage.move(handle, redraw.id, [...toCustomer, ...toResults]);
    await handle.result();
    return { redrawn: kitOrderId(orderId) };
  },

  async function forwarded(stage) {
    await stage.sandbox.changeSettings({ transactionInWebhooks: false });
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'delivered_to_lab', 'sample_error']);
    const { order: redraw } = await stage.sandbox.redraw(orderId);
    await until(handle, ({ chain }) => chain.length === 2);
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

  /** Reminders, a missed limit, more patience, a problem that outlasts its limit, and a replacement by hand. */
  async function overdue(stage) {
    const policy = { registrationReminders: ['1s'], deliveryDeadline: '1s', problemLimit: '1s' } as const;
    const { handle, orderId } = await stage.place({
      ...policy,
      registrationReminders: [...policy.registrationReminders],
    });
    await stage.move(handle, orderId, ['transit_customer']);
    await until(handle, ({ attention }) => attention.some(({ reason }) => reason === 'delivery_overdue'));
    await handle.resolveProblem('wait');
    await stage.move(handle, orderId, ['with_customer']);
    await until(handle, ({ waiting }) => !isWithinSeconds(waiting.until));
    await stage.move(handle, orderId, ['transit_lab', 'problem_in_transit_lab']);
    await until(handle, ({ attention }) => attention.some(({ reason }) => reason === 'problem_persists'));
    const { orderId: replacement } = await handle.replaceKit();
    await stage.move(handle, replacement, ['completed']);
    await handle.result();
    return { overdue: kitOrderId(orderId) };
  },

  async function adopted(stage) {
    const { order } = await stage.sandbox.createOrder();
    const handle = await found(stage, order.id);
    await stage.move(handle, order.id, [...toCustomer, ...toResults]);
    await handle.result();
    return { adopted: kitOrderId(order.id) };
  },

  async function corrected(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'completed']);
    await handle.result();
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(orderId));
    const { runId: first } = await workflow.describe();
    await untilListedAsEnded(stage, orderId);
    await stage.sandbox.move(orderId, 'corrected');
    while ((await workflow.describe()).runId === first) await sleep(50);
    await handle.result();
    return { corrected: kitOrderId(orderId) };
  },
];

function isWithinSeconds(until: string | undefined): boolean {
  return until !== undefined && Date.parse(until) < Date.now() + 5_000;
}

async function found(stage: Stage, orderId: string): Promise<KitOrderHandle> {
  for (;;) {
    try {
      return await stage.labs.orders.get({ orderId });
    } catch (error) {
      if (!(error instanceof OrderNotFound)) throw error;
      await sleep(50);
    }
  }
}

/** A later run learns from the list what the earlier one announced; the list lags by moments. */
async function untilListedAsEnded(stage: Stage, orderId: string): Promise<void> {
  await untilListed(stage, `WorkflowId = '${kitOrderId(orderId)}' AND ExecutionStatus = 'Completed'`);
}
