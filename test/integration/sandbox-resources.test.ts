import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { decisionCodes } from '../../sandbox/lab-service/match-reviews.js';
import { inventedLab, inventedTeamId, labAccountIds, labTestIds } from '../../sandbox/lab-service/seed.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { sampleReport } from '../../sandbox/sample-report.js';
import { AnswerLost } from '../../service/errors.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import { linkErrorTypes } from '../../service/link/link.js';
import { all } from '../rig/all.js';
import { patientDetails, physician, shippingDetails } from '../rig/cast.js';
import {
  sandboxApiKey,
  sandboxManagementKey,
  knownPatientBody,
  lows,
  registerBody,
  startReceiver,
  startSandbox,
  testkitBody,
  webhookSecret,
  type Received,
  type Sandbox,
} from './sandbox-rig.js';

/*
 * What the stand-in does with each of its resources, as the contract has it, seen through the product's own client.
 * What the stories of the workflows need of it, they show.
 */

interface Played extends Sandbox {
  readonly client: LabService;
  readonly received: readonly Received[];
}

async function start(settings: Partial<Settings> = {}): Promise<Played> {
  const { url: webhookUrl, received } = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl, webhookSecrets: [webhookSecret], ...settings });
  // Slots begin on the next UTC day: no story may cross midnight.
  await sandbox.control.setClock(new Date('2030-05-06T12:00:00Z'));
  const keys = { apiKey: sandboxApiKey, managementKey: sandboxManagementKey };
  const client = createLabService({ baseUrl: sandbox.service.url, ...keys });
  onTestFinished(() => client.close());
  return { ...sandbox, received, client };
}

// proves 35, 170, 181, 232, 233, 315
test('a user is created once, leaves the list with the deletion, comes back by an undo, and is gone after seven days', async () => {
  const { call, client, control } = await start();
  const { user } = await client.users.create({ client_user_id: 'client/1 ä' });
  const path = `/v2/user/${user.user_id}`;
  expect((await call('GET', `/v2/user/resolve/${encodeURIComponent('client/1 ä')}`)).body).toMatchObject(user);
  expect((await call('GET', '/v2/user?offset=0&limit=1')).body).toMatchObject({ total: 1, users: [user] });
  await control.connect(user.user_id, { provider: 'invented_watch', webhook: false });
  expect((await call('DELETE', path)).body).toEqual({ success: true });
  const scheduled = 'You have scheduled this user for deletion.';
  expect(await call('GET', path)).toMatchObject({ status: 404, body: { detail: scheduled } });
  expect((await call('DELETE', path)).body.detail).toContain('has been scheduled for deletion');
  expect((await call('GET', '/v2/user/')).body.total).toBe(0);
  expect((await call('POST', '/v3/order/testkit', testkitBody(user.user_id))).status).toBe(404);
  await control.advanceClock('6d');
  const undo = () => call('POST', '/v2/user/undo_delete?client_user_id=client%2F1%20%C3%A4');
  expect((await undo()).status).toBe(200);
  await control.advanceClock('30d');
  expect((await call('GET', path)).body).toMatchObject({ user_id: user.user_id, connected_sources: [] });
  await call('DELETE', path);
  await control.advanceClock('7d');
  expect(await call('GET', path)).toMatchObject({ status: 404, body: { detail: 'Not found' } });
  expect((await undo()).status).toBe(404);
});

// proves 174, 175
test('launch lives for minutes, communications for weeks, and both lead to the named order', async () => {
  const { client, control, newKit } = await start();
  const { id: orderId, user_id: userId } = await newKit();
  const launch = await client.portal.createUrl(userId, { context: 'launch', orderId });
  const communications = await client.portal.createUrl(userId, { context: 'communications', orderId });
  expect(launch.expires_in).toBeLessThan(3_600);
  expect(communications.expires_in).toBeGreaterThanOrEqual(14 * 86_400);
  expect(await control.portalLinks()).toMatchObject([
    { order_id: orderId, url: launch.url },
    { url: communications.url },
  ]);
});

