import { randomUUID } from 'node:crypto';
import { Client as Database } from 'pg';
import { expect } from 'vitest';
import type { OrderHandle } from '../../client/index.js';
import {
  bookAppointmentId,
  deleteUserId,
  deliverNotificationsId,
  kitOrderId,
  linkProviderId,
  rejectedEventsId,
  webhookEndpointsId,
  matchReviewId,
  parsingJobId,
  placeKitOrderId,
  placingStopId,
  submitReportId,
  workoutStreamId,
} from '../../protocol/ids.js';
import { reconcileOrdersId } from '../../protocol/reconcile.js';
import { operatorCallName } from '../../protocol/operators/operator-calls.js';
import { resumeSignal, stopPlacingName } from '../../protocol/placing-stop.js';
import { fetchWorkoutStreamName } from '../../protocol/workout-stream.js';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { inventedTeamId, labTestIds } from '../../sandbox/lab-service/seed.js';
import type { HealthDataStore } from '../../store/health-data-store.js';
import { kitFor } from '../rig/cast.js';
import { eventually } from '../rig/eventually.js';
import { provider, startLink } from './linked-user.js';
import { patience, type Stack } from './stack.js';

/* A run of every workflow type, all of them under way at once. */

export interface Work {
  workflowType: string;
  workflowId: string;
  /** Brings it to its end, which is the usual one. */
  finish(): Promise<void>;
}

export interface LongWork extends Work {
  /** Something happens that does not end it; returns when the workflow shows it. */
  advance(): Promise<void>;
}

/** The types that go on for days, in the order in which they can end: an order's notifications outlive it. */
export async function startLong(lab: Stack): Promise<LongWork[]> {
  return [
    ...(await startOrder(lab)),
    await startLinking(lab),
    await startReport(lab),
    await startAppointment(lab),
    await startReview(lab),
    await startDeletion(lab),
  ];
}

/** Refuses an order's notifications, so there is a `deliverNotifications` beside it. */
export async function startOrder(lab: Stack): Promise<LongWork[]> {
  const { handle, orderId } = await lab.place();
  const [source, { refuses }] = [kitOrderId(orderId), lab.receiver];
  lab.receiver.refuses = (notification) => notification.id.startsWith(orderId) || refuses(notification);
  await lab.sandbox.move(orderId, 'transit_customer');
  const undelivered = async () => (await lab.labs.notifications.state(source)).undelivered;
  // The one before may be refused, too.
  await expect.poll(() => undelivered().catch(() => []), patience).not.toEqual([]);
  const order: LongWork = {
    workflowType: 'kitOrder',
    workflowId: source,
    advance: async () => {
      await lab.sandbox.move(orderId, 'with_customer');
      await expect.poll(async () => (await handle.state()).phase, patience).toBe('awaiting_registration');
    },
    finish: async () => {
      await lab.sandbox.move(orderId, 'delivered_to_lab');
      // Its webhook would start another run if it came after the end.
      await lab.sandbox.settleWebhooks();
      await lab.sandbox.move(orderId, 'completed');
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    },
  };
  const notifications: LongWork = {
    workflowType: 'deliverNotifications',
    workflowId: deliverNotificationsId(source),
    advance: async () => {
      const before = lab.receiver.refused.length;
      await lab.labs.notifications.resend(source);
      await expect.poll(() => lab.receiver.refused.length, patience).toBeGreaterThan(before);
    },
    finish: async () => {
      lab.receiver.refuses = refuses;
      await lab.labs.notifications.resend(source);
      expect(await resultOf(lab, deliverNotificationsId(source))).toMatchObject({ source, discarded: 0, givenUp: [] });
    },
  };
  return [order, notifications];
}

async function startLinking(lab: Stack): Promise<LongWork> {
  const link = await startLink(lab);
  return {
    workflowType: 'linkProvider',
    workflowId: linkProviderId(link.userId, provider),
    advance: async () => {
      await link.logIn('mfa-sms');
      await link.expectState({ phase: 'awaiting_code' });
    },
    finish: async () => {
      await link.handle.cancel();
      expect(await link.handle.result()).toMatchObject({ outcome: 'cancelled' });
    },
  };
}

