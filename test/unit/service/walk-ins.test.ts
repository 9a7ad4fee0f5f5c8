import { describe, expect, test } from 'vitest';
import { isBookable } from '../../../service/centres.js';
import type { LabService } from '../../../service/lab-service.js';
import { answering, rejection, serviceAt, type Answer } from './recording-server.js';

/* Service centres and appointments there, on the wire (docs/internals/lab-service.md, "Service centres"). */

const appointmentPath = '/v3/order/order-1/psc/appointment';
const appointment = { id: 'appointment-1', type: 'patient_service_center', status: 'pending', external_id: 17 };
const booking = { booking_key: 'bk_invented', async_confirmation: true };

async function sent(call: (service: LabService) => Promise<unknown>, ...answers: Answer[]) {
  const { baseUrl, requests } = await answering((_request, n) => answers[n] ?? { body: appointment });
  const answer = await call(serviceAt(baseUrl));
  const [request] = requests;
  return { ...request, url: decodeURIComponent(request?.url ?? ''), answer };
}

describe('coverage and sites', () => {
  test('coverage is asked for five digits and a radius, and read by laboratory', async () => {
    const phlebotomy = {
      is_served: true,
      providers: [
        { name: 'one', service_types: ['appointment-ready'] },
        { name: 'two', tier: ['request'] },
      ],
    };
    const centres = { within_radius: 3, radius: '25', appointment_with_brand: true };
    const lab = { lab_id: '27', supported_bill_types: ['client_bill'], patient_service_centers: centres };
    const body = {
      zip_code: '85004',
      phlebotomy,
      central_labs: { one: lab, two: { patient_service_centers: 'none' }, three: null },
    };
    const { method, url, answer } = await sent(
      ({ centres: directory }) => directory.coverage({ zipCode: '85004-1234', labs: ['one', 'two'] }),
      { body },
    );
    expect(`${method} ${url}`).toBe('GET /v3/order/area/info?zip_code=85004&radius=25&labs=one&labs=two');
    expect(answer).toMatchObject({
      phlebotomy: {
        providers: [{ name: 'one', service_types: ['appointment-ready'] }, { service_types: ['request'] }],
      },
    });
    expect((answer as { central_labs: object }).central_labs).toMatchObject({
      ...{ one: { lab_id: 27, patient_service_centers: centres }, two: {} },
    });
    expect((answer as { central_labs: object }).central_labs).not.toHaveProperty('three');
  });

  test('sites are asked for near a place or an order, and one that cannot be read hides no other', async () => {
    const site = (capability: string) => ({
      site_code: 7,
      distance: '3',
      metadata: { name: 'One', hours: null },
      capabilities: [capability],
    });
    const sites = [site('appointment_scheduling_via_brand'), 'no site', site('appointment_scheduling_with_lab')];
    const body = { lab_id: 27, slug: 'one', patient_service_centers: sites };
    const near = await sent(({ centres }) => centres.near({ zipCode: '85004', labId: 27, radius: 50 }), { body });
    expect(near.url).toBe('/v3/order/psc/info?zip_code=85004&lab_id=27&radius=50');
    const ofOrder = await sent(({ centres }) => centres.forOrder('order-1', { capabilities: ['stat'] }), { body });
    expect(ofOrder.url).toBe('/v3/order/order-1/psc/info?radius=25&capabilities=stat');
    const { centres, lab } = ofOrder.answer as Awaited<ReturnType<LabService['centres']['forOrder']>>;
    expect(lab).toBe('one');
    expect(centres).toMatchObject([{ site_code: '7', distance: 3 }, { site_code: '7' }]);
    expect(centres.map(isBookable)).toEqual([true, false]);
  });

  test.each<[string, (service: LabService) => Promise<unknown>]>([
    ['zipCode', ({ centres }) => centres.coverage({ zipCode: '850' })],
    ['radius', ({ centres }) => centres.near({ zipCode: '85004', labId: 27, radius: 30 as never })],
    ['labId', ({ centres }) => centres.near({ zipCode: '85004', labId: '27' as never })],
    ['siteCodes', ({ walkIns }) => walkIns.availability({ lab: 'one', siteCodes: ['a', 'b', 'c', 'd'] })],
    ['zipCode', ({ walkIns }) => walkIns.availability({ lab: 'one' })],
    ['zipCode', ({ walkIns }) => walkIns.availability({ lab: 'one', zipCode: '85004', siteCodes: ['a'] })],
    ['cancellationReasonId', ({ walkIns }) => walkIns.cancel('order-1', { cancellationReasonId: '' })],
  ])('a request with a wrong %s is not sent', async (field, call) => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    expect(await rejection(call(serviceAt(baseUrl)))).toMatchObject({ name: 'RequestInvalid', fields: [{ field }] });
    expect(requests).toEqual([]);
  });
});

