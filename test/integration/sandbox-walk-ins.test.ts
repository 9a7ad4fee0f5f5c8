import { expect, onTestFinished, test } from 'vitest';
import { inventedLab, labTestIds } from '../../sandbox/lab-service/seed.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { walkInReasons } from '../../sandbox/lab-service/walk-in-routes.js';
import { AnswerLost } from '../../service/errors.js';
import { readEvent } from '../../service/events.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import { patientDetails, shippingDetails } from '../rig/cast.js';
import {
  sandboxApiKey,
  webhookSecret,
  startReceiver,
  startSandbox,
  type Received,
  type Sandbox,
} from './sandbox-rig.js';

interface WalkingIn extends Sandbox {
  readonly client: LabService;
  readonly received: Received[];
  readonly orderId: string;
  /** Keys of the slots at a service centre. */
  readonly keys: (site?: string) => Promise<string[]>;
}

/** An order that is drawn at a service centre, and the product's own client, over real HTTP. */
async function startWalkingIn(settings: Partial<Settings> = {}): Promise<WalkingIn> {
  const { url: webhookUrl, received } = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl, webhookSecrets: [webhookSecret], ...settings });
  // Slots begin on the next UTC day: no story may cross midnight.
  await sandbox.control.setClock(new Date('2030-05-06T12:00:00Z'));
  const client = createLabService({ baseUrl: sandbox.service.url, apiKey: sandboxApiKey });
  onTestFinished(() => client.close());
  const patient = { patient_details: patientDetails, patient_address: shippingDetails };
  const request = { user_id: await sandbox.newUser(), lab_test_id: labTestIds.walkIn, ...patient };
  const { order } = await client.orders.create(request);
  const keys = async (site = 'PSC1') => {
    const { slots } = await client.walkIns.availability({ lab: inventedLab.slug, siteCodes: [site] });
    return (slots ?? []).flatMap((day) => (day.slots ?? []).flatMap(({ booking_key: key }) => key ?? []));
  };
  return { ...sandbox, client, received, orderId: order.id, keys };
}

const cancellation = { cancellationReasonId: walkInReasons[0].id };

test('a booking whose answer is lost fifty times is one booking, and its answer is as old as the first', async () => {
  const { client, control, orderId, keys } = await startWalkingIn();
  const [key = ''] = await keys();
  const before = (await keys()).length;
  const book = () =>
    client.walkIns.book(orderId, { booking_key: key, async_confirmation: true }, { idempotencyKey: 'key-1' });
  await control.addFault({ path: '/v3/order/*/psc/appointment/book', times: 50, action: { kind: 'drop_response' } });
  for (let n = 0; n < 50; n += 25) {
    const lost = await Promise.allSettled(Array.from({ length: 25 }, book));
    expect(lost.map((each) => each.status === 'rejected' && each.reason instanceof AnswerLost)).toEqual(
      Array(25).fill(true),
    );
  }
  const { id } = await client.walkIns.get(orderId);
  await control.advanceClock('31m');
  expect(await book()).toMatchObject({ id, status: 'pending' });
  expect(await client.walkIns.get(orderId)).toMatchObject({ id, status: 'confirmed' });
  expect(await control.deliveries({ event_type: 'labtest.appointment.created' })).toHaveLength(1);
  expect((await keys()).length).toBe(before - 1);
  await control.advanceClock('15d');
  await expect(book()).rejects.toMatchObject({ name: 'ServiceRefused' });
});

