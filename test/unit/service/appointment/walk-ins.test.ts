import { describe, expect, test } from 'vitest';
import { isBookable } from '../../../../service/appointment/centres.js';
import { readFrom, rejection, serviceWith, type Answer } from '../recording-server.js';

/* Answers of service centres and about appointments there (docs/internals/lab-service.md, "Service centres"). */

test('coverage is read by laboratory', async () => {
  const ready = { name: 'one', service_types: ['appointment-ready'] };
  const phlebotomy = { is_served: true, providers: [ready, { name: 'two', tier: ['request'] }] };
  const centres = { within_radius: 3, radius: '25', appointment_with_brand: true };
  const lab = { lab_id: '27', supported_bill_types: ['client_bill'], patient_service_centers: centres };
  const flat = { lab_id: 28, within_radius: '2', radius: '25' };
  const central_labs = { one: lab, two: { patient_service_centers: 'none' }, three: null, flat };
  const read = await readFrom({ zip_code: '85004', phlebotomy, central_labs }, (service) =>
    service.centres.coverage({ zipCode: '85004' }),
  );
  expect(read.phlebotomy?.providers).toMatchObject([ready, { service_types: ['request'] }]);
  expect(read.central_labs).toMatchObject({ one: { lab_id: 27, patient_service_centers: centres }, two: {} });
  expect(read.central_labs?.['flat']).toMatchObject({ patient_service_centers: { within_radius: 2, radius: '25' } });
  expect(read.central_labs).not.toHaveProperty('three');
});

test('a site that cannot be read hides no other', async () => {
  const one = { site_code: 7, distance: '3', metadata: { name: 'One', hours: null } };
  const site = (capability: string) => ({ ...one, capabilities: [capability] });
  const sites = [site('appointment_scheduling_via_brand'), 'no site', site('appointment_scheduling_with_lab')];
  const body = { lab_id: 27, slug: 'one', patient_service_centers: sites };
  const { centres, lab } = await readFrom(body, (service) => service.centres.forOrder('order-1'));
  expect(lab).toBe('one');
  expect(centres).toMatchObject([{ site_code: '7', distance: 3 }, { site_code: '7' }]);
  expect(centres.map(isBookable)).toEqual([true, false]);
});

test('slots are read with their place', async () => {
  const slots = [{ date: '2030-02-01', location: { code: 'one', distance: '2' }, slots: [] }];
  const read = await readFrom({ slots, timezone: null }, ({ walkIns }) =>
    walkIns.availability({ lab: 'one', siteCodes: ['a'] }),
  );
  expect(read).toMatchObject({ slots: [{ location: { code: 'one', distance: 2 } }] });
});

test.each([
  ['No slots found for the given parameters.', { slots: [] }],
  ['No available appointment slots', { slots: [] }],
  ['Not Found', 'NotFound'],
])('slots are none where a 404 says that none were found: "%s"', async (detail, expected) => {
  const { walkIns } = await serviceWith({ status: 404, body: { detail } });
  const found = walkIns.availability({ lab: 'one', siteCodes: ['a'] });
  expect(await found.catch(({ name }: Error) => name)).toEqual(expected);
});

describe('a booking', () => {
  const book = async (answer: Answer) => {
    const { walkIns } = await serviceWith(answer);
    return walkIns.book('order-1', { booking_key: 'bk_invented' }, { idempotencyKey: 'key-1' });
  };

  test('returns the appointment', async () => {
    const appointment = { id: 'appointment-1', order_id: 'order-1', status: 'pending', external_id: 17 };
    expect(await book({ body: appointment })).toEqual({ ...appointment, external_id: '17' });
  });

  // appointments.test.ts has all sentences about a slot, and order/orders.test.ts all about a key in use.
  test.each<[number, string, string]>([
    [404, 'The selected slot is no longer available.', 'SlotUnavailable'],
    [400, 'Bad booking key', 'BookingKeyExpired'],
    [400, 'Unknown or inactive site', 'ServiceRefused'],
    [404, 'Order not found', 'NotFound'],
    [409, 'A request with this idempotency key is in progress', 'AnswerLost'],
    [409, 'Concurrent request for this idempotency key', 'AnswerLost'],
    [409, 'The order already has an appointment', 'ServiceRefused'],
    [404, 'Feature not enabled', 'FeatureNotEnabled'],
    [403, 'Idempotency key not enabled for your team: in progress', 'FeatureNotEnabled'],
    [401, 'Idempotency keys are not for this API key', 'Unauthorized'],
  ])('refused with %i "%s" is a %s', async (status, detail, name) => {
    expect(await rejection(book({ status, body: { detail } }))).toMatchObject({ name });
  });
});
