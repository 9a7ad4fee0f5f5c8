import { setTimeout as sleep } from 'node:timers/promises';
import { deliverNotificationsId, kitOrderId, notificationReplayId } from '../../../protocol/ids.js';
import { following } from '../../rig/followed.js';
import { type Stage, until } from '../stage.js';
import { type Story, untilIdle } from './story.js';

export const notifications: readonly Story[] = [
  /** Two notifications of an order are refused for good: one is sent again, the other discarded. */
  async function notificationsRefused(stage) {
    const { source, ids } = await refused(stage, ['transit_customer']);
    const [first = '', second = ''] = ids;
    await stage.labs.notifications.resend(source, { ids: [first] });
    while ((await stage.labs.notifications.state(source)).delivered === 0) await sleep(50);
    await stage.labs.notifications.discard(source, { ids: [second] });
    await stage.temporal.workflow.getHandle(deliverNotificationsId(source)).result();
    return { 'notifications-refused': deliverNotificationsId(source), 'order-with-refused-notifications': source };
  },

  /** An alarm comes while the receiver is down: the attempts for what was before it are called back, and begin again with it. */
  async function alarmBehindOthers(stage) {
    stage.receiver.isDown = true;
    const { handle, orderId } = await stage.place();
    while (stage.receiver.attempts < 2) await sleep(50);
    await stage.sandbox.reportCritical(orderId, { status: 'final', interpretation: 'critical' });
    await until(following(handle), ({ criticalResult }) => criticalResult !== undefined);
    stage.receiver.isDown = false;
    while (!stage.receiver.about(orderId).some(({ type }) => type === 'critical_result')) await sleep(50);
    await handle.acknowledgeCriticalResult({ orderId, by: 'nurse-17', outcome: 'confirmed' });
    await untilIdle(stage, kitOrderId(orderId));
    return { 'alarm-behind-others': kitOrderId(orderId) };
  },

  /** The product has lost what it accepted, and gets it again. */
  async function notificationsReplayed(stage) {
    const since = new Date();
    const { orderId } = await stage.place();
    while (stage.receiver.about(orderId).length === 0) await sleep(50);
    await untilIdle(stage, kitOrderId(orderId));
    await stage.labs.notifications.replay({ since });
    const delivery = deliverNotificationsId(kitOrderId(orderId));
    await stage.temporal.workflow.getHandle(delivery).result();
    const replay = notificationReplayId(since.toISOString(), 'lab-operations');
    return { 'notifications-replayed': replay, 'notifications-sent-again': delivery };
  },
];

/** An order whose changes of phase the receiver refuses for good, and their ids. */
export async function refused(stage: Stage, statuses: string[]): Promise<{ source: string; ids: string[] }> {
  stage.receiver.refuses = ({ id }) => id.endsWith('/phase_changed');
  const { handle, orderId } = await stage.place();
  const source = kitOrderId(orderId);
  const ids: string[] = [];
  const wait = async (count: number): Promise<void> => {
    while (ids.length < count) {
      await sleep(50);
      const { undelivered } = await stage.labs.notifications.state(source).catch(() => ({ undelivered: [] }));
      ids.splice(0, ids.length, ...undelivered.map(({ id }) => id));
    }
  };
  await wait(1);
  for (const [index, status] of statuses.entries()) {
    await stage.move(handle, orderId, [status]);
    await wait(index + 2);
  }
  stage.receiver.refuses = () => false;
  return { source, ids };
}
