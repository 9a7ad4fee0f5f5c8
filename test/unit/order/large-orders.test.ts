import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { standingOf } from '../../../protocol/order/lifecycle.js';
import type { AttentionReason } from '../../../protocol/order/state.js';
import { ofAttention } from '../../../protocol/search-attributes.js';
import { boundedEvents } from '../../../service/order/snapshot.js';
import { orderSchema } from '../../../service/order/order.js';
import type { OrderEvent, OrderSnapshot } from '../../../service/order/snapshot.js';
import { snapshotOf } from '../../../service/order/projection.js';
import { projectFolder } from '../../rig/processes.js';
import { silent } from '../life.js';
import { kitOf, pathTo, start, statusOf } from './histories.js';
import { life, orderId, type OrderLife, shownAt } from './lives.js';

/* Orders that report more than anybody expects: what is carried, shown and answered has a size. */

const minute = 60_000;
/** Temporal refuses a payload of 2 MB, and warns of one of 512 KB; a search attribute of 2,048 bytes. */
const payloadBytes = 400_000;
const attributeBytes = 2_048;
const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

const path = pathTo('transit_lab');

/** The way to the lab, and then so many reports of the same place, or of two in turn. */
function manyEvents(count: number, lows: readonly string[]): OrderEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    at: new Date(start + index * minute).toISOString(),
    status: statusOf(path[index] ?? lows[index % lows.length] ?? ''),
  }));
}

/** Shown with a sample, it goes on in a new run, which is small and knows the same. */
async function goesOn(order: OrderLife, shown: OrderSnapshot | undefined) {
  const state = await order.state();
  order.run.suggestNewRun();
  await order.signal('orderChanged', { ...shown, sampleId: 'SAMPLE-1' });
  const input = JSON.stringify((order.run.end as { input?: unknown }).input);
  expect(input.length).toBeLessThan(payloadBytes);
  const next = await order.next();
  expect(await next.run.query('state')).toMatchObject({ ...state, sampleId: 'SAMPLE-1' });
  return { input, next };
}

const reporting = {
  'one place': ['transit_lab'],
  'two places in turn': ['problem_in_transit_lab', 'transit_lab'],
  'hundreds of unknown places': Array.from({ length: 499 }, (_, n) => `collecting_sample.testkit.scan_${n}`),
};

describe.each(Object.entries(reporting))('an order that reports %s', (_name, lows) => {
  test.each([101, 1_000, 25_000])('%i times means the same as all of its events', (count) => {
    const all = manyEvents(count, lows);
    const kept = boundedEvents(all);
    expect(kept.length).toBeLessThanOrEqual(100);
    const { phase, registeredAt, placedAt, last } = standingOf(all);
    expect(standingOf(kept)).toMatchObject({ phase, registered: true, registeredAt, placedAt, last });
    expect(boundedEvents(kept)).toEqual(kept);
    const sent = { id: orderId, events: all.map(({ at, ...event }) => ({ ...event, created_at: at })) };
    expect(snapshotOf(orderSchema.parse(sent), []).events).toEqual(kept);
  });

  test('25,000 times goes on in a new run that is small and knows the same, with each event once', async () => {
    const snapshot = { ...shownAt(path), events: manyEvents(25_000, lows) };
    const now = start + 25_000 * minute;
    const order = await life([], {}, { readOrder: snapshot }, { snapshot }, now);
    expect(sizeOf(await order.state())).toBeLessThan(payloadBytes);
    const turns = order.run.summaries.length;
    await order.signal('orderChanged', snapshot);
    expect(order.run.summaries).toHaveLength(turns);
    const { input } = await goesOn(order, snapshot);
    const last = snapshot.events.at(-1)?.at ?? '';
    expect(input.split(`"at":"${last}"`).length - 1).toBe(1);
  });
});

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const longId = (n: number) => `${'long-'.repeat(23)}${String(n).padStart(5, '0')}`;

/** Each order is a redraw of the one before it, and the last is on its way. */
function transactionWith(count: number, idOf: (n: number) => string) {
  const ids = Array.from({ length: count }, (_, n) => (n === 0 ? orderId : idOf(n)));
  const createdAt = (n: number) => new Date(start - (count - n) * minute).toISOString();
  const orders = ids.map((id, n) => ({ id, origin: n === 0 ? 'initial' : 'redraw', createdAt: createdAt(n) }));
  const snapshotFor = (id: string, listed = orders): OrderSnapshot => {
    const n = ids.indexOf(id);
    const events = [{ id: 1, at: createdAt(n), status: statusOf(n === count - 1 ? 'ordered' : 'sample_error') }];
    const more = { origin: n === 0 ? 'initial' : 'redraw', createdAt: createdAt(n), events };
    return kitOf(id, [], { ...more, transaction: { id: 'transaction-1', orders: listed } });
  };
  return { ids, orders, snapshotFor };
}

describe.each([
  [53, uuid],
  [400, uuid],
  [53, longId],
])('a transaction of %i orders', (count, idOf) => {
  const { ids, snapshotFor } = transactionWith(count, idOf);

  test('shows the first, the current and the newest in the search attribute, and is read with bounds', async () => {
    const readOrder = (_now: number, id: string) => snapshotFor(id);
    const order = await life([], {}, { readOrder, notify: silent }, { snapshot: snapshotFor(orderId) });
    expect(order.calls.length).toBeLessThanOrEqual(40);
    const shown = order.run.shown.attributes['LabOrderId'] as string[];
    expect(sizeOf(shown)).toBeLessThan(attributeBytes);
    expect(shown.length).toBeLessThanOrEqual(40);
    expect(shown).toEqual(expect.arrayContaining([orderId, ids.at(-1)]));
    const state = await order.state();
    expect(shown).toContain(state.orderId);
    for (const value of Object.values(order.run.shown.attributes)) expect(sizeOf(value)).toBeLessThan(attributeBytes);
    expect(sizeOf(state)).toBeLessThan(payloadBytes);
    await order.signal('orderChanged', { ...snapshotFor(ids.at(-1) ?? ''), interpretation: 'normal' });
    expect(order.run.end).toBeUndefined();
  });
});

describe.each([
  [53, longId],
  [120, uuid],
])('a transaction of %i orders that were all reported', (count, idOf) => {
  const { ids, orders, snapshotFor } = transactionWith(count, idOf);

  test.each([
    ['the same list', () => orders],
    ['what was listed when it was the newest', (n: number) => orders.slice(0, n + 1)],
  ])('goes on in a new run that is small and knows the same, if each showed %s', async (_, listedFor) => {
    const reported = ids.map((id, n) => snapshotFor(id, listedFor(n)));
    const readOrder = (_now: number, id: string) => snapshotFor(id);
    const order = await life([], {}, { readOrder, notify: silent }, { snapshot: reported[0] });
    for (const each of reported) await order.signal('orderChanged', each);
    const { next } = await goesOn(order, reported.at(-1));
    const turns = next.run.summaries.length;
    for (const each of reported.slice(0, -1)) await next.signal('orderChanged', each);
    expect(next.run.summaries).toHaveLength(turns);
  });
});

test('all reasons for attention together are a search attribute that Temporal takes', async () => {
  const schema = await readFile(join(projectFolder, 'client/schemas/kitOrder.json'), 'utf8');
  const { $defs } = JSON.parse(schema) as { $defs: { AttentionReason: { enum: AttentionReason[] } } };
  const reasons = $defs.AttentionReason.enum;
  expect(reasons).toContain('critical_result');
  expect(sizeOf(ofAttention(reasons, [])[0]?.value)).toBeLessThan(attributeBytes);
});