test('an appointment goes from pending to confirmed, is moved to another site and cancelled, and webhooks report all of it', async () => {
  const { client, control, received, orderId, keys } = await startWalkingIn();
  const [key = ''] = await keys();
  const booking = { booking_key: key, async_confirmation: true, appointment_notes: 'Invented' };
  expect(await client.walkIns.book(orderId, booking)).toMatchObject({
    ...{
      type: 'patient_service_center',
      provider: inventedLab.slug,
      status: 'pending',
      iana_timezone: 'America/New_York',
    },
    ...{ address: { first_line: '1 Market Street' }, external_id: 'L0000001' },
  });
  await control.advanceClock('31m');
  const [other = ''] = await keys('PSC2');
  const moved = await client.walkIns.reschedule(orderId, { booking_key: other });
  expect(moved).toMatchObject({ status: 'confirmed', address: { first_line: '22 Harbour Road' } });
  await client.walkIns.cancel(orderId, cancellation);
  await expect(client.walkIns.get(orderId)).rejects.toMatchObject({ name: 'NotFound' });
  expect(await keys()).toContainEqual(expect.stringMatching(/^bk_/));
  await control.settleWebhooks();
  const events = received.map(({ raw }) => readEvent(JSON.parse(raw)));
  const appointments = events.flatMap((event) =>
    event.kind === 'appointment' ? [event.appointment.event_status] : [],
  );
  expect(appointments).toEqual(['pending', 'scheduled', 'scheduled', 'cancelled']);
  const { events: ofOrder } = await client.orders.get(orderId);
  expect(ofOrder?.at(-1)?.status).toBe('collecting_sample.walk_in_test.appointment_cancelled');
});

test('a cancelled order leaves its appointment', async () => {
  const { client, orderId, keys } = await startWalkingIn();
  const [key = ''] = await keys();
  await client.walkIns.book(orderId, { booking_key: key });
  await client.orders.cancel(orderId);
  expect(await client.walkIns.get(orderId)).toMatchObject({ status: 'confirmed' });
});

test.each([
  ['area/info?zip_code=62704-1234', 422],
  ['area/info?zip_code=62704&radius=30', 422],
  ['psc/info?zip_code=62704&radius=25', 422],
  ['psc/info?zip_code=62704&lab_id=1&radius=100', 200],
  ['psc/appointment/availability?site_codes=PSC1', 422],
  ['psc/appointment/availability?lab=invented-lab', 400],
  ['psc/appointment/availability?lab=invented-lab&zip_code=62704', 400],
  ['psc/appointment/availability?lab=invented-lab&zip_code=62704&radius=25', 200],
  ['psc/appointment/availability?lab=invented-lab&zip_code=00501&radius=25', 404],
  ['psc/appointment/availability?lab=invented-lab&site_codes=PSC4', 400],
  ['psc/appointment/availability?lab=invented-lab&site_codes=PSC1&start_date=2001-01-01', 400],
  ['psc/appointment/availability?lab=invented-lab&site_codes=1&site_codes=2&site_codes=3&site_codes=4', 400],
  ['psc/appointment/availability?lab=another&site_codes=PSC1', 400],
])('%s is answered %i', async (path, status) => {
  const { call } = await startSandbox();
  const method = path.includes('availability') ? 'POST' : 'GET';
  expect((await call(method, `/v3/order/${path}`)).status).toBe(status);
});

test('a booking is refused with a key of nothing or of a visit at home, for an order of another kind, and a second time', async () => {
  const { client, newKit, orderId, keys } = await startWalkingIn();
  const [key = ''] = await keys();
  const book = (id: string, bookingKey: string) => client.walkIns.book(id, { booking_key: bookingKey });
  await expect(book(orderId, 'bk_none')).rejects.toMatchObject({ name: 'BookingKeyExpired', status: 400 });
  const { city, state, first_line, zip } = shippingDetails;
  const home = await client.appointments.availability({ city, state, first_line, zip_code: zip });
  const homeKey = home.slots?.[0]?.slots?.[0]?.booking_key ?? '';
  await expect(book(orderId, homeKey)).rejects.toMatchObject({ name: 'BookingKeyExpired', status: 400 });
  await expect(book((await newKit()).id, key)).rejects.toMatchObject({ name: 'ServiceRefused', status: 400 });
  await book(orderId, key);
  await expect(book(orderId, (await keys())[0] ?? '')).rejects.toMatchObject({ name: 'ServiceRefused', status: 400 });
});
