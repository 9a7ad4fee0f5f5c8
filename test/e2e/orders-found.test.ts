import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { errors, type OrderFilter, type OrderSummary } from '../../client/index.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { kitOrderId } from '../../protocol/ids.js';
import { labOrderIdKey, labPhaseKey, labReferenceKey, labTransactionIdKey } from '../../protocol/search-attributes.js';
import { kitFor, personal, registration, shippingDetails } from '../rig/cast.js';
import { followed } from '../rig/followed.js';
import { all } from '../rig/all.js';
import { decryptedHistory } from './raw-history.js';
import { labops } from './labops.js';
import { patience, stack } from './stack.js';

const lab = stack();
const begun = new Date();

async function summaries(filter: OrderFilter): Promise<OrderSummary[]> {
  return all(lab.labs.orders.list(filter));
}

/** The roots of the matching orders. A list lags by moments: it is read until it is as expected. */
async function listed(filter: OrderFilter): Promise<string[]> {
  return (await summaries(filter)).map(({ rootOrderId }) => String(rootOrderId)).toSorted();
}

test('orders are listed by phase, by user and by attention, and leave each list again', async () => {
  const userId = await lab.newUser();
  const place = async (name: string) => (await lab.labs.orders.place(kitFor(userId, `${name}-${userId}`))).orderId();
  const [waiting, lost, ended] = [await place('waiting'), await place('lost'), await place('ended')];
  for (const status of ['transit_customer', 'lost']) await lab.sandbox.move(lost, status);
  for (const status of ['transit_customer', 'transit_lab', 'completed']) await lab.sandbox.move(ended, status);

  await expect.poll(() => listed({ userId, phase: 'awaiting_registration' }), patience).toEqual([waiting]);
  await expect.poll(() => listed({ userId, phase: 'failed' }), patience).toEqual([lost]);
  await expect.poll(() => listed({ userId }), patience).toEqual([waiting, lost].toSorted());
  await expect.poll(() => listed({ userId, ended: true }), patience).toEqual([waiting, lost, ended].toSorted());
  await expect.poll(() => listed({ userId, attention: true }), patience).toEqual([lost]);
  await expect.poll(() => listed({ userId, attention: 'decision_needed' }), patience).toEqual([lost]);
  expect(await listed({ userId, attention: 'shipping_overdue' })).toEqual([]);
  const [summary] = await summaries({ userId, phase: 'failed' });
  expect(summary).toMatchObject({ rootOrderId: lost, orderIds: [lost], reference: `lost-${userId}`, userId });
  expect(summary).toMatchObject({ phase: 'failed', attention: ['decision_needed'] });

  const decided = await (
    await lab.labs.orders.getHandle({ orderId: lost })
  ).resolveProblem({ orderId: lost, decision: 'replace' });
  expect(decided.attention).toEqual([]);
  await expect.poll(() => listed({ userId, attention: true }), patience).toEqual([]);
  await expect.poll(() => listed({ userId, phase: 'failed' }), patience).toEqual([]);
});

test('an order that a late webhook opened again is listed once, in its present state', async () => {
  const { handle, orderId, userId } = await lab.place();
  for (const status of ['transit_customer', 'delivered_to_lab']) await lab.sandbox.move(orderId, status);
  await expect.poll(async () => (await handle.state()).phase, patience).toBe('at_lab');
  // One that is late would start another run.
  await lab.sandbox.settleWebhooks();
  await handle.resolveProblem({ orderId, decision: 'abandon' });
  await lab.untilListedAsEnded(orderId);
  expect(await listed({ userId, phase: 'at_lab', ended: true })).toEqual([orderId]);

  await lab.sandbox.move(orderId, 'cancelled');
  await lab.untilListedAsEnded(orderId, 2);
  expect(await summaries({ userId, ended: true })).toMatchObject([{ rootOrderId: orderId, phase: 'cancelled' }]);
  expect(await listed({ userId, phase: 'cancelled', ended: true })).toEqual([orderId]);
  expect(await listed({ userId, phase: 'at_lab', ended: true }), 'what it was').toEqual([]);
  expect(await listed({ userId: userId.toUpperCase(), ended: true }), 'the id in capitals').toEqual([orderId]);
  expect(await listed({ userId: userId.toUpperCase() }), 'running').toEqual([]);
});

test('a refused reference that was placed again is listed once, as the order that it is', async () => {
  const userId = await lab.newUser();
  const reference = `again-${userId}`;
  const wrong = kitFor(userId, reference);
  wrong.order.lab_test_id = randomUUID();
  await expect((await lab.labs.orders.place(wrong)).orderId()).rejects.toThrow(errors.OrderRefused);
  const refused = { reference, phase: 'placing', endedAt: expect.any(Date) as Date };
  await expect.poll(() => summaries({ userId, ended: true }), patience).toMatchObject([refused]);

  const rootOrderId = await (await lab.labs.orders.place(kitFor(userId, reference))).orderId();
  await expect.poll(() => listed({ userId }), patience).toEqual([rootOrderId]);
  expect(await summaries({ userId, ended: true })).toMatchObject([{ rootOrderId, reference }]);
});

