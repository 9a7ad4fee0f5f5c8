import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { orderActivities } from '../../../../activities/order/orders.js';
import { labAccountIds } from '../../../../sandbox/lab-service/seed.js';
import { registration } from '../../../rig/cast.js';
import { answering, rejection, serviceAt, type Answer, type RecordedRequest } from '../../service/recording-server.js';

const order = (low: string) => {
  const status = `${low === 'cancelled' ? 'cancelled' : 'received'}.testkit.${low}`;
  return { id: 'order-1', events: [{ id: 1, status, created_at: '2026-01-01T00:00:00Z' }] };
};
const unknown: Answer = { status: 404, body: { detail: "This order doesn't exist." } };

/** The commands on a service that answers so; the read before a command shows an ordered kit, if nothing else is said. */
async function commandsOn(answer: (request: RecordedRequest, posts: number) => Answer | undefined) {
  let posts = 0;
  const { baseUrl, requests } = await answering((request) => {
    const given = answer(request, posts) ?? { body: order('ordered') };
    if (request.method === 'POST') posts += 1;
    return given;
  });
  const activities = orderActivities({ service: serviceAt(baseUrl) });
  const registering = { orderId: 'order-1', registration: registration('sample-1'), chain: [] };
  return {
    cancel: (attempt = 1) => new MockActivityEnvironment({ attempt }).run(() => activities.cancelOrder('order-1')),
    register: (more: object = {}) =>
      new MockActivityEnvironment().run(() => activities.registerKit({ ...registering, ...more })),
    read: () => new MockActivityEnvironment().run(() => activities.readOrder('order-1')),
    methods: () => requests.map(({ method }) => method),
  };
}

/** A service that refuses every command, and answers a read so from then on. */
const refusing = (detail: string, then: Answer) =>
  commandsOn(({ method }, posts) => {
    if (method === 'POST') return { status: 400, body: { detail } };
    return posts > 0 ? then : undefined;
  });

test('a cancellation that is refused is done if the order is cancelled by then, and refused if it goes on', async () => {
  const cancelling = async (shown: string) =>
    (await refusing('Transition is not allowed', { body: order(shown) })).cancel(2);
  expect(await cancelling('cancelled')).toMatchObject({ orderId: 'order-1' });
  await expect(cancelling('ordered')).rejects.toMatchObject({ type: 'CancelRefused' });
});

test('a cancellation whose answer was lost is not sent again once the service shows it', async () => {
  const { cancel, methods } = await commandsOn(() => ({ body: order('cancelled') }));
  expect(await cancel()).toMatchObject({ orderId: 'order-1' });
  expect(methods()).toEqual(['GET']);
});

const unreadable = { type: 'AnswerUnreadable', nonRetryable: false, details: [{ status: 404, fields: [] }] };

const proxied: Answer = { status: 404, body: '404 page not found' };
test.each([
  ['before a command', () => commandsOn(() => proxied)],
  ['after a refused command', () => refusing('Not allowed', proxied)],
])('a 404 of a proxy to the read %s does not say that the command was refused', async (_when, commands) => {
  await expect((await commands()).cancel()).rejects.toMatchObject(unreadable);
  await expect((await commands()).register()).rejects.toMatchObject(unreadable);
});

test('an order is unknown if the service itself says so, which refuses a command, and not if a proxy does', async () => {
  const { cancel, read } = await commandsOn(() => unknown);
  expect(await read()).toBeNull();
  await expect(cancel()).rejects.toMatchObject({ type: 'CancelRefused', nonRetryable: true });
  const proxied = await commandsOn(() => ({ status: 404, body: '<html>no such upstream</html>' }));
  await expect(proxied.read()).rejects.toMatchObject({ type: 'ServiceRefused' });
});

