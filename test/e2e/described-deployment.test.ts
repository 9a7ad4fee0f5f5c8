import { expect, test } from 'vitest';
import { registration, visitFor } from '../rig/cast.js';
import { labService } from '../../workers/doctor/service.js';
import { readWorkerConfig } from '../../workers/settings/config.js';
import { patience, stack } from './stack.js';

/* A deployment whose brand, paths and address all differ from the defaults. Every process knows that from one file. */

const lab = stack({
  described: {
    description: {
      brand: 'Acme',
      ordersPath: '/lab/orders',
      usersPath: '/v2/user',
      createOrderPath: '/v3/order/create',
    },
    basePath: '/base',
  },
});

test('an order is carried from placement to results by what SERVICE_DESCRIPTION says, and the doctor finds nothing wrong', async () => {
  expect(lab.workerEnv).not.toHaveProperty('SERVICE_BASE_URL');
  const { handle, orderId, reference, userId } = await lab.place();
  await expect.poll(async () => (await handle.state()).phase, patience).toBe('awaiting_registration');
  for (const status of ['transit_customer', 'with_customer']) await lab.sandbox.move(orderId, status);
  await lab.sandbox.settleWebhooks();
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  await handle.register({ registration: registration(sampleId ?? '') });
  for (const status of ['transit_lab', 'delivered_to_lab']) await lab.sandbox.move(orderId, status);
  await lab.sandbox.settleWebhooks();
  await lab.sandbox.move(orderId, 'completed');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', orderId, reference });
  expect((await handle.results()).results).toHaveLength(3);
  expect(lab.receiver.about(orderId).map(({ type }) => type)).toContain('result');

  const order = visitFor(userId);
  const visit = await lab.labs.orders.place({ kind: 'with_patient', reference: `${reference}-visit`, order });
  const visitId = await visit.orderId();
  const found: string[] = [];
  for await (const { id } of lab.labs.orders.search({ userId })) found.push(id);
  expect(found).toEqual(expect.arrayContaining([orderId, visitId]));

  const checked = (env = {}) => labService(readWorkerConfig({ ...lab.workerEnv, ...env }).service);
  expect(await checked()).toEqual({
    status: 'ok',
    found: 'The lab service answers, takes the key, and lists orders and users.',
  });
  expect(await checked({ SERVICE_USERS_PATH: '/v2/user/' })).toEqual({
    status: 'fault',
    found: 'The list of users is not at /v2/user/ (404).',
    remedy: 'Set SERVICE_USERS_PATH=/v2/user, here or in SERVICE_DESCRIPTION.',
  });
});
