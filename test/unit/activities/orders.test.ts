import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { orderActivities } from '../../../activities/orders.js';
import { labAccountIds } from '../../../sandbox/lab-service/seed.js';
import { registration } from '../../rig/cast.js';
import { answering, serviceAt } from '../service/recording-server.js';

const order = (low: string) => ({
  id: 'order-1',
  events: [
    {
      id: 1,
      status: `${low === 'cancelled' ? 'cancelled' : 'received'}.testkit.${low}`,
      created_at: '2026-01-01T00:00:00Z',
    },
  ],
});

/** The service refuses to cancel the order, and shows it so from then on. */
async function refusing(shown: string) {
  let isRefused = false;
  const { baseUrl } = await answering(({ method }) => {
    if (method === 'GET') return { body: order(isRefused ? shown : 'ordered') };
    isRefused = true;
    return { status: 400, body: { detail: 'Transition is not allowed' } };
  });
  const activities = orderActivities({ service: serviceAt(baseUrl) });
  return new MockActivityEnvironment({ attempt: 2 }).run(() => activities.cancelOrder('order-1'));
}

test('a cancellation that is refused because an earlier attempt was carried out is done', async () => {
  expect(await refusing('cancelled')).toMatchObject({ orderId: 'order-1' });
});

test('a cancellation whose answer was lost is not sent again once the service shows it', async () => {
  const { baseUrl, requests } = await answering(() => ({ body: order('cancelled') }));
  expect(await commandsAt(baseUrl).cancel()).toMatchObject({ orderId: 'order-1' });
  expect(requests.map(({ method }) => method)).toEqual(['GET']);
});

test('a cancellation that is refused while the order goes on is refused', async () => {
  await expect(refusing('ordered')).rejects.toMatchObject({ type: 'CancelRefused' });
});

function commandsAt(baseUrl: string) {
  const activities = orderActivities({ service: serviceAt(baseUrl) });
  const registering = { orderId: 'order-1', registration: registration('sample-1'), chain: [] };
  return {
    cancel: () => new MockActivityEnvironment().run(() => activities.cancelOrder('order-1')),
    register: () => new MockActivityEnvironment().run(() => activities.registerKit(registering)),
  };
}

const unreadable = { type: 'AnswerUnreadable', nonRetryable: false, details: [{ status: 404, fields: [] }] };

test.each([
  ['a text', '404 page not found'],
  ['a page', '<html><body>404 Not Found</body></html>'],
  ['the message of a path that is not known', { detail: 'Not Found' }],
])('a 404 of a proxy to the read before a command, %s, refuses no command', async (_what, body) => {
  const { baseUrl } = await answering(() => ({ status: 404, body }));
  const { cancel, register } = commandsAt(baseUrl);
  await expect(cancel()).rejects.toMatchObject(unreadable);
  await expect(register()).rejects.toMatchObject(unreadable);
});

test("the service's own 404 to the read before a command refuses the command", async () => {
  const { baseUrl } = await answering(() => ({ status: 404, body: { detail: "This order doesn't exist." } }));
  const { cancel } = commandsAt(baseUrl);
  const refused = { type: 'CancelRefused', nonRetryable: true };
  await expect(cancel()).rejects.toMatchObject(refused);
});

test('a registration of another order does not say its id if that may be anything, a name too', async () => {
  const { baseUrl } = await answering(({ method }) => ({
    body: method === 'GET' ? order('ordered') : { order: { ...order('registered'), id: 'Testperson, Invented' } },
  }));
  const failure: unknown = await commandsAt(baseUrl)
    .register()
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ type: 'RegisteredAnotherOrder' });
  expect(String(failure)).not.toContain('Testperson');
});

test('an order that the service does not show yet is cancelled and registered all the same', async () => {
  const { baseUrl } = await answering(({ method, url }) => {
    if (method === 'GET') return { status: 404, body: { detail: "This order doesn't exist" } };
    return { body: { order: order(url?.endsWith('/cancel') ? 'cancelled' : 'registered'), status: 'success' } };
  });
  const { cancel, register } = commandsAt(baseUrl);
  expect(await cancel()).toMatchObject({ events: [{ status: 'cancelled.testkit.cancelled' }] });
  expect(await register()).toMatchObject({ events: [{ status: 'received.testkit.registered' }] });
});