describe('an order', () => {
  // proves 8, 116, 151, 154, 155, 156, 157, 167, 189, 202, 204, 205, 206, 210, I2
  test('a kit awaits its registration, which brings the patient and its sample', async () => {
    const { call, control, newKit } = await start();
    const order = await newKit({ passthrough: 'labops:->:reference:1' });
    expect(order).toMatchObject({
      ...{ team_id: inventedTeamId, status: 'received', patient_details: null, sample_id: null, origin: 'initial' },
      ...{ passthrough: 'labops:->:reference:1', lab_test: { id: labTestIds.kit, method: 'testkit' } },
      shipping_details: { ...shippingDetails, country: 'United States' },
      last_event: order.events.at(-1),
      order_transaction: { status: 'active', orders: [{ id: order.id, parent_id: null }] },
    });
    expect((await call('GET', `/v3/order/${order.id}`)).body).toEqual(order);
    const other = await newKit();
    const ids = [...order.events, ...other.events].map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((one, another) => one - another));

    const { kit_sample_id: sampleId } = await control.order(order.id);
    const { first_line: _, second_line: __, ...rest } = shippingDetails;
    const street = { patient_address: { ...rest, street: 'Invented Street', street_number: '12' } };
    const body = { ...registerBody(other.user_id, sampleId ?? ''), ...street };
    const registered = (await call('POST', '/v3/order/testkit/register', body)).body.order;
    expect(lows(registered)).toEqual([
      ...['ordered', 'awaiting_registration', 'requisition_created', 'testkit_registered'],
    ]);
    expect(registered).toMatchObject({
      ...{ id: order.id, user_id: other.user_id, sample_id: sampleId, patient_details: patientDetails },
      patient_address: { first_line: 'Invented Street', second_line: '12' },
    });
    expect((await call('POST', '/v3/order/testkit/register', body)).status).toBe(422);
  });

  // proves 137, 138, 139, 140, 200, 217, 218, 221
  test('an order with a known patient is made once for its key, with the comments of both for the laboratory', async () => {
    const { call, control, newUser } = await start();
    const delegated = { lab_account_id: labAccountIds.orderDelegated, physician, clinical_notes: 'Own.' };
    const body = { ...knownPatientBody(await newUser()), ...delegated };
    const place = async (key: string, more = {}, path = '/v3/order') =>
      call('POST', path, { ...body, ...more }, { 'x-idempotency-key': key });
    const { order } = (await place('key-1')).body;
    expect(lows(order)).toEqual(['ordered', 'requisition_created']);
    expect((await control.order(order.id)).requisitionNotes).toBe('Fasting sample preferred.\nOwn.');
    expect((await place('key-1')).body.order.id).toBe(order.id);
    expect((await place('key-2', {}, '/v3/order/create')).body.order.id).not.toBe(order.id);
    expect((await place('bad', { collection_method: 'testkit' })).status).toBe(400);
    expect((await place('bad')).status).toBe(400);
    await control.advanceClock('24h');
    expect((await place('key-1')).body.order.id).not.toBe(order.id);
  });

  // proves 222
  test('an imported order has its sample, needs no requisition, and may be on an account that is still pending', async () => {
    const { client, newUser } = await start();
    const { phone_number: _, ...home } = shippingDetails;
    const { order } = await client.orders.import({
      ...{ user_id: await newUser(), billing_type: 'client_bill', collection_method: 'at_home_phlebotomy' },
      ...{ order_set: { add_on: { marker_ids: [11] } }, sample_id: 'SAMPLE-INVENTED' },
      ...{ patient_details: patientDetails, patient_address: home, lab_account_id: labAccountIds.pending },
    });
    expect(order).toMatchObject({ sample_id: 'SAMPLE-INVENTED', lab_account_id: labAccountIds.pending });
    expect(order.events?.map(({ status }) => status)).toEqual(['received.at_home_phlebotomy.requisition_bypassed']);
  });

  // proves 225
  test('the list has pages, newest first, and filters by user, ids, transaction, status, interpretation and time', async () => {
    const { call, control, newKit } = await start();
    const old = await newKit();
    await control.advanceClock('10d');
    const { now: between } = await control.clock();
    await control.advanceClock('10d');
    const fresh = await newKit();
    await control.move(fresh.id, { status: 'completed', interpretation: 'abnormal' });
    const found = async (query: Record<string, string>, path = '/orders') =>
      (await call('GET', `${path}?${new URLSearchParams(query).toString()}`)).body.orders.map(({ id }) => id);
    const both = [fresh.id, old.id];
    for (const [query, ids] of [
      [{}, both],
      [{ size: '1', page: '2' }, [old.id]],
      [{ order_direction: 'asc', size: '1' }, [old.id]],
      [{ user_id: old.user_id }, [old.id]],
      [{ order_ids: old.id }, [old.id]],
      [{ order_transaction_id: fresh.order_transaction.id }, [fresh.id]],
      [{ status: 'completed' }, [fresh.id]],
      [{ interpretation: 'abnormal' }, [fresh.id]],
      [{ is_critical: 'true' }, []],
      [{ is_critical: 'false' }, both],
      [{ start_date: between }, [fresh.id]],
      [{ updated_end_date: between }, [old.id]],
    ] as const) {
      expect(await found(query), JSON.stringify(query)).toEqual(ids);
      expect(await found(query, '/v3/orders')).toEqual(ids);
    }
  });

  test('the simulation walks a kit to its end or to a failure, in time if a delay is given', async () => {
    const { call, newKit, control } = await start();
    const [one, other] = [await newKit(), await newKit()];
    await call('POST', `/v3/order/${one.id}/test`, { interpretation: 'abnormal' });
    const walked = (await call('GET', `/v3/order/${one.id}`)).body;
    expect(walked).toMatchObject({ status: 'completed', interpretation: 'abnormal' });
    expect(lows(walked)).toHaveLength(10);
    await call('POST', `/v3/order/${other.id}/test?final_status=failed.testkit.sample_error&delay=60`);
    await control.advanceClock('121s');
    const last = async () => lows((await call('GET', `/v3/order/${other.id}`)).body).at(-1);
    expect(await last()).toBe('out_for_delivery');
    await control.advanceClock('1h');
    expect(await last()).toBe('sample_error');
  });

  // proves 98, 122, 124
  test('its results are the same at every reading until they are corrected, and a redraw joins its transaction', async () => {
    const { call, control, newKit } = await start();
    const order = await newKit();
    await call('POST', '/v3/order/testkit/register', registerBody(order.user_id, 'INVENTED-1'));
    const { order: redraw } = await control.redraw(order.id);
    await control.move(redraw.id, { status: 'completed', interpretation: 'critical', has_missing_results: true });
    const read = async (path = `order/${redraw.id}/result`) => (await call('GET', `/v3/${path}`)).body;
    const results = await read();
    expect(results.metadata).toMatchObject({ status: 'final', interpretation: 'critical' });
    expect(results.missing_results).toMatchObject([{ inferred_failure_type: 'quantity_not_sufficient_failure' }]);
    for (const path of [`order/${redraw.id}/result`, `order_transaction/${order.order_transaction.id}/result`]) {
      expect(await read(path)).toEqual(results);
    }
    await control.move(redraw.id, 'corrected');
    expect((await read()).metadata.status).toBe('corrected');
    expect(await read(`order_transaction/${order.order_transaction.id}`)).toMatchObject({
      status: 'completed',
      orders: [{ id: order.id }, { id: redraw.id, origin: 'redraw', parent_id: order.id, last_status: 'corrected' }],
    });
  });
});

