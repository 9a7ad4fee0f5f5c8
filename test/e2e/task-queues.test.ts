import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { createLabService } from '../../client/index.js';
import { registration, visitFor } from '../rig/cast.js';
import { provider, rightCode } from './linked-user.js';
import { patience, stack } from './stack.js';

/** An endpoint that takes every notification and answers none. */
const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
afterAll(() => {
  hanging.closeAllConnections();
  hanging.close();
});

const lab = stack();

/** More than the main queue has slots (100). */
const backlog = 120;

test('registration, slots and codes do not wait for a backlog of reads, nor for a receiver that hangs', async () => {
  const { port } = hanging.address() as AddressInfo;
  await lab.worker.stop();
  await lab.startWorker({ NOTIFY_URL: `http://127.0.0.1:${port}/`, NOTIFICATION_SLOTS: '2', BACKGROUND_SLOTS: '4' });
  const { handle, orderId } = await lab.place();
  await lab.sandbox.move(orderId, 'with_customer');
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);

  const jobs = new Set<string>();
  const reads = async () =>
    (await lab.sandbox.requests({ method: 'GET' })).filter(({ path }) => jobs.has(path.split('/').at(-1) ?? '')).length;
  const slow = { kind: 'delay', delayMs: 50_000, phase: 'before_work' } as const;
  const userId = await lab.newUser();
  await lab.sandbox.addWebhookFault({ action: { kind: 'hold' } });
  for (let count = 0; count < backlog; count += 1) {
    const { id } = await lab.sandbox.createJob({ user_id: userId, outcome: 'stuck' });
    jobs.add(id);
    await lab.sandbox.addFault({ method: 'GET', path: `/**/${id}`, action: slow });
  }
  await lab.sandbox.removeWebhookFaults();
  await lab.sandbox.releaseWebhooks();
  await expect.poll(reads, patience).toBeGreaterThanOrEqual(4);

  const service = createLabService({ baseUrl: lab.service.url, apiKey: lab.service.apiKey });
  try {
    expect(await handle.register(registration(sampleId ?? ''))).toMatchObject({ registered: true });
    const { order } = await service.orders.create(visitFor(await lab.newUser()));
    const visit = await lab.labs.appointments.start({ orderId: order.id });
    expect((await visit.slots()).slots.length).toBeGreaterThan(0);
    const link = await lab.labs.links.start({ userId: await lab.newUser(), provider });
    const { linkToken } = await link.linkUrl();
    const asked = { username: 'mfa-sms', password: 'invented-password' };
    await link.reportLinkResult(await service.links.submitPassword(provider, linkToken, asked));
    expect(await link.submitMfaCode(rightCode)).toMatchObject({ outcome: 'connected' });
  } finally {
    await service.close();
  }
  expect(await reads(), 'the backlog is still there').toBeLessThan(backlog);
});
