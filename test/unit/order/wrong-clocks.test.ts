import { describe, expect, test } from 'vitest';
import type { OrderState } from '../../../protocol/order/state.js';
import type { Life } from '../life.js';
import { Life as Run } from '../life.js';
import { day, daysAfterStart, kitOf, pathTo, start } from './histories.js';
import { attentionIn, life, opening, orderId, shipped, shownAt } from './lives.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The lives of orders whose service has a clock that is wrong. */

const far = [
  new Date(start + 3_600_000).toISOString(),
  daysAfterStart(30),
  '2062-12-06T10:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
];
const stateOf = async ({ run }: Life) => (await run.query('state')) as OrderState;
const saying = 'warn: the service reports times in the future: they count as received now';

const dated = (at: string, statuses: readonly string[]) => {
  const events = kitOf(orderId, statuses).events.map((event) => ({ ...event, at }));
  return shownAt(statuses, { events, createdAt: at, updatedAt: at });
};

describe.each(far)('a service that writes %s', (at) => {
  test('does not put off the deadlines of an order, and that is said once', async () => {
    const snapshot = dated(at, shipped);
    const order = await new Run(opening, { readOrder: snapshot }).start(
      { rootOrderId: orderId },
      {
        name: 'orderPlaced',
        argument: { reference: 'ref-1', policy: resolvePolicy('order'), adopted: false, notifies: true, snapshot },
      },
    );
    const { waiting, timeline } = await stateOf(order);
    expect(waiting.until).toBe(daysAfterStart(10));
    expect(timeline.map((event) => event.at)).toEqual(shipped.map(() => daysAfterStart(0)));
    await order.until(0.5);
    const summaries = order.run.summaries.length;
    await order.signal('orderChanged', snapshot);
    expect(order.run.summaries).toHaveLength(summaries);
    expect((await stateOf(order)).timeline).toEqual(timeline);
    expect(order.run.logged.filter((line) => line === saying)).toHaveLength(1);
    expect(order.run.shown.details.match(/a time in the future/g)).toHaveLength(1);
    // Then the order is read, and what it says may be true by now.
    const isBelievedLater = Date.parse(at) <= start + 10 * day;
    await order.until(24 * 10 + 0.5);
    expect(order.events.some((event) => event.includes('attention_raised delivery_overdue'))).toBe(!isBelievedLater);
    await order.until(24 * 11);
    expect(order.events.some((event) => event.includes('attention_raised delivery_overdue'))).toBe(true);
  });

  test('does not hide what it reports later', async () => {
    const order = await life(pathTo('ordered'));
    await order.signal('orderChanged', { ...dated(at, pathTo('ordered')), interpretation: 'normal' });
    await order.until(2);
    const updatedAt = new Date(start + 7_200_000).toISOString();
    await order.signal('orderChanged', { ...dated(updatedAt, pathTo('ordered')), interpretation: 'abnormal' });
    expect(await stateOf(order)).toMatchObject({ interpretation: 'abnormal' });
  });

  test('does not hide a critical result after the acknowledgement of one', async () => {
    for (const second of [{ updatedAt: daysAfterStart(-1) }, { updatedAt: daysAfterStart(0) }, { updatedAt: at }, {}]) {
      const order = await life(pathTo('ordered'));
      const report = { orderId, status: 'final' };
      await order.signal('criticalResultReported', { ...report, updatedAt: at });
      await order.update('acknowledgeCriticalResult', { orderId, by: 'nurse-17', outcome: 'confirmed' });
      expect((await stateOf(order)).attention).toEqual([]);
      await order.signal('criticalResultReported', { ...report, ...second });
      expect(attentionIn({ value: await stateOf(order) })).toEqual(['critical_result']);
      expect(order.run.logged.filter((line) => line === saying)).toHaveLength(1);
    }
  });
});

test('a time that is ahead by no more than clocks differ is believed', async () => {
  const at = new Date(start + 4 * 60_000).toISOString();
  const order = await life(pathTo('ordered'));
  await order.signal('orderChanged', dated(at, shipped));
  expect((await stateOf(order)).timeline.at(-1)).toMatchObject({ at });
  expect(order.run.logged).not.toContain(saying);
});
