import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { kitOrderId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { withoutRepeats, type Kit } from './kit.js';
import { setStage } from './story.js';

/* The full server in real time: it cuts histories, and lists the runs that ended. */
const stage = setStage({ eventsPerRun: 30 });
const nurse = { by: 'nurse-17', outcome: 'confirmed' } as const;

async function criticalKit(): Promise<Kit> {
  const kit = await stage.place({ policy: { criticalResultReminder: '1s' } });
  await kit.register();
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab');
  await kit.move({ status: 'completed', interpretation: 'critical' });
  await kit.expectAttention('critical_result');
  return kit;
}

/** The reminders' numbers, without repeats. */
function reminders(kit: Kit): number[] {
  return kit.notifiedOnce.flatMap((what) =>
    what.startsWith('critical_result_reminder') ? [Number(what.split(' ')[1])] : [],
  );
}

async function runsOf(orderId: string): Promise<number> {
  return (await stage.temporal.workflow.count(`WorkflowId = '${kitOrderId(orderId)}'`)).count;
}

test('reminders go on from run to run, each number once, until somebody acknowledges the critical result', async () => {
  const kit = await criticalKit();
  const orderId = kit.rootOrderId;
  const before = await runsOf(orderId);
  await eventually(async () => expect(await runsOf(orderId)).toBeGreaterThan(before + 1));
  await kit.expectAttention('critical_result');
  const numbers = reminders(kit);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(kit.notifiedOnce.filter((what) => what === 'critical_result')).toHaveLength(1);
  await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId });
  expect(await kit.result()).toMatchObject({ outcome: 'completed', criticalResults: [{ isOpen: false }] });
});

test('a worker that was down the whole time sends one reminder, not one for each that was due', async () => {
  const kit = await criticalKit();
  await eventually(() => expect(reminders(kit)).not.toEqual([]));
  await stage.stopWorker();
  const last = reminders(kit).at(-1) ?? 0;
  await sleep(6000);
  await stage.startWorker();
  await eventually(() => expect(reminders(kit).at(-1)).toBeGreaterThanOrEqual(last + 5));
  // One may have been on its way when the worker stopped.
  const missed = reminders(kit).filter((reminder) => reminder > last && reminder < last + 5);
  expect(missed.length).toBeLessThanOrEqual(1);
});

test('an acknowledgement holds for the next runs: a repeat raises nothing, a correction does', async () => {
  const kit = await criticalKit();
  const orderId = kit.rootOrderId;
  await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId });
  const { criticalResults } = await kit.result();
  const alarms = () =>
    withoutRepeats(kit.notifications).flatMap(({ type, id }) => (type === 'critical_result' ? [id] : []));
  // Visibility lags by a moment, and an end that is not listed yet is not remembered.
  await eventually(async () => {
    const query = `WorkflowId = '${kitOrderId(orderId)}' AND ExecutionStatus = 'Completed'`;
    expect((await stage.temporal.workflow.count(query)).count).toBe(1);
  });
  const sent = () => kit.notifications.filter(({ type }) => type === 'critical_result').length;
  const before = sent();
  await stage.sandbox.interpret(orderId, { interpretation: 'critical' });
  const again = await stage.follow(orderId);
  expect((await again.result()).criticalResults).toEqual(criticalResults);
  expect(sent(), 'a repeated alarm').toBe(before);
  await kit.moveOrder(orderId, { status: 'corrected', interpretation: 'critical' });
  await kit.expectAttention('critical_result');
  await eventually(() => expect(alarms()).toHaveLength(2));
  expect(alarms()[0]).toBe(`${orderId}/final/critical_result`);
  expect(alarms()[1]).toMatch(/\/\d+\.final\/critical_result$/);
});
