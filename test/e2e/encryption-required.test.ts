import { randomBytes, randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { EncryptionKeysMissing, LabOperations } from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { kitFor, registration } from '../rig/cast.js';
import { labops } from './labops.js';
import { patience, stack } from './stack.js';

const encryptionKeys = `invented:${randomBytes(32).toString('base64')}`;
/** Read at every start of a worker. */
const worker: Record<string, string> = { ENCRYPTION: 'required' };
const lab = stack({ encryptionKeys, worker });

/** A client without keys, as a backend in another language might have it. */
const blind = (): Client => new Client({ connection: lab.rig.client.connection });

const raw = (id: string) => blind().workflow.getHandle(id);

async function startInClear(reference: string) {
  return blind().workflow.start(placeKitOrderName, {
    taskQueue: lab.rig.taskQueue,
    workflowId: placeKitOrderId(reference),
    args: [kitFor(await lab.newUser(), reference)],
  });
}

/** As somebody with the keys reads it. */
async function failureOf(workflowId: string): Promise<unknown> {
  const ended: unknown = await lab.rig.client.workflow
    .getHandle(workflowId)
    .result()
    .catch((error: unknown) => error);
  return ended instanceof Error ? ended.cause : ended;
}

async function restart(encryption: 'required' | 'optional'): Promise<void> {
  await lab.worker.stop();
  worker['ENCRYPTION'] = encryption;
  await lab.startWorker();
}

test('a start that is not encrypted fails and creates no order', async () => {
  const reference = `clear-${randomUUID()}`;
  const { workflowId } = await startInClear(reference);
  const failure = await failureOf(workflowId);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({
    type: 'EncryptionRequired',
    message: expect.stringMatching(/LABOPS_ENCRYPTION_KEYS/) as string,
  });
  expect(await lab.creations()).toBe(0);
  await lab.rig.client.workflow.getHandle(workflowId).query('__stack_trace');
});

test('an update and a signal that are not encrypted change nothing, and the order goes on, even after a restart', async () => {
  const { handle, orderId } = await lab.place();
  const before = await handle.state();
  const order = raw(kitOrderId(orderId));
  await expect(order.executeUpdate('cancel', { args: [{}] as never })).rejects.toThrow('binary/encrypted');
  const history = await order.fetchHistory();
  expect(history.events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toBe(false);

  await order.signal('orderChanged', { orderId, status: 'nonsense', events: [] });
  await order.signal('replacementPlaced', 'nonsense');
  await lab.worker.waitFor(
    /a signal was dropped: it was not encrypted.*\n[^]*a signal was dropped: it was not encrypted/,
  );
  expect(await handle.state()).toEqual(before);

  await lab.worker.stop('SIGKILL');
  await lab.startWorker();
  expect(await handle.state()).toEqual(before);
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  expect(await handle.register(registration(sampleId ?? ''))).toMatchObject({ registered: true });
  expect(await handle.cancel()).toMatchObject({ phase: 'cancelled' });
  expect(lab.worker.output()).not.toMatch(/Nondeterminism|Failed to process/i);
});

test('what began in clear while encryption was optional goes on when it is required', async () => {
  await restart('optional');
  const reference = `clear-${randomUUID()}`;
  await startInClear(reference);
  const handle = await lab.labs.orders.get({ reference });
  const orderId = await handle.orderId();
  await raw(kitOrderId(orderId)).signal('orderChanged', 'nonsense');
  await lab.worker.waitFor(/a signal was dropped: it has no order snapshot/);
  await lab.untilIdle(orderId);

  await restart('required');
  await raw(kitOrderId(orderId)).signal('orderChanged', 'nonsense');
  await lab.worker.waitFor(/a signal was dropped: it was not encrypted/);
  await lab.sandbox.move(orderId, 'transit_customer');
  await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
  expect(lab.worker.output()).not.toMatch(/Nondeterminism|Failed to process/i);
});

test('what was dropped while encryption was required stays dropped when it is optional, and the order goes on', async () => {
  await restart('required');
  const [{ handle, orderId }, another] = [await lab.place(), await lab.place()];
  for (const id of [orderId, another.orderId]) await raw(kitOrderId(id)).signal('orderChanged', 'nonsense');
  await lab.worker.waitFor(/a signal was dropped: it was not encrypted[^]*a signal was dropped: it was not encrypted/);
  for (const id of [orderId, another.orderId]) await lab.untilIdle(id);
  const before = await handle.state();

  await restart('optional');
  expect(await handle.state()).toEqual(before);
  expect(await another.handle.cancel()).toMatchObject({ phase: 'cancelled' });
  await lab.sandbox.move(orderId, 'transit_customer');
  await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
  await raw(kitOrderId(orderId)).signal('orderChanged', 'nonsense');
  await lab.worker.waitFor(/a signal was dropped: it has no order snapshot/);

  await lab.untilIdle(orderId);
  expect(lab.worker.output()).not.toMatch(/Nondeterminism|Failed to process/i);

  await restart('required');
  expect((await handle.state()).phase).toBe('in_transit_to_customer');
  expect(lab.worker.output()).not.toMatch(/Nondeterminism|Failed to process/i);
});

test('a client without keys is refused before it sends anything, if the worker encrypts', async () => {
  const { taskQueue } = lab.rig;
  const reference = `unsent-${randomUUID()}`;
  const input = kitFor(await lab.newUser(), reference);
  const { orders } = new LabOperations(blind(), { taskQueue });
  await expect(orders.place(input)).rejects.toThrow(EncryptionKeysMissing);
  await expect(raw(placeKitOrderId(reference)).describe()).rejects.toThrow('not found');

  const { handle, orderId } = await lab.place();
  const blindly = await new LabOperations(blind(), { taskQueue }).orders.get({ orderId });
  await expect(blindly.cancel()).rejects.toThrow(/The worker encrypts, and this client has no keys/);
  expect(await handle.state()).toMatchObject({ phase: 'awaiting_registration' });
  const shown = await labops(lab, ['orders', 'cancel', orderId]);
  expect(shown.stderr).toMatch(/^EncryptionKeysMissing: /);
});

test('a client without keys is refused at once if encryption is required, and may send if it is optional', async () => {
  const { taskQueue } = lab.rig;
  expect(() => new LabOperations(blind(), { encryption: 'required' })).toThrow(EncryptionKeysMissing);
  await expect(LabOperations.connect({ encryption: 'required' })).rejects.toThrow(EncryptionKeysMissing);
  const reference = `sent-${randomUUID()}`;
  const { orders } = new LabOperations(blind(), { taskQueue, encryption: 'optional' });
  await orders.place(kitFor(await lab.newUser(), reference));
  expect(await failureOf(placeKitOrderId(reference))).toMatchObject({ type: 'EncryptionRequired' });
  const shown = await labops(lab, ['orders', 'list'], { env: { NODE_ENV: 'production' } });
  expect(shown.stderr).toMatch(/^EncryptionKeysMissing: Encryption is required/);
});
