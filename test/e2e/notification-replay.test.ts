import { describe, expect, test } from 'vitest';
import type { ReplayNotificationsResult } from '../../protocol/operators/notification-replay.js';
import { kitOrderId, notificationReplayId } from '../../protocol/ids.js';
import { answer, labops, type Ran } from './labops.js';
import { patience, stack, type Placed } from './stack.js';

/* A product that was restored to an earlier day, and has lost what it accepted since. Payloads are encrypted, as in production. */

const lab = stack({ own: true });

const run = (...args: string[]): Promise<Ran> => labops(lab, args);
const replay = (since: Date) =>
  answer<ReplayNotificationsResult>(run('notifications', 'replay', '--since', since.toISOString(), '-o', 'json'));

const aboutIds = ({ orderId }: Placed) => lab.receiver.about(orderId).map(({ id }) => id);
/** Waits until the product has got so many notifications about the order, and its workflow knows it. Answers with their ids. */
async function accepted(order: Placed, count: number): Promise<string[]> {
  await expect.poll(() => aboutIds(order), patience).toHaveLength(count);
  await lab.untilIdle(order.orderId);
  return aboutIds(order);
}

async function move(order: Placed, ...statuses: string[]): Promise<void> {
  for (const status of statuses) {
    await lab.sandbox.move(order.orderId, status);
    // Two that came together would be announced as one.
    await lab.sandbox.settleWebhooks();
    await lab.untilIdle(order.orderId);
  }
}

describe('labops notifications replay', () => {
  test('sends again what was accepted since then, of open and ended orders, with its ids and in its order', async () => {
    const [open, ended] = [await lab.place(), await lab.place()];
    await accepted(open, 1);
    await accepted(ended, 1);
    const since = new Date();
    await move(open, 'transit_customer', 'with_customer');
    await move(ended, 'transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
    await lab.untilListedAsEnded(ended.orderId);
    // A late webhook starts another run.
    await move(ended, 'corrected');
    await lab.untilListedAsEnded(ended.orderId, 2);
    const first = { open: aboutIds(open).slice(1), ended: aboutIds(ended).slice(1) };
    expect(first.ended.length).toBeGreaterThan(4);
    lab.receiver.accepted.length = 0;
    expect(await replay(since)).toEqual({
      notifications: first.open.length + first.ended.length,
      workflows: 2,
      unreadable: 0,
    });
    await expect.poll(() => [aboutIds(open), aboutIds(ended)], patience).toEqual([first.open, first.ended]);
    // What was sent again was accepted since then, too.
    lab.receiver.accepted.length = 0;
    expect(await replay(since)).toMatchObject({ notifications: first.open.length + first.ended.length });
    await expect.poll(() => [aboutIds(open), aboutIds(ended)], patience).toEqual([first.open, first.ended]);
  });

  test('comes before what an open order announces meanwhile, if the receiver is closed until it has ended', async () => {
    const order = await lab.place();
    await accepted(order, 1);
    const since = new Date();
    await move(order, 'transit_customer', 'with_customer');
    const [, ...lost] = await accepted(order, 3);
    lab.receiver.forget();
    lab.receiver.isDown = true;
    await lab.sandbox.move(order.orderId, 'transit_lab');
    await expect.poll(() => lab.receiver.attempts, patience).toBeGreaterThan(0);
    await replay(since);
    lab.receiver.isDown = false;
    await lab.labs.notifications.resend(kitOrderId(order.orderId));
    await expect.poll(() => aboutIds(order).slice(0, 2), patience).toEqual(lost);
    await expect
      .poll(() => lab.receiver.about(order.orderId).at(-1)?.data['phase'], patience)
      .toBe('in_transit_to_lab');
    expect(new Set(aboutIds(order)).size).toBe(3);
  });

  test('joins a replay of the same time that is under way', async () => {
    const since = new Date();
    const { notifications } = lab.labs;
    const [one, other] = await Promise.all([notifications.replay({ since }), notifications.replay({ since })]);
    expect(other).toEqual(one);
    const query = `WorkflowId = '${notificationReplayId(since.toISOString(), lab.rig.taskQueue)}'`;
    await expect.poll(async () => (await lab.rig.client.workflow.count(query)).count, patience).toBe(1);
  });
});