// proves 6, 20, 43, 45, 56, 143, 169, 257, 309
test('a link answers as its table of user names and codes says, until its token has expired or was used', async () => {
  const { client, control, newUser } = await start();
  const watch = 'invented_watch';
  const user_id = await newUser();
  const newToken = async () => (await client.links.createToken({ user_id })).link_token;
  const token = await newToken();
  const signIn = (username: string, other = token) =>
    client.links.submitPassword(watch, other, { username, password: 'invented-password' });
  const submit = (code: string) => client.links.completeMfa(watch, token, code);
  for (const type of [...linkErrorTypes, 'error_of_next_year']) {
    expect(await signIn(`error-${type}`)).toMatchObject({ state: 'error', error_type: type });
  }
  expect(await submit('123456')).toMatchObject({ error_type: 'token_not_validated' });
  expect(await signIn('state-thinking')).toMatchObject({ state: 'thinking' });
  expect(await signIn('somebody')).toMatchObject({ error_type: 'provider_credential_error' });
  await expect(signIn('detail')).rejects.toMatchObject({ status: 422 });
  expect(await signIn('MFA-EMAIL@example.com')).toMatchObject({
    ...{ state: 'pending_provider_mfa', provider_mfa: { method: 'email', hint: 't***@example.com' } },
  });
  expect(await signIn('mfa-again')).toMatchObject({ provider_mfa: { method: 'sms' } });
  for (const [index, type] of linkErrorTypes.entries()) {
    expect(await submit(String(900_001 + index))).toMatchObject({ state: 'error', error_type: type });
  }
  expect(await submit('900098')).toMatchObject({ state: 'state_of_next_year' });
  await expect(submit('900422')).rejects.toMatchObject({ status: 422, fields: [{ field: 'mfa_code' }] });
  await expect(submit('900500')).rejects.toMatchObject({ name: 'ServiceUnavailable' });
  expect(await submit('123456')).toMatchObject({ state: 'pending_provider_mfa', provider_mfa: { method: 'email' } });
  expect(await submit('123456')).toMatchObject({ error_type: 'incorrect_mfa_code' });
  expect(await submit('654321')).toMatchObject({ state: 'success', connected: true });
  expect(await signIn('ok')).toMatchObject({ error_type: 'token_consumed' });
  expect(await signIn('ok', 'lt_unknown')).toMatchObject({ error_type: 'invalid_token' });
  const late = await newToken();
  await control.advanceClock('11m');
  expect(await signIn('ok', late)).toMatchObject({ error_type: 'token_expired' });
  expect(await control.requests({ method: 'POST', status: 500 })).toHaveLength(1);
  const log = JSON.stringify(await control.requests());
  for (const secret of ['MFA-EMAIL', 'invented-password', '654321', token, sandboxApiKey])
    expect(log).not.toContain(secret);
});