test.each([
  ['shows it before it is sent again', true, 0],
  ['refuses it because it happened meanwhile', false, 1],
])('a registration whose answer was lost is done if the service %s', async (_how, isShownAtOnce, sent) => {
  let posts = 0;
  const registered = { ...order('testkit_registered'), sample_id: ' Sample-1' };
  const { baseUrl } = await answering(({ method }) => {
    if (method === 'GET') return { body: isShownAtOnce || posts > 0 ? registered : order('ordered') };
    posts += 1;
    return { status: 400, body: { detail: 'Already registered' } };
  });
  expect(await commandsAt(baseUrl).register()).toMatchObject({ orderId: 'order-1', events: [{}] });
  expect(posts).toBe(sent);
});

test('a registration that breaks a known rule is refused before anything is sent', async () => {
  const { baseUrl, requests } = await answering(() => ({ body: order('ordered') }));
  const activities = orderActivities({ service: serviceAt(baseUrl) });
  const wrong = registration('sample-1');
  const call = {
    orderId: 'order-1',
    registration: { ...wrong, patient_details: { ...wrong.patient_details, dob: '2999-01-01' } },
    chain: [],
  };
  await expect(new MockActivityEnvironment().run(() => activities.registerKit(call))).rejects.toMatchObject({
    type: 'RegistrationRefused',
    details: [{ fields: [{ field: 'patient_details.dob' }] }],
  });
  expect(requests.map(({ method }) => method)).toEqual(['GET']);
});

test('a registration without a physician is refused if the account that the order or the hand-over names needs one', async () => {
  const account = { id: labAccountIds.orderDelegated, delegated_flow: 'order_delegated' };
  for (const shown of [{ lab_account_id: account.id }, {}]) {
    const { baseUrl, requests } = await answering(({ url = '' }) => ({
      body: url.includes('lab_account') ? { data: [account] } : { ...order('ordered'), ...shown },
    }));
    const activities = orderActivities({ service: serviceAt(baseUrl) });
    const call = { orderId: 'order-1', registration: registration('sample-1'), chain: [], labAccountId: account.id };
    await expect(new MockActivityEnvironment().run(() => activities.registerKit(call))).rejects.toMatchObject({
      type: 'PhysicianRequired',
    });
    expect(requests.map(({ method }) => method)).not.toContain('POST');
  }
});

test('an order is unknown if the service itself says so, and not if a proxy does', async () => {
  const read = async (body: unknown) => {
    const { baseUrl } = await answering(() => ({ status: 404, body }));
    const activities = orderActivities({ service: serviceAt(baseUrl) });
    return new MockActivityEnvironment().run(() => activities.readOrder('order-1'));
  };
  expect(await read({ detail: "This order doesn't exist" })).toBeNull();
  await expect(read('<html>no such upstream</html>')).rejects.toMatchObject({ type: 'ServiceRefused' });
});

test('a registration that is refused for an order that is not shown yet says why', async () => {
  const fault = { loc: ['body', 'patient_details', 'dob'], msg: 'dob cannot be in the future', type: 'value_error' };
  const { baseUrl } = await answering(({ method }) =>
    method === 'GET'
      ? { status: 404, body: { detail: "This order doesn't exist" } }
      : { status: 422, body: { detail: [fault] } },
  );
  const refused = {
    type: 'RegistrationRefused',
    details: [{ status: 422, fields: [{ field: 'patient_details.dob' }] }],
  };
  await expect(commandsAt(baseUrl).register()).rejects.toMatchObject(refused);
});

test('a 404 of a proxy to the read after a refused command does not say that the command was refused', async () => {
  let commands = 0;
  const { baseUrl } = await answering(({ method }) => {
    if (method === 'POST') commands += 1;
    if (method === 'POST') return { status: 400, body: { detail: 'Not allowed' } };
    return commands === 0 ? { body: order('ordered') } : { status: 404, body: '404 page not found' };
  });
  const { cancel, register } = commandsAt(baseUrl);
  await expect(cancel()).rejects.toMatchObject(unreadable);
  commands = 0;
  await expect(register()).rejects.toMatchObject(unreadable);
});
