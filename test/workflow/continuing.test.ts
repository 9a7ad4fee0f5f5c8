import { expect, test } from 'vitest';
import { ReplacementLimitReached } from '../../client/orders/errors.js';
import { kitOrderId } from '../../workflows/order/address.js';
import { eventually } from './kit.js';
import { setStage } from './story.js';

const stage = setStage({ eventsPerRun: 20 });

async function runsOf(rootOrderId: string): Promise<number> {
  return (await stage.temporal.workflow.count(`WorkflowId = '${kitOrderId(rootOrderId)}'`)).count;
}

test('a story whose history is cut into many runs is the same story', async () => {
  const kit = await stage.place({ policy: { onLost: 'replace', problemLimit: '2 seconds' } });
  await kit.goes('transit_customer', 'lost');
  const { orderId } = await kit.shows({ phase: 'awaiting_registration', chain: [{}, {}] as never });
  await kit.goes('transit_customer', 'problem_in_transit_customer');
  await kit.asksFor('problem_persists');
  expect(await kit.handle.resolveProblem('wait')).toMatchObject({ attention: [] });
  await eventually(() => expect(kit.notifications.at(-1)?.type).toBe('attention_cleared'));

  stage.receiver.isDown = true;
  await kit.goes('out_for_delivery', 'with_customer');
  await expect(kit.handle.replaceKit()).rejects.toThrow(ReplacementLimitReached);
  const registration = await kit.registration();
  const [one, other] = await Promise.all([kit.handle.register(registration), kit.handle.register(registration)]);
  expect([one, other]).toMatchObject([{ registered: true }, { registered: true }]);
  expect(await stage.countRequests('POST', '/v3/order/testkit/register')).toBe(1);
  stage.receiver.isDown = false;

  await kit.goes('transit_lab', 'delivered_to_lab', 'completed');
  const { outcome, timeline } = await kit.ends();
  expect(outcome).toBe('completed');
  expect(timeline.map(({ status }) => status.split('.').at(-1))).toEqual([
    ...['ordered', 'awaiting_registration', 'transit_customer', 'lost'],
    ...['ordered', 'awaiting_registration', 'transit_customer', 'problem_in_transit_customer', 'out_for_delivery'],
    ...['with_customer', 'requisition_created', 'testkit_registered', 'transit_lab', 'delivered_to_lab', 'completed'],
  ]);
  const told = [
    'phase_changed awaiting_registration',
    'phase_changed in_transit_to_customer',
    'phase_changed failed',
    'phase_changed awaiting_registration',
    'phase_changed in_transit_to_customer',
    'phase_changed in_transit_to_customer',
    'attention_raised problem_persists',
    'attention_cleared problem_persists',
    'phase_changed in_transit_to_customer',
    'phase_changed awaiting_registration',
    'phase_changed with_customer',
    'phase_changed in_transit_to_lab',
    'phase_changed at_lab',
    'result',
    'phase_changed completed',
  ];
  // The replacement's first webhook may come before its creation is answered.
  await eventually(() => expect(kit.told.filter((what) => what !== 'replacement')).toEqual(told));
  expect(kit.told).toHaveLength(told.length + 1);
  expect(await stage.sandbox.orders()).toMatchObject([{}, { order: { id: orderId } }]);
  await eventually(async () => expect(await runsOf(kit.rootOrderId)).toBeGreaterThan(4));
});
