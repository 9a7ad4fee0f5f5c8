import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rootOf } from '../../../protocol/order/root-order.js';
import { defaultInstallation } from '../../../service/installation.js';
import { snapshotOf } from '../../../service/order/projection.js';
import { orderSchema } from '../../../service/order/orders.js';
import { announceNews } from '../../../workflows/order/announcements.js';
import { foldIn } from '../../../workflows/order/chain.js';
import { nextMoment } from '../../../workflows/order/deadlines.js';
import { readCriticalReport, readSnapshot } from '../../../workflows/order/snapshots.js';
import { caseFileOf, stateOf } from '../../../workflows/order/view.js';
import { projectFolder } from '../../rig/processes.js';
import { untidyOrder } from '../service/order/untidy-orders.js';
import { caseOf, daysAfterStart, kitOf } from './histories.js';
import { forAll, reportsOfChain } from './reports.js';
import fc from 'fast-check';

const at = daysAfterStart(0);
const event = { id: 1, at, status: 'received.testkit.ordered' };
const minimal = { orderId: 'order-1', events: [event] };

/** As a signal brings it. */
const overTheWire = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

const words = ['method', 'origin', 'status', 'interpretation'] as const;
const texts = [...words, 'userId', 'passthrough', 'parentId', 'sampleId'] as const;
const moments = ['createdAt', 'updatedAt'] as const;
const shipmentTexts = ['outboundCourier', 'outboundTrackingNumber', 'inboundCourier', 'inboundTrackingNumber'] as const;

const noText: readonly unknown[] = [null, 1, true, {}, [], ['a']];
/** Which texts are times, and which are dates, is in test/unit/entity/fields.test.ts. */
const noTime: readonly unknown[] = [...noText, '', 'soon'];

describe('a signal is read as a snapshot', () => {
  test('with everything that a snapshot has', () => {
    const full = {
      ...minimal,
      ...Object.fromEntries(texts.map((name) => [name, `some ${name}`])),
      ...Object.fromEntries(moments.map((name) => [name, at])),
      events: [event, { ...event, id: 2, detail: 'sample_hemolyzed' }],
      shipment: Object.fromEntries(shipmentTexts.map((name) => [name, `some ${name}`])),
      transaction: {
        id: 'transaction-1',
        status: 'active',
        orders: [
          { id: 'order-1', origin: 'initial', createdAt: at },
          { id: 'order-2', parentId: 'order-1' },
        ],
      },
    };
    expect(readSnapshot(full)).toEqual(full);
  });

  test('without what no snapshot has, at any depth', () => {
    const more = { first_name: 'Testperson', labTestId: 'test-1' };
    const transaction = { id: 't', orders: [{ id: 'order-1' }] };
    expect(
      readSnapshot({
        ...minimal,
        ...more,
        events: [{ ...event, ...more }],
        shipment: { outboundCourier: 'usps', ...more },
        transaction: { ...transaction, ...more, orders: [{ id: 'order-1', ...more }] },
      }),
    ).toEqual({ ...minimal, shipment: { outboundCourier: 'usps' }, transaction });
  });

  test.each(noText)('without a text, an event or a member that is %j, and not at all for such an order', (value) => {
    for (const name of texts) expect(readSnapshot({ ...minimal, [name]: value }), name).toEqual(minimal);
    const [events, member] = [[event, { ...event, id: 2, status: value }, value], { id: 'order-1' }];
    const listing = (id: unknown) => ({ transaction: { id, orders: [member, { id: value }, value] } });
    const transaction = { id: 't', orders: [member] };
    expect(readSnapshot({ ...minimal, events, ...listing('t') })).toEqual({ ...minimal, transaction });
    expect(readSnapshot({ ...minimal, ...listing(value) })).toEqual(minimal);
    for (const wrong of [value, { ...minimal, orderId: value }]) expect(readSnapshot(wrong)).toBeUndefined();
    expect(readSnapshot({ ...minimal, events: value }) === undefined).toBe(!Array.isArray(value));
  });

  test.each(['resultsBy', 'activateBy'])('with %s if that is a date', (name) => {
    for (const value of [...noTime, '2026-11-20T00:00:00Z'])
      expect(readSnapshot({ ...minimal, [name]: value }), JSON.stringify(value)).toEqual(minimal);
    const dated = { ...minimal, [name]: '2024-02-29' };
    expect(readSnapshot(dated)).toEqual(dated);
  });

  test.each(noTime)('without a time that is %j, and without the event that has it', (value) => {
    const transaction = { id: 't', orders: [{ id: 'order-1' }] };
    const read = readSnapshot({
      ...minimal,
      createdAt: value,
      updatedAt: value,
      events: [event, { ...event, id: 2, at: value }],
      transaction: { ...transaction, orders: [{ id: 'order-1', createdAt: value }] },
    });
    expect(read).toEqual({ ...minimal, transaction });
  });
});

