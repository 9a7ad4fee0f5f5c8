import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { orderActivities } from '../../../activities/orders.js';
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
