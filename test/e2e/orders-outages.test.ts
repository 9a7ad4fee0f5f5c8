import { expect, onTestFinished, test } from 'vitest';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { kitFor } from '../rig/cast.js';
import { answer, labops } from './labops.js';
import { patience, stack } from './stack.js';

const lab = stack();

test('a worker that stops before its work has finished says so, and leaves it to the next', async () => {
  const { handle, orderId, reference } = await lab.place();
  const { sandbox } = lab;
  for (const status of ['transit_lab', 'delivered_to_lab']) await sandbox.move(orderId, status);
  // One that comes after the end would start another run.
  await sandbox.settleWebhooks();
  await lab.untilIdle(orderId);

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