test.each(['1e400', '1.5', '"1"', 'null'])('an event whose id is %s is left out', (id) => {
  const sent: unknown = JSON.parse(`{"orderId":"order-1","events":[{"id":${id},"at":"${at}","status":"a"}]}`);
  expect(readSnapshot(sent)).toEqual({ orderId: 'order-1', events: [] });
});

test('the snapshot that is documented for backends in other languages is valid', async () => {
  const page = await readFile(join(projectFolder, 'docs/messages.md'), 'utf8');
  const [, signals = ''] = page.split('### Signals of `kitOrder`');
  const [, example = ''] = /```json[^\n]*\n(.+?)```/s.exec(signals) ?? [];
  const documented = JSON.parse(
    example
      .replaceAll('"createdAt": "…"', `"createdAt": "${at}"`)
      .replaceAll('"updatedAt": "…"', `"updatedAt": "${at}"`),
  ) as unknown;
  expect(readSnapshot(documented)).toEqual(documented);
});

describe('whatever JSON comes as a signal,', () => {
  const junk = fc.jsonValue({ maxDepth: 3 });
  const times = [at, daysAfterStart(3), '2024-03-01T10:00:00', '9999-12-31T23:59:59Z', '0000-01-01T00:00Z'];
  const time = fc.constantFrom(...times);
  /** A field that is as it should be, something else, or absent. */
  const perhaps = (value: fc.Arbitrary<unknown>) => fc.oneof(value, junk, fc.constant(undefined));
  const fields = (names: readonly string[], value: fc.Arbitrary<unknown>) =>
    Object.fromEntries(names.map((name) => [name, perhaps(value)]));
  const statuses = ['received.testkit.ordered', 'failed.testkit.sample_error', 'a.b.lab_processing_blocked', ''];
  const about = { at: perhaps(time), status: perhaps(fc.constantFrom(...statuses)), detail: perhaps(fc.string()) };
  const events = fc.array(fc.oneof(fc.record({ id: perhaps(fc.integer()), ...about }), junk));
  const members = fc.array(fc.oneof(fc.record(fields(['id', 'origin', 'parentId', 'createdAt'], fc.string())), junk));
  const almost = fc.record({
    orderId: fc.oneof(fc.string(), junk),
    events: fc.oneof({ weight: 9, arbitrary: events }, { weight: 1, arbitrary: junk }),
    ...fields(texts, fc.string()),
    ...fields(moments, time),
    shipment: perhaps(fc.record(fields(shipmentTexts, fc.string()))),
    transaction: perhaps(
      fc.record({ id: perhaps(fc.string()), status: perhaps(fc.string()), orders: perhaps(members) }),
    ),
  });
  const signals = fc.oneof(junk, almost).map((value) => overTheWire(value ?? null));

  test('it is read as plain JSON, to the same when it is read again, and stops no workflow: it is folded, announced, timed and shown', () => {
    forAll(
      fc.array(signals, { maxLength: 4 }),
      (sent) => {
        const chain = caseOf([kitOf('order-1', ['ordered'])]);
        for (const signal of sent) {
          const read = readSnapshot(signal);
          if (read === undefined) continue;
          expect(overTheWire(read)).toEqual(read);
          expect(readSnapshot(read)).toEqual(read);
          rootOf(read);
          foldIn(chain, read);
          announceNews(chain);
        }
        expect(overTheWire(stateOf(chain))).toEqual(stateOf(chain));
        expect(nextMoment(chain)?.at ?? 0).toSatisfy(Number.isFinite);
        expect(caseFileOf(chain)).toContain('| When (UTC) |');
      },
      500,
    );
  });
});

describe('what we send ourselves comes back unchanged:', () => {
  test('the snapshot of any order that the service answers with', () => {
    forAll(
      untidyOrder,
      (order) => {
        const snapshot = snapshotOf(orderSchema.parse(order), defaultInstallation);
        expect(readSnapshot(snapshot)).toEqual(snapshot);
        expect(readSnapshot(overTheWire(snapshot))).toEqual(snapshot);
      },
      500,
    );
  });

  test('every report of a chain', () => {
    forAll(reportsOfChain, (reports) => {
      expect(reports.map(readSnapshot)).toEqual(reports);
    });
  });
});

describe('a signal is read as the report of a critical result', () => {
  test('with the fields that it has', () => {
    const report = { orderId: 'order-1', userId: 'user-1', status: 'Final', interpretation: 'critical', updatedAt: at };
    const read = readCriticalReport({ ...report, order: minimal, other: 1 });
    expect(read).toEqual({ ...report, status: 'final', order: minimal });
  });

  test.each([undefined, null, 'order-1', {}, { orderId: 1 }])('and %j is none', (value) => {
    expect(readCriticalReport(value)).toBeUndefined();
  });

  test.each(['a b', 7, undefined])('without a status that is not a word: %j', (status) => {
    expect(readCriticalReport({ orderId: 'order-1', status, order: 5 })).toEqual({ orderId: 'order-1' });
  });
});
