import { randomBytes, randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { labDataConverter, LabOperations, parseKeyRing } from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { kitFor, registration } from '../rig/cast.js';
import { labops } from './labops.js';
import { patience, stack } from './stack.js';

const lab = stack({ worker: { LABOPS_ENCRYPTION: 'required' } });

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

test('an update and a signal that are not encrypted change nothing, and the order goes on after a restart, with a command that was sent before it', async () => {
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
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  const registered = handle.register({ registration: registration(sampleId ?? '') });
  await lab.startWorker();
  expect(await registered).toMatchObject({ registered: true });
  const known = (state: typeof before) => ('timeline' in state ? state.timeline.map(({ eventId }) => eventId) : []);
  const after = await handle.state();
  expect(known(after)).toEqual(expect.arrayContaining(known(before)));
  expect(after.attention).toEqual(before.attention);
  expect(await handle.cancel()).toMatchObject({ phase: 'cancelled' });
  expect(lab.worker.output()).not.toMatch(/Nondeterminism|Failed to process/i);
});

test('a client without keys is refused before it sends anything, if the worker encrypts', async () => {
  const { taskQueue } = lab.rig;
  const reference = `unsent-${randomUUID()}`;
  const input = kitFor(await lab.newUser(), reference);
  const { orders } = new LabOperations(blind(), { taskQueue });
  const message: unknown = expect.stringContaining('dataConverter: labDataConverter');
  await expect(orders.place(input)).rejects.toMatchObject({ name: 'EncryptionKeysMissing', message });
  await expect(raw(placeKitOrderId(reference)).describe()).rejects.toThrow('not found');

  const { handle, orderId } = await lab.place();
  const blindly = await new LabOperations(blind(), { taskQueue }).orders.getHandle({ orderId });
  await expect(blindly.cancel()).rejects.toThrow(/The worker encrypts, and this client has no keys/);
  expect(await handle.state()).toMatchObject({ phase: 'awaiting_registration' });
  const shown = await labops(lab, ['orders', 'cancel', orderId], { env: { LABOPS_ENCRYPTION_KEYS: undefined } });
  expect(shown.stderr).toMatch(/^EncryptionKeysMissing: /);
});

test('input that cannot be decrypted stops nothing: a signal is dropped, a person is asked to look, and a critical result still alarms', async () => {
  const { handle, orderId } = await lab.place();
  const dataConverter = labDataConverter(parseKeyRing(`invented:${randomBytes(32).toString('base64')}`));
  const otherKey = new Client({ connection: lab.rig.client.connection, dataConverter });
  const order = otherKey.workflow.getHandle(kitOrderId(orderId));
  await order.signal('orderChanged', { orderId, status: 'nonsense', events: [] });
  await order.signal('nobodyHandlesThis', { invented: true });
  await lab.sandbox.reportCritical(orderId, { status: 'partial' });
  await expect
    .poll(async () => (await handle.state()).attention.map(({ reason }) => reason).toSorted(), patience)
    .toEqual(['critical_result', 'unreadable_signal']);
  await expect.poll(() => lab.receiver.about(orderId).map(({ type }) => type), patience).toContain('critical_result');
  await expect(order.executeUpdate('cancel', { args: [{}] as never })).rejects.toThrow(Error);
  await expect(order.query('policyPreview', { invented: 'setting' })).rejects.toThrow(Error);
  expect(lab.worker.output()).toMatch(/a signal was dropped: it cannot be read with the keys of this worker/);
  expect(lab.worker.output()).not.toMatch(/Nondeterminism|Failed to process/i);
});
