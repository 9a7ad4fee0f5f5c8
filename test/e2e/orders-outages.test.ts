import { expect, onTestFinished, test } from 'vitest';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { startProxy } from '../rig/temporal-proxy.js';
import { kitFor, registration } from '../rig/cast.js';
import { answer, labops } from './labops.js';
import { codesSent, rightCode, startLink } from './linked-user.js';
import { patience, stack } from './stack.js';

const lab = stack();

/** An activity that dies with its worker is repeated only minutes later: here the worker dies between two of them. */
async function untilNotified(orderId: string, status: string): Promise<void> {
  const notified = () => lab.receiver.about(orderId).map(({ data }) => String(data['status']).split('.').at(-1));
  await expect.poll(notified, patience).toContain(status);
  await lab.untilIdle(orderId);
}

test('a worker that is killed in mid-story goes on once it is started again, and one that stops leaves its work to the next', async () => {
  const { handle, orderId, reference } = await lab.place();
  const { sandbox } = lab;
  for (const status of ['transit_customer', 'with_customer']) {
    await sandbox.move(orderId, status);
    await untilNotified(orderId, status);
  }
  const link = await startLink(lab);
  await link.logIn('mfa-email');
  expect(await lab.worker.stop('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
  const { kit_sample_id: sampleId } = await sandbox.order(orderId);
  const registering = handle.register({ registration: registration(sampleId ?? '') });
  const submitting = link.submit(rightCode);
  await sandbox.settleWebhooks();
  await lab.startWorker();
  expect(await registering).toMatchObject({ phase: 'with_customer', registered: true });
  expect(await submitting).toMatchObject({ outcome: 'connected' });
  expect(await codesSent(lab)).toBe(1);
  for (const status of ['transit_lab', 'delivered_to_lab']) await sandbox.move(orderId, status);
  await untilNotified(orderId, 'delivered_to_lab');

  // The grace period of these stories is 2 seconds; after 5 more the process leaves behind what does not end.
  const slow = { kind: 'delay', delayMs: 30_000, phase: 'before_work' } as const;
  await sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: slow });
  await sandbox.clearRequests();
  const userId = await lab.newUser();
  await lab.labs.orders.place(kitFor(userId, `outlasting-${userId}`, { creationTimeout: '29s' }));
  await expect.poll(() => lab.creations(), patience).toBe(1);
  expect(await lab.worker.stop()).toEqual({ code: 1, signal: null });
  const [, said = ''] = lab.worker.output().split('worker stops');
  expect(said).toContain('The worker stopped before all its work had finished');
  expect(said).not.toMatch(/^\s+at /m);
  await sandbox.move(orderId, 'completed');
  await sandbox.settleWebhooks();
  await lab.startWorker();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', orderId, reference });
  const results = lab.receiver.about(orderId).filter(({ type }) => type === 'result');
  expect(new Set(results.map(({ id }) => id)).size).toBe(1);
});

test('while placing is stopped no worker creates anything, whichever is killed, and after the resume it is created once', async () => {
  const { handle, orderId, userId } = await lab.place();
  for (const status of ['transit_customer', 'lost']) await lab.sandbox.move(orderId, status);
  await lab.untilIdle(orderId);
  const run = (...args: string[]) => answer(labops(lab, ['placing', ...args, '-o', 'json']));
  onTestFinished(async () => void (await lab.labs.placing.resume()));
  for (const reason of ['recalled test', 'another'])
    expect(await run('stop', '--reason', reason)).toMatchObject({ stopped: true, reason: 'recalled test' });
  // The worker so far may remember for 15 seconds that nothing was stopped.
  await lab.worker.stop();
  await lab.startWorker();
  const first = lab.worker;
  await lab.startWorker();
  await lab.sandbox.clearRequests();
  const waiting = await lab.labs.orders.place(kitFor(await lab.newUser(), `stopped-${userId}`));
  const shown = { attention: [{}], waiting: { for: 'placing to be resumed (stopped: recalled test)' } };
  await expect.poll(() => waiting.state(), patience).toMatchObject(shown);
  const waits = await labops(lab, ['orders', 'show', '--reference', `stopped-${userId}`]);
  expect(waits.stdout).toMatch(new RegExp(`^Lab tests +${labTestIds.kit}$`, 'm'));
  await first.stop('SIGKILL');
  const replacing = () => handle.replaceKit({ orderId });
  await expect(replacing()).rejects.toMatchObject({
    code: 'placing_stopped',
    message: 'Placing is stopped: recalled test',
  });
  expect(await run('show')).toMatchObject({ stopped: true });
  expect(await lab.creations()).toBe(0);

  expect(await run('resume')).toEqual({ stopped: false });
  const replaced = async () => (await replacing().catch(() => undefined))?.chain.length;
  await expect.poll(replaced, { ...patience, timeout: 60_000 }).toBe(2);
  expect(await lab.ordersOf(userId)).toHaveLength(2);
  expect(await waiting.cancel()).toMatchObject({ outcome: 'cancelled' });
  expect(await lab.creations()).toBe(1);
});

test('while Temporal is down the ingress answers 503, and the sender’s next attempt delivers', async () => {
  const proxy = await startProxy(lab.rig.address);
  onTestFinished(() => proxy.close());
  const url = await lab.startIngress({ TEMPORAL_ADDRESS: proxy.address });
  const before = await lab.sandbox.settings();
  const { handle, orderId } = await lab.place();
  // By the documented schedule further attempts come after 5 seconds, 5 minutes, 30 minutes: here in 2 and in 11 seconds.
  // The ingress takes ten seconds to answer; a sender gives up after fifteen, which a busy machine may need.
  await lab.sandbox.changeSettings({ webhookUrl: url, daySeconds: 432, webhookTimeoutMs: 60_000 });
  proxy.cut();
  await lab.sandbox.move(orderId, 'transit_customer');
  await lab.sandbox.settleWebhooks();
  const attempts = async () =>
    (await lab.sandbox.deliveries({ order_id: orderId }))
      .at(-1)
      ?.attempts.map(({ status, error }) => status ?? error) ?? [];
  expect((await attempts()).slice(0, 1)).toEqual([503]);
  expect((await handle.state()).phase).toBe('awaiting_registration');
  proxy.open();
  await expect.poll(async () => (await attempts()).at(-1), { timeout: 2 * patience.timeout, interval: 100 }).toBe(204);
  await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
  const { webhookUrl, daySeconds, webhookTimeoutMs } = before;
  await lab.sandbox.changeSettings({ webhookUrl, daySeconds, webhookTimeoutMs });
});
