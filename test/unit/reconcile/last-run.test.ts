import { expect, test } from 'vitest';
import { isEndKnown, isEndNews, type LastRun } from '../../../activities/reconcile/last-run.js';

const from = '2026-03-10T11:00:00.000Z';
const order = { orderId: 'order-1', updatedAt: '2026-03-10T12:58:00.000Z' };
const last = { id: 7, at: '2026-03-10T12:00:00.000Z' };
const running: LastRun = { orderIds: ['order-1'], phase: 'in_transit_to_lab', isBusy: false };

test.each([
  [false, 'is in the range', last],
  [false, 'was dated back by days', { id: 7, at: '2026-03-04T12:00:00.000Z' }],
  [true, 'lies weeks back', { id: 7, at: '2026-02-10T12:00:00.000Z' }],
  [false, 'is known from the status alone', undefined],
])('an end without a run that is retained is known: %s, if its event %s', (known, _what, event) => {
  expect(isEndKnown(undefined, order, event, from)).toBe(known);
});

test.each([
  [false, 'was updated in the range', order],
  [true, 'says that it was updated in the future', { ...order, updatedAt: '2062-01-01T00:00:00.000Z' }],
  [true, 'was not updated for weeks', { ...order, updatedAt: '2026-02-10T13:00:00.000Z' }],
])('a critical end of weeks ago, without a run that is retained, is known: %s, if its order %s', (known, _what, of) => {
  const critical = { ...of, interpretation: 'critical' };
  expect(isEndKnown(undefined, critical, { id: 7, at: '2026-02-10T12:00:00.000Z' }, from)).toBe(known);
});

const entry = { at: last.at, status: 'completed.testkit.completed' };
const knowing = (orderId: string, eventId: number): LastRun => ({
  ended: 'by_itself',
  timeline: [{ ...entry, orderId, eventId }],
  criticalOrders: ['order-3'],
  isForwarded: false,
});

test.each([
  [true, 'knew the event', knowing('order-1', 7), last],
  [false, 'knew an earlier one only', knowing('order-1', 6), last],
  [false, 'knew that of another order', knowing('order-2', 7), last],
  [true, 'ended with that status, without an event', knowing('order-1', 6), undefined],
])(
  'an end after a run that ended by itself is known: %s, if the run %s, whenever that is said to have been',
  (known, _what, run, event) => {
    expect(isEndKnown(run, order, event, from)).toBe(known);
  },
);

test('an end after a run that ended by itself is not known before its critical result is', () => {
  const critical = { ...order, interpretation: 'critical' };
  expect(isEndKnown(knowing('order-1', 7), critical, last, from)).toBe(false);
  expect(isEndKnown(knowing('order-3', 7), { ...critical, orderId: 'order-3' }, last, from)).toBe(true);
});

test('an end is not known to a run that an operator ended, or that failed, whenever it was', () => {
  expect(isEndKnown({ ended: 'otherwise' }, order, last, from)).toBe(false);
});

test.each([
  [true, '2026-03-10T12:59:00.000Z'],
  [false, '2026-03-10T12:30:00.000Z'],
  [false, '2026-03-10T11:30:00.000Z'],
])('an end is known: %s, to a run whose result cannot be decoded and that ended at %s', (known, at) => {
  expect(isEndKnown({ ended: 'unreadable', at: new Date(at) }, order, last, from)).toBe(known);
});

test.each([
  [{ updatedAt: '2062-01-01T00:00:00.000Z' }, {}],
  [{}, { at: '2062-01-01T00:00:00.000Z' }],
])('a time in the future does not make an end unknown to a run whose result cannot be decoded', (of, event) => {
  const run = { ended: 'unreadable', at: new Date('2026-03-10T12:59:00.000Z') } as const;
  expect(isEndKnown(run, { ...order, ...of }, { ...last, ...event }, from)).toBe(true);
});

test('an end is not known to a run that was started meanwhile', () => {
  expect(isEndKnown(running, order, last, from)).toBe(false);
});

test.each([
  [true, 'shows an earlier phase', {}],
  [false, 'shows the end', { phase: 'completed' }],
  [true, 'does not show the order', { orderIds: ['order-0'], phase: 'completed' }],
  [false, 'shows the phase of one order of several', { orderIds: ['order-1', 'order-2'] }],
  [false, 'has yet to take in what it received', { isBusy: true }],
])('an end is news: %s, to a running workflow that %s', (isNews, _what, shown) => {
  expect(isEndNews({ ...running, ...shown }, 'order-1', { final: true, phase: 'completed' })).toBe(isNews);
});

test('an order that has not ended is not a missed end', () => {
  expect(isEndNews(running, 'order-1', { final: false, phase: 'at_lab' })).toBe(false);
});