describe('an appointment', () => {
  const { first_line, city, state, zip: zip_code } = shippingDetails;
  const home = { first_line, city, state, zip_code };

  async function startVisiting(settings: Partial<Settings> = {}) {
    const played = await start(settings);
    const body = { ...knownPatientBody(await played.newUser()), lab_test_id: labTestIds.atHomePhlebotomy };
    const { id } = (await played.call('POST', '/v3/order', body)).body.order;
    const keys = async () => {
      const { slots } = await played.client.appointments.availability(home);
      return (slots ?? []).flatMap((day) => (day.slots ?? []).flatMap(({ booking_key: key }) => key ?? []));
    };
    const orderLows = async () => lows((await played.call('GET', `/v3/order/${id}`)).body);
    return { ...played, id, keys, orderLows, appointments: played.client.appointments };
  }

  // proves 226, 228, 229, 267, 314
  test('an appointment is confirmed at once, changes its slot, and frees it when it is cancelled', async () => {
    const { appointments, id, keys, orderLows, control, call } = await startVisiting();
    const slots = await keys();
    expect(slots).toHaveLength(14 * 5);
    const [mine = '', next = ''] = slots;
    const booked = await appointments.book(id, { booking_key: mine, appointment_notes: 'Invented dog' });
    expect(booked).toMatchObject({ status: 'confirmed', events: [{ status: 'pending' }, { status: 'scheduled' }] });
    const moved = await appointments.reschedule(id, { booking_key: next });
    expect(moved).toMatchObject({ id: booked.id, appointment_notes: 'Invented dog' });
    expect(await keys()).toHaveLength(slots.length - 1);
    await control.settleWebhooks();
    const sent = await control.deliveries({ event_type: 'labtest.appointment.updated' });
    expect(sent.map(({ state: delivery }) => delivery)).toEqual(['delivered', 'delivered']);
    await call('POST', `/v3/order/${id}/cancel`);
    expect(await appointments.get(id)).toMatchObject({ status: 'cancelled' });
    expect(await keys()).toHaveLength(slots.length);
    expect(await orderLows()).toEqual([
      ...['ordered', 'requisition_created', 'appointment_pending'],
      ...['appointment_scheduled', 'appointment_scheduled', 'cancelled'],
    ]);
  });

  // proves 226, 227
  test('a key lives for half an hour, and what waits for the provider is answered within another', async () => {
    const { appointments, id, keys, control, orderLows } = await startVisiting();
    const [key = ''] = await keys();
    await control.advanceClock('31m');
    await expect(appointments.book(id, { booking_key: key })).rejects.toMatchObject({ name: 'BookingKeyExpired' });
    const asked = await appointments.request(id, { address: home, provider: 'invented_draws' });
    expect(asked).toMatchObject({ status: 'pending', start_at: null });
    await control.changeSettings({ appointmentConfirmation: 'decline' });
    await control.advanceClock('31m');
    expect((await orderLows()).at(-1)).toBe('appointment_scheduled');
    await control.moveAppointment(id, 'completed');
    expect((await orderLows()).at(-1)).toBe('draw_completed');
  });

  test('at a service centre, a booking whose answer is lost fifty times is one booking, and its answer is as old as the first', async () => {
    const { client, control, call, newUser } = await start();
    const body = { ...knownPatientBody(await newUser()), lab_test_id: labTestIds.walkIn };
    const { id } = (await call('POST', '/v3/order', body)).body.order;
    const { slots } = await client.walkIns.availability({ lab: inventedLab.slug, siteCodes: ['PSC1'] });
    const booking = { booking_key: slots?.[0]?.slots?.[0]?.booking_key ?? '', async_confirmation: true };
    const book = () => client.walkIns.book(id, booking, { idempotencyKey: 'key-1' });
    await control.addFault({ path: '/v3/order/*/psc/appointment/book', times: 50, action: { kind: 'drop_response' } });
    for (let n = 0; n < 50; n += 25) {
      const lost = await Promise.allSettled(Array.from({ length: 25 }, book));
      expect(lost.every((each) => each.status === 'rejected' && each.reason instanceof AnswerLost)).toBe(true);
    }
    const { id: appointmentId } = await client.walkIns.get(id);
    await control.advanceClock('31m');
    expect(await book()).toMatchObject({ id: appointmentId, status: 'pending' });
    expect(await client.walkIns.get(id)).toMatchObject({ id: appointmentId, status: 'confirmed' });
    expect(await control.deliveries({ event_type: 'labtest.appointment.created' })).toHaveLength(1);
    await control.advanceClock('15d');
    await expect(book()).rejects.toMatchObject({ name: 'ServiceRefused' });
  });
});