test('an order that the service does not show yet is cancelled and registered all the same', async () => {
  const { cancel, register } = await commandsOn(({ method, url }) => {
    if (method === 'GET') return unknown;
    return { body: { order: order(url?.endsWith('/cancel') ? 'cancelled' : 'registered'), status: 'success' } };
  });
  expect(await cancel()).toMatchObject({ events: [{ status: 'cancelled.testkit.cancelled' }] });
  expect(await register()).toMatchObject({ events: [{ status: 'received.testkit.registered' }] });
});

describe('a registration', () => {
  test('of another order does not say its id if that may be anything, a name too', async () => {
    const { register } = await commandsOn(({ method }) =>
      method === 'POST' ? { body: { order: { ...order('registered'), id: 'Testperson, Invented' } } } : undefined,
    );
    const failure = await rejection(register());
    expect(failure).toMatchObject({ type: 'RegisteredAnotherOrder' });
    expect(String(failure)).not.toContain('Testperson');
  });

  test.each([
    ['shows it before it is sent again', true, ['GET']],
    ['refuses it because it happened meanwhile', false, ['GET', 'POST', 'GET']],
  ])('whose answer was lost is done if the service %s', async (_how, isShownAtOnce, asked) => {
    const shown = { body: { ...order('testkit_registered'), sample_id: ' Sample-1' } };
    const { register, methods } = isShownAtOnce
      ? await commandsOn(() => shown)
      : await refusing('Already registered', shown);
    expect(await register()).toMatchObject({ orderId: 'order-1', events: [{}] });
    expect(methods()).toEqual(asked);
  });

  test.each([
    ['shows it before it is sent again', true, ['GET', 'GET']],
    ['refuses it because it happened meanwhile', false, ['GET', 'GET', 'POST', 'GET', 'GET']],
  ])('that went to another kit of the chain without an answer is done if the service %s', async (...given) => {
    const [, isShownAtOnce, asked] = given;
    const { register, methods } = await commandsOn(({ method, url = '' }, posts) => {
      if (method === 'POST') return { status: 400, body: { detail: 'Already registered' } };
      if (!url.endsWith('/order-0')) return undefined;
      const shown = isShownAtOnce || posts > 0 ? { sample_id: 'SAMPLE-1' } : {};
      const registered = order(isShownAtOnce || posts > 0 ? 'testkit_registered' : 'ordered');
      return { body: { ...registered, ...shown, id: 'order-0' } };
    });
    expect(await register({ chain: ['order-0', 'order-1'] })).toMatchObject({ orderId: 'order-0' });
    expect(methods()).toEqual(asked);
  });

  test('that breaks a known rule is refused before anything is sent', async () => {
    const { register, methods } = await commandsOn(() => undefined);
    const { patient_details: details, ...rest } = registration('sample-1');
    const wrong = { ...rest, patient_details: { ...details, dob: '2999-01-01' } };
    await expect(register({ registration: wrong })).rejects.toMatchObject({
      type: 'RegistrationRefused',
      details: [{ fields: [{ field: 'patient_details.dob' }] }],
    });
    expect(methods()).toEqual(['GET']);
  });

  test('without a physician is refused if the account that the order or the hand-over names needs one', async () => {
    const account = { id: labAccountIds.orderDelegated, delegated_flow: 'order_delegated' };
    for (const shown of [{ lab_account_id: account.id }, {}]) {
      const { register, methods } = await commandsOn(({ url = '' }) => ({
        body: url.includes('lab_account') ? { data: [account] } : { ...order('ordered'), ...shown },
      }));
      await expect(register({ labAccountId: account.id })).rejects.toMatchObject({ type: 'PhysicianRequired' });
      expect(methods()).not.toContain('POST');
    }
  });

  test('that is refused for an order that is not shown yet says why', async () => {
    const fault = { loc: ['body', 'patient_details', 'dob'], msg: 'dob cannot be in the future', type: 'value_error' };
    const { register } = await commandsOn(({ method }) =>
      method === 'GET' ? unknown : { status: 422, body: { detail: [fault] } },
    );
    await expect(register()).rejects.toMatchObject({
      type: 'RegistrationRefused',
      details: [{ status: 422, fields: [{ field: 'patient_details.dob' }] }],
    });
  });
});
