import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DeletionReceipt } from '../../client/index.js';
import {
  bookAppointmentId,
  deleteUserId,
  deliverNotificationsId,
  kitOrderId,
  linkProviderId,
  parsingJobId,
  placeKitOrderId,
  submitReportId,
} from '../../protocol/ids.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { kitFor, registration } from '../rig/cast.js';
import { rejection } from '../unit/service/recording-server.js';
import { answer, labops } from './labops.js';
import { provider } from './linked-user.js';
import { patience, stack } from './stack.js';

/* What Temporal holds of two persons before and after the final deletion of one of them, read as it is stored. */

const key = generateKeyPairSync('ed25519');
const lab = stack({
  keys: '',
  worker: { RECEIPT_KEY: key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() },
});

interface Person {
  userId: string;
  /** In an address, a name, a path and a note of this person, and nowhere else. */
  marker: string;
  reference: string;
  orderId: string;
  /** The workflows that have ended, and the ones that still run. */
  closed: string[];
  open: string[];
}

/** A person with one of everything that has ended, and an order that goes on. */
async function live(): Promise<Person> {
  const userId = await lab.newUser();
  const marker = `Marker${[...randomBytes(12)].map((byte) => 'abcdefghijklmnop'[byte % 16]).join('')}`;
  const kit = (reference: string) => {
    const input = kitFor(userId, reference);
    const shipping_details = { ...input.order.shipping_details, receiver_name: marker };
    return { ...input, order: { ...input.order, shipping_details } };
  };
  const [reference, another] = [`erased-${randomUUID()}`, `left-${randomUUID()}`];

  const order = await lab.labs.orders.place(kit(reference));
  const orderId = await order.orderId();
  lab.receiver.refuses = ({ id, type }) => id.startsWith(orderId) && type.endsWith('result');
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  const registered = registration(sampleId ?? '');
  await order.register({
    registration: { ...registered, patient_details: { ...registered.patient_details, last_name: marker } },
  });
  for (const status of ['delivered_to_lab', 'completed']) {
    await lab.sandbox.move(orderId, status);
    await lab.sandbox.settleWebhooks();
  }
  expect(await order.result()).toMatchObject({ outcome: 'completed' });
  const source = kitOrderId(orderId);
  const undelivered = async () => (await lab.labs.notifications.state(source)).undelivered;
  await expect.poll(() => undelivered().catch(() => []), patience).toHaveLength(1);
  await lab.labs.notifications.discard(source, { ids: (await undelivered()).map(({ id }) => id) });

  const goesOn = await lab.labs.orders.place(kit(another));
  const openId = await goesOn.orderId();

  const link = await lab.labs.links.start({ userId, provider });
  await link.url();
  await link.cancel();
  await link.result();

  await writeFile(join(lab.reportRoot, `${marker}.pdf`), samplePdf(['labops-sandbox: stuck']));
  const report = await lab.labs.reports.submit({ reference, userId, file: { path: `${marker}.pdf` } });
  const jobId = await report.jobId();
  await lab.sandbox.moveJob(jobId, { status: 'completed', results: 'none' });
  await report.result();

  const ordered = { user_id: userId, lab_test_id: labTestIds.atHomePhlebotomy };
  const { order: visit } = await lab.sandbox.createOrder(ordered);
  const appointment = await lab.labs.appointments.start({ orderId: visit.id });
  const { slots } = await appointment.slots();
  await appointment.choose({ slotId: slots.at(-1)?.id ?? '', notes: marker });
  await appointment.cancel();
  await appointment.result();
  const visited = await lab.labs.orders.getHandle({ orderId: visit.id });
  await visited.cancel();
  await visited.result();

  return {
    ...{ userId, marker, reference, orderId },
    closed: [
      placeKitOrderId(reference),
      kitOrderId(orderId),
      deliverNotificationsId(kitOrderId(orderId)),
      placeKitOrderId(another),
      linkProviderId(userId, provider),
      submitReportId(reference),
      parsingJobId(jobId),
      bookAppointmentId(visit.id),
      kitOrderId(visit.id),
    ].toSorted(),
    open: [kitOrderId(openId)],
  };
}