describe('a report', () => {
  async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; at < bytes.length; at += 65_536) yield await Promise.resolve(bytes.subarray(at, at + 65_536));
  }

  // proves 230, 313
  test('arrives as it was sent, up to the limit, and only facts of it are kept', async () => {
    const { client, control, newUser } = await start();
    const userId = await newUser();
    const upload = async (bytes: Buffer, contentType: 'application/pdf' | 'image/png' = 'application/pdf') =>
      client.reports.createJob({ userId, file: { contentType, bytes: pieces(bytes) } });
    // Bytes in a file that look like the end of a form do not end it.
    const bytes = Buffer.concat([sampleReport('pdf'), Buffer.from('\r\n--labops-\r\n--'), randomBytes(300_000)]);
    const { id } = await upload(bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect((await control.job(id)).files).toMatchObject([{ size: bytes.length, sha256, name: 'report.pdf' }]);
    for (const [refused, status] of [
      [sampleReport('pdf', { size: 10_485_761 }), 413],
      [Buffer.alloc(0), 400],
      [Buffer.from('only text'), 400],
    ] as const) {
      await expect(upload(refused)).rejects.toMatchObject({ status });
    }
    expect(await control.jobs()).toHaveLength(1);
  });

  // proves 231, 265, 266
  test.each([
    ['completed', 'started processing completed', null],
    ['failed:low_quality', 'started processing failed', 'low_quality'],
    ['no-results', 'started processing completed', null],
    ['review', 'started processing pending_review completed', null],
    ['review-failed:invalid_input', 'started processing pending_review failed', 'invalid_input'],
    ['stuck', 'started', null],
    ['unknown-status', 'started processing quality_hold completed', null],
  ])('a job whose file says %s goes through %s', async (outcome, statuses, reason) => {
    const { client, control, received } = await start();
    const { id } = await control.createJob({ outcome });
    await control.advanceClock('2d');
    await control.settleWebhooks();
    const { history } = await control.job(id);
    expect(history.map(({ status }) => status).join(' ')).toBe(`upload_pending ${statuses}`);
    expect(received).toHaveLength(history.length - 1);
    expect((await client.reports.getJob(id)).failure_reason).toBe(reason);
  });
});