async function startReport(lab: Stack): Promise<LongWork> {
  const handle = await submit(lab, randomUUID());
  const jobId = await handle.jobId();
  return {
    workflowType: 'parsingJob',
    workflowId: parsingJobId(jobId),
    advance: async () => {
      await lab.sandbox.moveJob(jobId, 'pending_review');
      await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_review');
    },
    finish: async () => {
      await lab.sandbox.moveJob(jobId, { status: 'completed', results: 'none' });
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    },
  };
}

async function startAppointment(lab: Stack): Promise<LongWork> {
  const { order } = await lab.sandbox.createOrder({ lab_test_id: labTestIds.atHomePhlebotomy });
  const handle = await lab.labs.appointments.start({ orderId: order.id });
  return {
    workflowType: 'bookAppointment',
    workflowId: bookAppointmentId(order.id),
    advance: async () => {
      const { slots } = await handle.slots();
      expect(await handle.choose({ slotId: slots.at(-1)?.id ?? '' })).toMatchObject({ phase: 'confirmed' });
    },
    finish: async () => {
      await handle.cancel();
      expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
      // Its webhook has started a workflow of the order.
      await cancelled(await lab.labs.orders.getHandle({ orderId: order.id }));
    },
  };
}

async function startReview(lab: Stack): Promise<LongWork> {
  const { id: rawResultId } = await lab.sandbox.createMatchReview();
  const handle = await eventually(() => lab.labs.matchReviews.getHandle({ rawResultId }));
  const expectPhase = async (phase: string) => {
    await expect.poll(async () => (await handle.state()).phase, patience).toBe(phase);
  };
  await expectPhase('awaiting_decision');
  return {
    workflowType: 'matchReview',
    workflowId: matchReviewId(rawResultId),
    advance: async () => {
      await lab.sandbox.moveMatchReview(rawResultId, 'second_opinion');
      await expectPhase('unknown');
    },
    finish: async () => {
      await lab.sandbox.moveMatchReview(rawResultId, 'pending_customer_review');
      await expectPhase('awaiting_decision');
      await handle.reject();
      expect(await handle.result()).toMatchObject({ outcome: 'rejected' });
    },
  };
}

async function startDeletion(lab: Stack): Promise<LongWork> {
  const userId = await lab.newUser();
  const handle = await lab.labs.users.requestDeletion({ userId });
  return {
    workflowType: 'deleteUser',
    workflowId: deleteUserId(userId),
    advance: async () => {
      const again = await lab.labs.users.requestDeletion({ userId });
      expect(await again.state()).toMatchObject({ phase: 'grace' });
    },
    finish: async () => {
      await handle.undo();
      expect(await handle.result()).toMatchObject({ outcome: 'undone' });
    },
  };
}

/** Of another task queue: nothing else that is under way here must wait for it. */
async function startStop(lab: Stack): Promise<Work> {
  const workflowId = placingStopId(`${lab.rig.taskQueue}-other`);
  const options = { workflowId, taskQueue: lab.rig.taskQueue, args: [{ reason: 'invented' }] };
  const handle = await lab.rig.client.workflow.start(stopPlacingName, options);
  return {
    workflowType: stopPlacingName,
    workflowId,
    finish: async () => {
      await handle.signal(resumeSignal, {});
      expect(await handle.result()).toMatchObject({ reason: 'invented' });
    },
  };
}

const place = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };

/**
 * The types that end with the answer that they wait for. Until `release`, the service wants no more requests and a table of the store is
 * locked.
 *
 * @param store the worker's
 */