/** Everything in a message as Temporal sent it; maps come in any order. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).toSorted(([one], [other]) => one.localeCompare(other));
  return entries.map(([name, inner]) => `${name} ${textOf(inner)}`).join('\n');
}

/** Every history that Temporal has, by workflow ID. */
async function dump(): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for await (const { workflowId, runId } of lab.rig.client.workflow.list()) {
    const history = await lab.rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
    texts.set(workflowId, `${texts.get(workflowId) ?? ''}${textOf(history)}`);
  }
  return texts;
}

const naming = (texts: ReadonlyMap<string, string>, ...words: string[]) =>
  [...texts].flatMap(([id, text]) => (words.some((word) => text.includes(word)) ? [id] : [])).toSorted();

test('a final deletion erases what Temporal holds of the user’s ended work, and nothing of anybody else', async () => {
  // Reconciliation looks at nothing later than ten minutes ago.
  const from = new Date(Date.now() - 60 * 60_000);
  await lab.sandbox.setClock(from);
  const [leaving, staying] = [await live(), await live()];
  const all = [...leaving.closed, ...leaving.open].toSorted();
  await expect.poll(async () => naming(await dump(), leaving.userId), patience).toEqual(all);
  const before = await dump();
  // Two placings, the registration, the path of the report and the note of the appointment.
  expect(naming(before, leaving.marker)).toHaveLength(5);

  const policy = { ...resolvePolicy('deletion', { onRunningWork: 'leave' }), grace: 1_000 };
  const deletion = await lab.labs.users.requestDeletion({ userId: leaving.userId, policy });
  const { outcome, histories } = await deletion.result();
  expect(outcome).toBe('deleted');
  expect(histories).toMatchObject({
    left: leaving.open.map((workflowId) => ({ workflowId, name: 'kitOrder', because: 'open' })),
  });
  expect(typeof histories === 'object' && histories.erased.map(({ workflowId }) => workflowId).toSorted()).toEqual(
    leaving.closed,
  );

  await expect
    .poll(async () => naming(await dump(), leaving.userId), patience)
    .toEqual([deleteUserId(leaving.userId), ...leaving.open].toSorted());
  const after = await dump();
  expect(naming(after, leaving.marker)).toEqual([]);
  for (const id of staying.closed) expect(after.get(id), id).toBe(before.get(id));
  await lab.rig.client.workflow.getHandle(leaving.open[0] ?? '').describe();

  const folder = await mkdtemp(join(tmpdir(), 'receipt-'));
  const file = (name: string) => join(folder, name);
  await writeFile(file('public.pem'), key.publicKey.export({ format: 'pem', type: 'spki' }));
  const { stdout: receipt } = await labops(lab, ['users', 'receipt', leaving.userId]);
  await writeFile(file('receipt'), receipt);
  const verified = answer<DeletionReceipt>(
    labops(lab, ['users', 'verify-receipt', file('receipt'), '--key', file('public.pem'), '-o', 'json']),
  );
  expect(await verified).toMatchObject({
    ...{ sub: leaving.userId, erasedHistories: leaving.closed.length },
    found: { labService: { user: 'scheduled' }, database: 'not_kept', temporal: { ended: 0, open: 1 } },
  });
  await rm(folder, { recursive: true });
  // A later request is a run of its own: what the first one left stays known.
  expect(await rejection(lab.labs.users.requestDeletion({ userId: leaving.userId, policy }))).toMatchObject({
    name: 'UserUnknown',
  });
  expect((await labops(lab, ['users', 'receipt', leaving.userId])).stdout).toBe(receipt);

  // The service still lists the orders: reconciliation knows that their ends were known.
  const to = new Date(from.getTime() + 40 * 60_000);
  expect(await lab.labs.orders.reconcile({ from: from.toISOString(), to: to.toISOString() })).toMatchObject({
    reopened: 0,
    passedOver: 0,
  });
  const created = await lab.creations();
  // A repeated reference is recognised there, too.
  const again = await lab.labs.orders.place(kitFor(leaving.userId, leaving.reference));
  expect(await again.orderId()).toBe(leaving.orderId);
  expect(await lab.creations()).toBe(created);
});
