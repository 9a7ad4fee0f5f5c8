import { describe, expect, test } from 'vitest';
import type { LabService } from '../../../service/lab-service.js';
import { importRequest, orderRequest, testkitRequest } from './persons.js';
import { errorNamed, readFrom, rejection } from './recording-server.js';

const asked = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';
const another = '1b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';

const order = (id: string) => ({ id, events: [] });
const ordered = (user_id: string) => ({ order: { ...order('order-1'), user_id } });
const appointment = (order_id: string) => ({ id: 'appointment-1', order_id, events: [] });
const withStatus = (id: string) => ({ id, status: 'started' });
const address = { first_line: '1 Invented Street', city: 'Springfield', state: 'CA', zip_code: '90000' };
const reason = { cancellation_reason_id: 'reason-1' };

/** Each call that names an object, and an answer of the service about the object with this id. */
const calls: [string, call: (service: LabService) => Promise<unknown>, answer: (id: string) => object][] = [
  ['an order', ({ orders }) => orders.get(asked), order],
  ['a cancelled order', ({ orders }) => orders.cancel(asked), (id) => ({ order: order(id) })],
  ['a new kit', ({ orders }) => orders.createTestkit({ ...testkitRequest, user_id: asked }), ordered],
  ['a new order', ({ orders }) => orders.create({ ...orderRequest, user_id: asked }), ordered],
  ['an import', ({ orders }) => orders.import({ ...importRequest, user_id: asked }), ordered],
  ['a transaction', ({ orders }) => orders.transaction(asked), (id) => ({ id, orders: [] })],
  ['a user', ({ users }) => users.get(asked), (user_id) => ({ user_id })],
  ['a visit', ({ appointments }) => appointments.get(asked), appointment],
  ['a booked visit', ({ appointments }) => appointments.book(asked, { booking_key: 'key' }), appointment],
  ['a requested visit', ({ appointments }) => appointments.request(asked, { address, provider: 'p' }), appointment],
  ['a moved visit', ({ appointments }) => appointments.reschedule(asked, { booking_key: 'key' }), appointment],
  ['a cancelled visit', ({ appointments }) => appointments.cancel(asked, reason), appointment],
  ['a walk-in', ({ walkIns }) => walkIns.get(asked), appointment],
  ['a booked walk-in', ({ walkIns }) => walkIns.book(asked, { booking_key: 'key' }), appointment],
  ['a cancelled walk-in', ({ walkIns }) => walkIns.cancel(asked, { cancellationReasonId: 'reason-1' }), appointment],
  ['a job', ({ reports }) => reports.getJob(asked), withStatus],
  ['a review', ({ matchReviews }) => matchReviews.get(asked), withStatus],
  ['a decided review', ({ matchReviews }) => matchReviews.resolve(asked, { action: 'reject' }), withStatus],
];

describe.each(calls)('the answer about %s', (_what, call, answer) => {
  test.each([asked.toUpperCase(), asked.replaceAll('-', '')])('is read if it writes its id as %s', async (id) => {
    await expect(readFrom(answer(id), call)).resolves.toBeDefined();
  });

  test('is unreadable if it is about another one: a proxy may mix answers up, and it may be another user', async () => {
    const mixed = errorNamed('AnswerUnreadable', 'is about another object than was asked for');
    expect(await rejection(readFrom(answer(another), call))).toMatchObject(mixed);
  });
});
