import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  errors,
  type DeleteUserResult,
  type LinkResult,
  type ParsingJobResult,
  type ReportPolicy,
} from '../../client/index.js';
import { sampleReport } from '../../sandbox/sample-report.js';
import { kitFor, visitFor } from '../../test/rig/cast.js';
import type { Scene, Story } from './product.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/** By the stand-in's conventions (docs/sandbox.md). */
const [rightCode, wrongCode, provider] = ['123456', '111111', 'invented_watch'];

async function linked(scene: Scene, username: string, ...codes: string[]): Promise<LinkResult> {
  const { caller, operations, service, newUser } = scene;
  const start = { userId: await newUser(), provider };
  const handle = await caller.command('start link', async (options) => operations.links.start(start, options));
  const { linkToken } = await caller.read(async (options) => handle.url(options));
  const credentials = { username, password: 'an-invented-password' };
  const report = await service.links.submitPassword(provider, linkToken, credentials);
  await caller.command('report login', async (options) => handle.reportLinkResult(report, options));
  // A person types it until it is certain what came of it.
  for (const code of codes) {
    await caller.until(
      async (options) => handle.submitMfaCode({ code }, options),
      ({ outcome }) => outcome !== 'unknown',
    );
  }
  return caller.read(async (options) => handle.result(options));
}

const reportPolicy: ReportPolicy = {
  ...{ uploadTimeout: '20s', creationTimeout: '5s', lostAnswerWait: '8s' },
  ...{ firstPoll: '5s', longestPoll: '20s' },
};

async function submitted(scene: Scene, outcome: string): Promise<ParsingJobResult> {
  const { caller, operations, reference, reportRoot, newUser } = scene;
  const path = `${reference}.pdf`;
  await writeFile(join(reportRoot, path), sampleReport('pdf', { outcome }));
  const submission = { reference, userId: await newUser(), file: { path }, policy: reportPolicy };
  const handle = await caller.command('submit', async (options) => operations.reports.submit(submission, options));
  return caller.read(async (options) => handle.result(options));
}

/** Far enough away that no reminder of the visit is due within the run. */
const slotIndex = 20;

/** The zip code of a place that no other subject of the stage has. */
function zipOf({ reference, index }: Scene): string {
  return String(60_000 + 2 * index + (reference.startsWith('calm') ? 0 : 1));
}

async function visit(scene: Scene) {
  const { caller, operations, control, reference } = scene;
  const order = visitFor(await scene.newUser());
  const placed = await caller.command('place', async (options) =>
    operations.orders.place(
      {
        kind: 'with_patient',
        reference,
        order: { ...order, patient_address: { ...order.patient_address, zip: zipOf(scene) } },
        policy: { creationTimeout: '5s', creationSettling: '8s' },
      },
      options,
    ),
  );
  const orderId = await caller.read(async (options) => placed.orderId(options));
  const start = { orderId, policy: { bookingTimeout: '6s', firstPoll: '5s', longestPoll: '20s' } } as const;
  const handle = await caller.command('start visit', async (options) => operations.appointments.start(start, options));
  const { slots } = await caller.read(async (options) => handle.slots({}, options));
  const slotId = slots[slotIndex]?.id ?? '';
  await caller.command('choose', async (options) => handle.choose({ slotId }, options));
  await scene.pause();
  await control.moveAppointment(orderId, 'in_progress');
  await scene.pause();
  await control.moveAppointment(orderId, 'completed');
  const appointment = await caller.read(async (options) => handle.result(options));
  await control.move(orderId, { status: 'completed', interpretation: 'normal' });
  return { appointment, order: await caller.read(async (options) => placed.result(options)) };
}

async function deleted(
  { caller, operations, pause, newUser }: Scene,
  policy?: Parameters<typeof operations.users.requestDeletion>[0]['policy'],
  isUndone = false,
): Promise<DeleteUserResult> {
  const request = { userId: await newUser(), ...(policy && { policy }) };
  const handle = await caller.command('delete', async (options) => operations.users.requestDeletion(request, options));
  await pause();
  if (isUndone) await caller.command('undo', async (options) => handle.undo(options));
  return caller.read(async (options) => handle.result(options));
}

/** A user whose kit is on its way is not deleted. */
async function deletionRefused(scene: Scene): Promise<{ outcome: string }> {
  const { caller, operations, control } = scene;
  const userId = await scene.newUser();
  const kit = {
    ...kitFor(userId, scene.reference),
    policy: { creationTimeout: '5s', creationSettling: '8s' },
  } as const;
  const order = await caller.command('place', async (options) => operations.orders.place(kit, options));
  const orderId = await caller.read(async (options) => order.orderId(options));
  await control.move(orderId, 'transit_customer');
  await caller.refused('delete', async (options) => {
    const handle = await operations.users.requestDeletion({ userId }, options);
    // An answer before the work was found says only that it is in progress.
    const { outcome } = await caller.read(async (ends) => handle.result(ends));
    if (outcome === 'running_work') throw new errors.UserHasRunningWork('It was found after the answer.');
  });
  await control.move(orderId, 'cancelled');
  return caller.read(async (options) => order.result(options));
}

export const otherStories: Readonly<Record<string, Story>> = {
  visit: { outcome: 'completed', play: visit },
  link: { outcome: 'connected', play: async (scene) => linked(scene, 'ok') },
  'link with code': { outcome: 'connected', play: async (scene) => linked(scene, 'mfa-sms', rightCode) },
  'link with wrong code': {
    outcome: 'connected',
    play: async (scene) => linked(scene, 'mfa-email', wrongCode, rightCode),
  },
  report: { outcome: 'completed', play: async (scene) => submitted(scene, 'completed') },
  'report without results': { outcome: 'completed', play: async (scene) => submitted(scene, 'no-results') },
  'report failed': { outcome: 'failed', play: async (scene) => submitted(scene, 'failed:low_quality') },
  deletion: {
    outcome: 'deleted',
    play: async (scene) => deleted(scene, { ...resolvePolicy('deletion'), grace: scene.graceMs }),
  },
  'deletion undone': { outcome: 'undone', play: async (scene) => deleted(scene, undefined, true) },
  'deletion refused': { outcome: 'cancelled', play: deletionRefused },
};
