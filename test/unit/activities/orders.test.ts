import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { orderActivities } from '../../../activities/orders.js';
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
