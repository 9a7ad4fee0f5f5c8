import { describe, expect, test } from 'vitest';
import { labAccountIds } from '../../sandbox/lab-service/seed.js';
import { patientDetails, physician, shippingDetails } from '../rig/cast.js';
import { lows, registerBody, startSandbox, testkitBody } from './sandbox-rig.js';

describe('registration', () => {
  // proves 8, 156, 157, 167, 189, 204, 205, I5
  test('continues with requisition_created, then testkit_registered, as the specification shows', async () => {
    const { call, control, newKit } = await startSandbox();
    const { id, user_id: userId } = await newKit();
    const { kit_sample_id: sampleId } = await control.order(id);
    const { status, body } = await call('POST', '/v3/order/testkit/register', registerBody(userId, sampleId ?? ''));
    expect(status).toBe(200);
    expect(lows(body.order)).toEqual(['ordered', 'awaiting_registration', 'requisition_created', 'testkit_registered']);
    expect(body.order).toMatchObject({
      id,
      status: 'received',
      sample_id: sampleId,
      patient_details: patientDetails,
      patient_address: { ...shippingDetails, country: 'United States' },
      requisition_form_url: `https://files.example.com/requisitions/${id}.pdf`,
    });
  });

  // proves 157, 167, I5
  test('plays the documented order of events and the spelling of the schema if a switch says so', async () => {
    const { call, newKit } = await startSandbox({
      registrationOrder: 'documentation',
      registeredSpelling: 'registered',
    });
    const { user_id: userId } = await newKit();
    const { body } = await call('POST', '/v3/order/testkit/register', registerBody(userId, 'INVENTED-1'));
    expect(lows(body.order).slice(2)).toEqual(['registered', 'requisition_created']);
  });

  // proves 202, I2
  test('accepts street and street_number as the lines of the address', async () => {
    const { call, newKit } = await startSandbox();
    const { user_id: userId } = await newKit();
    const { first_line: _, second_line: __, ...rest } = shippingDetails;
    const patientAddress = { ...rest, street: 'Invented Street', street_number: '12' };
    const body = { ...registerBody(userId, 'INVENTED-1'), patient_address: patientAddress };
    const answer = await call('POST', '/v3/order/testkit/register', body);
    expect(answer.body.order.patient_address).toMatchObject({ first_line: 'Invented Street', second_line: '12' });
  });

  // proves 61, 190
  test('registration for another user gives the order to that user', async () => {
    const { call, control, newKit, newUser } = await startSandbox();
    const order = await newKit();
    const patientId = await newUser();
    const { kit_sample_id: sampleId } = await control.order(order.id);
    const { body } = await call('POST', '/v3/order/testkit/register', registerBody(patientId, sampleId ?? ''));
    expect(body.order).toMatchObject({ id: order.id, user_id: patientId });
    expect((await call('GET', `/orders?user_id=${patientId}`)).body.total).toBe(1);
    expect((await call('GET', `/orders?user_id=${order.user_id}`)).body.total).toBe(0);
  });

  // proves 190
  test('registration without a user keeps the order with its user', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    const { kit_sample_id: sampleId } = await control.order(order.id);
    const { user_id: _, ...body } = registerBody('', sampleId ?? '');
    expect((await call('POST', '/v3/order/testkit/register', body)).body.order.user_id).toBe(order.user_id);
  });

  test('registration with a sample id that is on no kit takes the oldest kit of the user, or is refused if that is off', async () => {
    const { call, control, newUser } = await startSandbox();
    const kit = testkitBody(await newUser());
    const first = (await call('POST', '/v3/order/testkit', kit)).body.order;
    await call('POST', '/v3/order/testkit', kit);
    const register = async (sampleId: string) =>
      call('POST', '/v3/order/testkit/register', registerBody(first.user_id, sampleId));
    expect((await register('INVENTED-1')).body.order).toMatchObject({ id: first.id, sample_id: 'INVENTED-1' });
    await control.changeSettings({ anySampleId: false });
    expect(await register('INVENTED-2')).toMatchObject({
      status: 422,
      body: {
        detail: [{ type: 'value_error', loc: ['body', 'sample_id'], msg: 'Value error, sample_id is not known' }],
      },
    });
  });

  test('registration of a kit that is registered with another sample is refused', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    const register = async (sampleId: string) =>
      call('POST', '/v3/order/testkit/register', registerBody(order.user_id, sampleId));
    await register('INVENTED-1');
    const { kit_sample_id: printed } = await control.order(order.id);
    const answer = await register(printed ?? '');
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]?.msg).toContain('already registered with another sample_id');
  });

  test('repeated with the same sample is refused, or answered with the order if a switch says so', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    await newKit({ user_id: order.user_id });
    const body = registerBody(order.user_id, 'INVENTED-1');
    await call('POST', '/v3/order/testkit/register', body);
    expect((await call('POST', '/v3/order/testkit/register', body)).status).toBe(422);
    await control.changeSettings({ repeatedRegistration: 'accept' });
    const again = await call('POST', '/v3/order/testkit/register', body);
    expect(again.body.order).toMatchObject({ id: order.id });
    expect(again.body.order.events).toHaveLength(4);
  });

  test('registration of a cancelled kit is refused', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    await call('POST', `/v3/order/${order.id}/cancel`);
    const { kit_sample_id: sampleId } = await control.order(order.id);
    const answer = await call('POST', '/v3/order/testkit/register', registerBody(order.user_id, sampleId ?? ''));
    expect(answer.status).toBe(422);
  });

  test('registration of a kit that has shipped does not make it cancellable again', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    await control.move(order.id, 'with_customer');
    const { kit_sample_id: sampleId } = await control.order(order.id);
    const body = registerBody(order.user_id, sampleId ?? '');
    expect((await call('POST', '/v3/order/testkit/register', body)).status).toBe(200);
    expect((await call('POST', `/v3/order/${order.id}/cancel`)).status).toBe(400);
  });

  // proves 137, 138, 200
  test('registration on a delegated account needs a physician', async () => {
    const { call, newKit } = await startSandbox();
    for (const account of [labAccountIds.orderDelegated, labAccountIds.fullyDelegated]) {
      const order = await newKit({ lab_account_id: account });
      const body = registerBody(order.user_id, `INVENTED-${account}`);
      const refused = await call('POST', '/v3/order/testkit/register', body);
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'physician'] }] } });
      const accepted = await call('POST', '/v3/order/testkit/register', { ...body, physician });
      expect(accepted.body.order).toMatchObject({ physician, lab_account_id: account });
    }
  });

  test.each([
    ['first_name', '-John', 'value_error', 'Value error, The field must start with a letter (a-z or A-Z or 0-9)'],
    ['first_name', 'José', 'value_error', 'Value error, The field must start with a letter'],
    ['last_name', '', 'string_too_short', 'String should have at least 1 character'],
    ['last_name', 'x'.repeat(51), 'string_too_long', 'String should have at most 50 characters'],
    ['dob', '2999-01-01T00:00:00+00:00', 'value_error', 'Value error, dob cannot be in the future'],
    ['dob', '1990-02-31', 'date_from_datetime_parsing', 'Input should be a valid date or datetime'],
    ['email', 'nobody', 'value_error', 'value is not a valid email address'],
    ['gender', 'Female', 'enum', "Input should be 'female', 'male', 'other' or 'unknown'"],
  ])('registration with %s "%s" is refused', async (field, value, type, message) => {
    const { call, newKit } = await startSandbox();
    const order = await newKit();
    const body = {
      ...registerBody(order.user_id, 'INVENTED-1'),
      patient_details: { ...patientDetails, [field]: value },
    };
    const answer = await call('POST', '/v3/order/testkit/register', body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toHaveLength(1);
    expect(answer.body.detail[0]).toMatchObject({ type, loc: ['body', 'patient_details', field], input: value });
    expect(answer.body.detail[0]?.msg).toContain(message);
  });
});