test('an order is found by its reference and by every order id of its chain', async () => {
  const { orderId, reference, handle } = await lab.place({ onLost: 'replace' });
  for (const status of ['transit_customer', 'lost']) await lab.sandbox.move(orderId, status);
  await expect.poll(async () => (await followed(handle)).chain.length, patience).toBe(2);
  const { orderId: replacement } = await followed(handle);
  for (const status of ['transit_customer', 'delivered_to_lab', 'sample_error']) {
    await lab.sandbox.move(replacement, status);
  }
  // The redraw's webhooks would overtake the one of the sample.
  await lab.sandbox.settleWebhooks();
  const { order: redraw } = await lab.sandbox.redraw(replacement);
  // The redraw's second webhook follows its first.
  const isOn = { orderId: redraw.id, phase: 'awaiting_registration' };
  await expect.poll(() => handle.state(), patience).toMatchObject(isOn);

  const state = await followed(handle);
  expect(state.chain.map((link) => link.orderId)).toEqual([orderId, replacement, redraw.id]);
  for (const which of [{ reference }, { orderId }, { orderId: replacement }, { orderId: redraw.id }]) {
    const found = await lab.labs.orders.getHandle(which);
    expect(await found.orderId(), JSON.stringify(which)).toBe(orderId);
    expect(await found.state()).toEqual(state);
  }
  await expect(lab.labs.orders.getHandle({ orderId: randomUUID() })).rejects.toThrow(errors.OrderNotFound);
  await expect(lab.labs.orders.getHandle({ reference: 'never-used' })).rejects.toThrow(errors.OrderNotFound);

  const { typedSearchAttributes: attributes } = await lab.rig.client.workflow.getHandle(kitOrderId(orderId)).describe();
  expect(attributes.get(labReferenceKey)).toBe(reference);
  expect(attributes.get(labOrderIdKey)).toEqual([orderId, replacement, redraw.id]);
  expect(attributes.get(labTransactionIdKey)).toBe((await lab.sandbox.order(redraw.id)).order_transaction_id);
  expect(attributes.get(labPhaseKey)).toBe('awaiting_registration');
});

test('nothing personal is in a history without a registration, in an ID, a search attribute or a log', async () => {
  const { handle, orderId, userId } = await lab.place();
  for (const status of ['transit_customer', 'with_customer']) await lab.sandbox.move(orderId, status);
  const refused = registration('NO-SUCH-KIT', userId);
  await lab.sandbox.changeSettings({ anySampleId: false });
  await expect(handle.register({ registration: refused })).rejects.toThrow(errors.RegistrationRefused);
  await lab.sandbox.changeSettings({ anySampleId: true });
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  expect(await handle.register({ registration: registration(sampleId ?? '', userId) })).toMatchObject({
    registered: true,
  });
  const { order: adopted } = await lab.sandbox.createOrder({ patientKnown: true });
  await lab.sandbox.settleWebhooks();
  await lab.sandbox.move(adopted.id, 'completed');
  await expect.poll(async () => lab.runsOf(adopted.id).then((runs) => runs.length), patience).toBe(1);
  expect(shippingDetails.receiver_name, 'the pattern knows the test persons').toMatch(personal);

  let reads = 0;
  const query = `StartTime > '${begun.toISOString()}'`;
  for await (const { workflowId, type, typedSearchAttributes } of lab.rig.client.workflow.list({ query })) {
    expect(workflowId + JSON.stringify(typedSearchAttributes.getAll())).not.toMatch(personal);
    if (type !== 'kitOrder' || workflowId === kitOrderId(orderId)) continue;
    const history = await decryptedHistory(lab, workflowId);
    expect(history).toContain('testkit');
    expect(history).not.toMatch(personal);
    reads += 1;
  }
  expect(reads).toBeGreaterThan(4);
  expect(lab.worker.output()).toMatch(/"level":"debug"/);
  expect(lab.worker.output()).not.toMatch(personal);
  expect(lab.ingress.output()).toContain(orderId);
  expect(lab.ingress.output()).not.toMatch(personal);
});

test('what a user has of links, appointments and reports is listed by the same filters', async () => {
  const userId = await lab.newUser();
  const ordered = { user_id: userId, lab_test_id: labTestIds.atHomePhlebotomy };
  const { order } = await lab.sandbox.createOrder(ordered);
  const visit = await lab.labs.appointments.start({ orderId: order.id });
  const link = await lab.labs.links.start({ userId, provider: 'invented_watch' });
  const { id: jobId } = await lab.sandbox.createJob({ user_id: userId, outcome: 'stuck' });
  const { links, appointments, reports } = lab.labs;

  const isWaiting = { userId, attention: [] };
  await expect
    .poll(() => all(links.list({ userId })), patience)
    .toMatchObject([{ ...isWaiting, provider: 'invented_watch', phase: 'awaiting_password' }]);
  await expect
    .poll(() => all(appointments.list({ userId })), patience)
    .toMatchObject([{ ...isWaiting, orderId: order.id, phase: 'awaiting_choice' }]);
  await expect.poll(() => all(reports.list({ userId })), patience).toMatchObject([{ ...isWaiting, jobId }]);
  expect(await all(reports.list({ userId, phase: 'completed' }))).toEqual([]);
  expect(await all(appointments.list({ userId, attention: true }))).toEqual([]);
  await expect(links.list({ userId: "x' OR true" }).next()).rejects.toThrow(errors.LinkInvalid);

  await link.cancel();
  await expect.poll(() => all(links.list({ userId })), patience).toEqual([]);
  const ended = { phase: 'cancelled', endedAt: expect.any(Date) as Date };
  expect(await all(links.list({ userId, ended: true }))).toMatchObject([ended]);
  const args = ['links', 'list', '--user', userId, '--phase', 'cancelled', '--ended'];
  expect((await labops(lab, args)).stdout).toMatch(new RegExp(`${userId} +invented_watch +cancelled`));
  const listed = await labops(lab, ['appointments', 'list', '--user', userId, '-o', 'json']);
  expect(JSON.parse(listed.stdout)).toMatchObject({ appointments: [{ orderId: order.id }] });
  const unknown = await labops(lab, ['reports', 'list', '--phase', 'at_lab']);
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Known phases: uploaded, parsing') as string,
  });
  expect((await visit.state()).phase).toBe('awaiting_choice');
});
