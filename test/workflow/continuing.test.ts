import { expect, test } from 'vitest';
import { kitOrderId } from '../../workflows/order/address.js';
import { orderChangedSignal } from '../../workflows/order/messages.js';
import { eventually, type Kit } from './kit.js';
import { setStage } from './story.js';

const stage = setStage();

/** The server suggests a new run beyond 4,096 events: reports that say nothing new make so many. */
async function fillHistory(kit: Kit): Promise<void> {
  const { timeline, orderId } = await kit.handle.state();
  const own = timeline.filter((entry) => entry.orderId === orderId);
  const repeated = { orderId, events: own.map(({ eventId: id, at, status }) => ({ id, at, status })) };
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  for (let count = 0; count < 4_200; count += 100) {
    await Promise.all(Array.from({ length: 100 }, () => workflow.signal(orderChangedSignal, repeated)));
  }
}

async function runOf(kit: Kit): Promise<string> {
  return (await stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId)).describe()).runId;
}

/** Asks for the run alone: the test server never answers a query that meets the old run's last task. */
async function changesRun(kit: Kit, from: string): Promise<void> {
  await eventually(async () => expect(await runOf(kit)).not.toBe(from));
}

test('a long history goes on in a new run with everything that was known, decided and not yet told', async () => {
  const kit = await stage.place({
    policy: { onLost: 'replace', problemLimit: '3 days', notificationDeadline: '30 days' },
  });
  await kit.goes('transit_customer', 'lost');
  const { orderId } = await kit.shows({ phase: 'awaiting_registration' });
  await kit.goes('transit_customer', 'problem_in_transit_customer');
  await stage.skip('4 days');
  await kit.asksFor('problem_persists');
  await kit.handle.resolveProblem('wait');
  await eventually(() => expect(kit.notifications.at(-1)?.type).toBe('attention_cleared'));
  const told = kit.notifications.length;
  stage.receiver.isDown = true;
  await kit.goes('out_for_delivery', 'problem_in_transit_customer');
  const [before, run] = [await kit.handle.state(), await runOf(kit)];

  await fillHistory(kit);
  await stage.sandbox.move(orderId, 'with_customer');
  await changesRun(kit, run);
  const after = await kit.handle.state();
  expect(after).toMatchObject({ orderId, reference: before.reference, chain: [{}, { origin: 'replacement' }] });
  expect(after.timeline.slice(0, -1)).toEqual(before.timeline);
  await expect(kit.handle.replaceKit()).rejects.toThrow('The policy allows 1 replacements');

  stage.receiver.isDown = false;
  await stage.skip('15 minutes');
  await eventually(() => {
    const phases = kit.notifications.slice(told).map(({ data }) => data['phase']);
    expect(phases).toEqual(['in_transit_to_customer', 'in_transit_to_customer', 'awaiting_registration']);
  });
  await kit.register();
  await kit.goes('transit_lab', 'delivered_to_lab', 'completed');
  expect(await kit.ends()).toMatchObject({ outcome: 'completed', orderId });
  expect(new Set(kit.notifications.map(({ id }) => id)).size).toBe(kit.notifications.length);
});

test('commands that were asked for in the old run are answered before the new one begins', async () => {
  const kit = await stage.place();
  const run = await runOf(kit);
  await fillHistory(kit);
  const slow = { kind: 'delay', delayMs: 300 } as const;
  await stage.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit/register', times: 1, action: slow });
  const registration = await kit.registration();
  const answers = await Promise.all([kit.handle.register(registration), kit.handle.register(registration)]);
  expect(answers).toMatchObject([{ registered: true }, { registered: true }]);
  await changesRun(kit, run);
  expect(await kit.handle.cancel()).toMatchObject({ phase: 'cancelled' });
});
