import { describe, expect, test } from 'vitest';
import type { LabService } from '../../../service/lab-service.js';
import { AnswerUnreadable } from '../../../service/errors.js';
import { importFor, patientAddress, patientDetails, shippingDetails } from '../../rig/cast.js';
import { answering, rejection, serviceAt } from './recording-server.js';

const asked = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';
const order = (id: string) => ({ id, events: [] });
const appointment = (id: string) => ({ id: 'appointment-1', order_id: id, events: [] });
const reasonId = '7b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';

/** Each call that names an object, and an answer of the service about the object with this id. */
const calls: Record<string, [(id: string) => object, (service: LabService) => Promise<unknown>]> = {
  'an order': [order, ({ orders }) => orders.get(asked)],
  'a cancelled order': [(id) => ({ order: order(id) }), ({ orders }) => orders.cancel(asked)],
  'a new kit': [
    (id) => ({ order: { ...order('order-1'), user_id: id } }),
    ({ orders }) => orders.createTestkit({ user_id: asked, lab_test_id: 'test-1', shipping_details: shippingDetails }),
  ],
  'a new order': [
    (id) => ({ order: { ...order('order-1'), user_id: id } }),
    ({ orders }) =>
      orders.create({
        user_id: asked,
        lab_test_id: 'test-1',
        patient_details: patientDetails,
        patient_address: patientAddress,
      }),
  ],
  'an import': [
    (id) => ({ order: { ...order('order-1'), user_id: id } }),
    ({ orders }) => orders.import(importFor(asked, 'sample-1')),
  ],
  'a transaction': [(id) => ({ id, orders: [] }), ({ orders }) => orders.transaction(asked)],
  'a user': [(id) => ({ user_id: id }), ({ users }) => users.get(asked)],
  'a visit': [appointment, ({ appointments }) => appointments.get(asked)],
  'a booked visit': [appointment, ({ appointments }) => appointments.book(asked, { booking_key: 'key' })],
  'a requested visit': [
    appointment,
    ({ appointments }) =>
      appointments.request(asked, {
        address: { first_line: '1 Invented Street', city: 'Springfield', state: 'CA', zip_code: '90000' },
        provider: 'invented',
      }),
  ],
  'a moved visit': [appointment, ({ appointments }) => appointments.reschedule(asked, { booking_key: 'key' })],
  'a cancelled visit': [
    appointment,
    ({ appointments }) => appointments.cancel(asked, { cancellation_reason_id: reasonId }),
  ],
  'a walk-in': [appointment, ({ walkIns }) => walkIns.get(asked)],
  'a booked walk-in': [appointment, ({ walkIns }) => walkIns.book(asked, { booking_key: 'key' })],
  'a cancelled walk-in': [appointment, ({ walkIns }) => walkIns.cancel(asked, { cancellationReasonId: reasonId })],
  'a job': [(id) => ({ id, status: 'started' }), ({ reports }) => reports.getJob(asked)],
  'a review': [(id) => ({ id, status: 'resolved' }), ({ matchReviews }) => matchReviews.get(asked)],
  'a decided review': [
    (id) => ({ id, status: 'resolved' }),
    ({ matchReviews }) => matchReviews.resolve(asked, { action: 'reject' }),
  ],
};

describe.each(Object.entries(calls))('the answer about %s', (_what, [body, call]) => {
  const answered = async (id: string) => {
    const { baseUrl } = await answering(() => ({ body: body(id) }));
    return call(serviceAt(baseUrl));
  };

  test.each([asked.toUpperCase(), asked.replaceAll('-', '')])('is read if it writes its id as %s', async (id) => {
    await expect(answered(id)).resolves.toBeDefined();
  });

  test('is unreadable if it is about another one: a proxy may mix answers up, and it may be another user', async () => {
    const error = await rejection(answered('1b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9'));
    expect(error).toBeInstanceOf(AnswerUnreadable);
    expect(String(error)).toContain('is about another object than was asked for');
  });
});