describe('slots', () => {
  const body = { slots: [{ date: '2030-02-01', location: { code: 'one', distance: '2' }, slots: [] }], timezone: null };

  test('are asked for in the query of a POST, by sites or by a place with its radius', async () => {
    const bySites = await sent(
      ({ walkIns }) => walkIns.availability({ lab: 'one', siteCodes: ['a', 'b'], startDate: '2030-02-01' }),
      { body },
    );
    expect(bySites).toMatchObject({ method: 'POST', body: undefined });
    expect(bySites.url).toBe(
      '/v3/order/psc/appointment/availability?lab=one&site_codes=a&site_codes=b&start_date=2030-02-01',
    );
    expect(bySites.answer).toMatchObject({ slots: [{ location: { code: 'one', distance: 2 } }] });
    const byPlace = await sent(({ walkIns }) => walkIns.availability({ lab: 'one', zipCode: '85004-1234' }), { body });
    expect(byPlace.url).toContain('?lab=one&zip_code=85004&radius=25');
  });

  test('are none where the service says that it found none; another 404 is an error', async () => {
    const ask = ({ walkIns }: LabService) => walkIns.availability({ lab: 'one', siteCodes: ['a'] });
    const none = await sent(ask, { status: 404, body: { detail: 'No slots found for the given parameters.' } });
    expect(none.answer).toEqual({ slots: [] });
    const worded = await sent(ask, { status: 404, body: { detail: 'No available appointment slots' } });
    expect(worded.answer).toEqual({ slots: [] });
    await expect(sent(ask, { status: 404, body: { detail: 'Not Found' } })).rejects.toMatchObject({ name: 'NotFound' });
  });
});

describe('an appointment', () => {
  test('is booked under an idempotency key, and failures are not kept', async () => {
    const booked = await sent(({ walkIns }) => walkIns.book('order-1', booking, { idempotencyKey: 'key-1' }));
    expect(booked).toMatchObject({
      ...{
        method: 'POST',
        url: `${appointmentPath}/book`,
        body: booking,
        answer: { status: 'pending', external_id: '17' },
      },
      headers: { 'x-idempotency-key': 'key-1', 'x-idempotency-error': 'no-cache' },
    });
    const keyless = await sent(({ walkIns }) => walkIns.book('order-1', booking));
    expect(keyless.headers).not.toHaveProperty('x-idempotency-key');
  });

  test('is moved, cancelled in the spelling of its own, and read', async () => {
    const moved = await sent(({ walkIns }) => walkIns.reschedule('order-1', { booking_key: 'bk_invented' }));
    expect(`${moved.method} ${moved.url}`).toBe(`PATCH ${appointmentPath}/reschedule`);
    const request = { cancellationReasonId: 'reason-1', note: 'invented' };
    const cancelled = await sent(({ walkIns }) => walkIns.cancel('order-1', request));
    expect(cancelled).toMatchObject({ method: 'PATCH', url: `${appointmentPath}/cancel`, body: request });
    const read = await sent(({ walkIns }) => walkIns.get('order-1'));
    expect(`${read.method} ${read.url}`).toBe(`GET ${appointmentPath}`);
    const reasons = await sent(({ walkIns }) => walkIns.cancellationReasons(), {
      body: [{ id: 'reason-1', name: 'Other' }],
    });
    expect(reasons.url).toBe('/v3/order/psc/appointment/cancellation-reasons');
    expect(reasons.answer).toEqual([{ id: 'reason-1', name: 'Other' }]);
  });

  test.each<[number, string, string]>([
    [400, 'Slot no longer available', 'SlotUnavailable'],
    [404, 'The selected slot is no longer available.', 'SlotUnavailable'],
    [400, 'Bad booking key', 'BookingKeyExpired'],
    [400, 'No requisition or sample id yet', 'ServiceRefused'],
    [400, 'Unknown or inactive site', 'ServiceRefused'],
    [400, 'There is no appointment yet', 'ServiceRefused'],
    [400, 'Appointment is already cancelled', 'ServiceRefused'],
    [404, 'Order not found', 'NotFound'],
    [409, 'A request with this idempotency key is in progress', 'AnswerLost'],
    [409, 'Concurrent request for this idempotency key', 'AnswerLost'],
    [409, 'A request is outstanding for this Idempotency-Key', 'AnswerLost'],
    [409, 'Conflict', 'AnswerLost'],
    [409, 'The order already has an appointment', 'ServiceRefused'],
    [400, 'Idempotency key invalid', 'ServiceRefused'],
    [422, 'Idempotency key of a request in progress with another body', 'ServiceRefused'],
    [403, 'Feature not enabled for your team', 'FeatureNotEnabled'],
    [400, 'This endpoint is in closed beta', 'FeatureNotEnabled'],
    [404, 'Feature not enabled', 'FeatureNotEnabled'],
    [403, 'Idempotency key not enabled for your team: in progress', 'FeatureNotEnabled'],
    [401, 'Idempotency keys are not for this API key', 'Unauthorized'],
  ])('refused with %i "%s" is a %s', async (status, detail, name) => {
    const refused = sent(({ walkIns }) => walkIns.book('order-1', booking, { idempotencyKey: 'k' }), {
      ...{ status, body: { detail } },
    });
    await expect(refused).rejects.toMatchObject({ name });
  });
});