test('a result that matches no order arrives for every decision code, and an accepted one can make its order again', async () => {
  const { client, control, received } = await start();
  for (const decision_code of decisionCodes) await control.createMatchReview({ decision_code });
  const found = await all(client.matchReviews.list({}, { pageSize: 3 }));
  expect(new Set(found.map(({ decision_code: code }) => code))).toEqual(new Set(decisionCodes));
  await control.settleWebhooks();
  const reported = received.filter(({ json }) => json.event_type.includes('match'));
  expect(reported).toHaveLength(decisionCodes.length);
  const { id, order_ids: ids } = await control.createMatchReview({ decision_code: 'match_cancelled' });
  const again = await client.matchReviews.accept(id);
  expect(again).toMatchObject({ origin: 'recreation', parent_id: ids[0], status: 'completed' });
  await expect(client.matchReviews.accept(id)).rejects.toMatchObject({ status: 404 });
});

// proves 234, 235, 236, 237, 238, 239, 304
test('sends webhooks to its endpoints, of their types, with their headers, and with both secrets during a rotation', async () => {
  const { url, received } = await startReceiver();
  const { client, control, newKit } = await start();
  const { webhooks } = client.management;
  const place = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };
  await webhooks.create({ ...place, environment: 'production' }, { url });
  const { id } = await webhooks.create(place, { url, filter_types: ['labtest.order.created'] });
  await webhooks.setHeaders(place, id, { 'X-Invented': 'shown', Authorization: 'Bearer invented' });
  expect(await webhooks.getHeaders(place, id)).toEqual({
    headers: { 'X-Invented': 'shown' },
    sensitive: ['Authorization'],
  });
  await webhooks.rotateSecret(place, id);
  expect(await webhooks.getSecret(place, id)).toMatch(/^whsec_/);
  await newKit();
  await control.advanceClock('25h');
  await newKit();
  await webhooks.update(place, id, { disabled: true });
  await newKit();
  await control.settleWebhooks();
  const signatures = received.map(({ headers }) => String(headers['svix-signature']).split(' ').length);
  expect(signatures).toEqual([2, 1]);
  expect(received[0]?.headers).toMatchObject({ 'x-invented': 'shown', authorization: 'Bearer invented' });
  await webhooks.delete(place, id);
  expect(await all(webhooks.list(place))).toEqual([]);
});