export async function startShort(
  lab: Stack,
  store: HealthDataStore,
  { databaseUrl }: { databaseUrl: string },
): Promise<{ work: Work[]; release(): Promise<void> }> {
  const rejected = { eventType: 'an.invented.event', reason: 'not_handled' };
  await store.setAside(rejected, { id: randomUUID(), body: JSON.stringify({ event_type: rejected.eventType }) });
  const events = await lockEvents(databaseUrl);
  await lab.sandbox.addFault({ path: '/**', action: { kind: 'answer', status: 429, headers: { 'retry-after': '1' } } });
  const withHandles = [await startPlacing(lab), await startSubmission(lab), await startStop(lab)];
  const work = [...withHandles, ...startWithoutHandles(lab, events.latestId)];
  return {
    work,
    release: async () => {
      await lab.sandbox.removeFaults();
      await events.unlock();
    },
  };
}

async function lockEvents(databaseUrl: string): Promise<{ latestId: string; unlock(): Promise<void> }> {
  const database = new Database({ connectionString: databaseUrl });
  await database.connect();
  await database.query('begin; lock table health_data.rejected_events in access exclusive mode');
  const { rows } = await database.query<{ id: string }>('select max(id)::text as id from health_data.rejected_events');
  return { latestId: rows[0]?.id ?? '', unlock: () => database.end() };
}

async function startPlacing(lab: Stack): Promise<Work> {
  const reference = `placed-${randomUUID()}`;
  const quick = { creationTimeout: '1s', creationSettling: '1s' } as const;
  const handle = await lab.labs.orders.place(kitFor(await lab.newUser(), reference, quick));
  return {
    workflowType: 'placeKitOrder',
    workflowId: placeKitOrderId(reference),
    finish: async () => {
      await handle.orderId();
      await cancelled(handle);
    },
  };
}

async function cancelled(handle: OrderHandle): Promise<void> {
  await handle.cancel();
  expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
}

async function startSubmission(lab: Stack): Promise<Work> {
  const reference = randomUUID();
  const handle = await submit(lab, reference);
  return {
    workflowType: 'submitReport',
    workflowId: submitReportId(reference),
    finish: async () => {
      await handle.jobId();
      await handle.cancel();
    },
  };
}

async function submit(lab: Stack, reference: string) {
  return lab.labs.reports.submit({ reference, userId: await lab.newUser(), file: { path: 'report.pdf' } });
}

type Caller = [workflowType: string, workflowId: string, call: (workflowId: string) => Promise<unknown>];

/** Their callers wait for the result and need no handle. */
function startWithoutHandles(lab: Stack, eventId: string): Work[] {
  const range = { from: '2026-01-01', to: '2026-01-02' };
  const workoutId = randomUUID();
  const onRejected = (call: object): Caller => [
    operatorCallName,
    rejectedEventsId(randomUUID()),
    (id) => run(lab, operatorCallName, id, call),
  ];
  const callers: Caller[] = [
    [operatorCallName, webhookEndpointsId(place), () => lab.labs.webhooks.readAll(place)],
    ['reconcileOrders', reconcileOrdersId(lab.rig.taskQueue, range), () => lab.labs.orders.reconcile(range)],
    [
      fetchWorkoutStreamName,
      workoutStreamId(workoutId),
      async (id) => run(lab, fetchWorkoutStreamName, id, { userId: await lab.newUser(), workoutId }),
    ],
    onRejected({ do: 'listRejectedEvents' }),
    onRejected({ do: 'replayRejectedEvents', eventType: 'none.of.these' }),
    onRejected({ do: 'discardRejectedEvent', id: eventId, reason: 'no longer of use' }),
  ];
  return callers.map(([workflowType, workflowId, call]) => {
    const answer = call(workflowId).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    return { workflowType, workflowId, finish: async () => expect(await answer).toBeUndefined() };
  });
}

async function run(lab: Stack, name: string, workflowId: string, input: object): Promise<unknown> {
  const options = { workflowId, taskQueue: lab.rig.taskQueue, args: [input] };
  return lab.rig.client.workflow.execute(name, options) as Promise<unknown>;
}

function resultOf(lab: Stack, workflowId: string): Promise<unknown> {
  return lab.rig.client.workflow.getHandle(workflowId).result() as Promise<unknown>;
}
