import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { OrderNotFound, UserUnknown, type KitOrderHandle } from '../../client/index.js';
import { ORG_ID } from '../../sandbox/lab-service/organisation.js';
import { TEAM_ID } from '../../sandbox/lab-service/seed.js';
import { bookAppointmentId } from '../../workflows/appointment/address.js';
import { kitOrderId, placeKitOrderId } from '../../workflows/order/address.js';
import { deleteUserId } from '../../workflows/deletion/address.js';
import { labUserIdKey } from '../../workflows/search-attributes.js';
import { parsingJobId, submitReportId } from '../../workflows/report/address.js';
import {
  discardRejectedEventName,
  listRejectedEventsName,
  replayRejectedEventsName,
  type RejectedEventsPage,
} from '../../workflows/rejected-events/messages.js';
import { workoutStreamId } from '../../workflows/workout-stream/address.js';
import { manageWebhooksId } from '../../workflows/webhooks/address.js';
import { manageWebhooksName } from '../../workflows/webhooks/messages.js';
import { kitFor, registration } from '../e2e/invented.js';
import { until, type Stage } from './stage.js';

/** A workflow whose last run is meant, or one of its runs. */
export type Recorded = string | { workflowId: string; runId: string };

/** Plays one story to its end, and answers with the workflows to record, by the names of their files. */
type Story = (stage: Stage) => Promise<Record<string, Recorded>>;

const toCustomer = ['transit_customer', 'with_customer'];
const toResults = ['transit_lab', 'completed'];

export const stories: readonly Story[] = [
  async function registered(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, toCustomer);
    const { kit_sample_id: sampleId } = await stage.sandbox.order(orderId);
    await handle.register(registration(sampleId ?? ''));
    await stage.move(handle, orderId, toResults);
    await handle.result();
    return { placed: placeKitOrderId(handle.reference ?? ''), registered: kitOrderId(orderId) };
  },

  async function replacedAfterLoss(stage) {
    const { handle, orderId } = await stage.place({ onLost: 'replace' });
    await stage.move(handle, orderId, ['transit_customer', 'problem_in_transit_customer', 'lost']);
    const { orderId: replacement } = await until(handle, ({ chain }) => chain.length === 2);
    await stage.move(handle, replacement, [...toCustomer, ...toResults]);
    await handle.result();
    return { 'replaced-after-loss': kitOrderId(orderId) };
  },

  async function redrawn(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'delivered_to_lab', 'sample_error']);
    const { order: redraw } = await stage.sandbox.redraw(orderId);
    await until(handle, ({ chain }) => chain.length === 2);
    await stage.move(handle, redraw.id, [...toCustomer, ...toResults]);
    await handle.result();
    return { redrawn: kitOrderId(orderId) };
  },

  async function forwarded(stage) {
    await stage.sandbox.changeSettings({ transactionInWebhooks: false });
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'delivered_to_lab', 'sample_error']);
    const { order: redraw } = await stage.sandbox.redraw(orderId);
    await until(handle, ({ chain }) => chain.length === 2);
    await stage.move(handle, redraw.id, ['transit_customer', 'completed']);
    await handle.result();
    const forwarder = kitOrderId(redraw.id);
    await stage.temporal.workflow.getHandle(forwarder).result();
    await stage.sandbox.changeSettings({ transactionInWebhooks: true });
    return { forwarder };
  },

  async function cancelled(stage) {
    const { handle, orderId } = await stage.place();
    await handle.cancel();
    await handle.result();
    return { cancelled: kitOrderId(orderId) };
  },

  /** Reminders, a missed limit, more patience, a problem that outlasts its limit, and a replacement by hand. */
  async function overdue(stage) {
    const policy = { registrationReminders: ['1s'], deliveryDeadline: '1s', problemLimit: '1s' } as const;
    const { handle, orderId } = await stage.place({
      ...policy,
      registrationReminders: [...policy.registrationReminders],
    });
    await stage.move(handle, orderId, ['transit_customer']);
    await until(handle, ({ attention }) => attention.some(({ reason }) => reason === 'delivery_overdue'));
    await handle.resolveProblem('wait');
    await stage.move(handle, orderId, ['with_customer']);
    await until(handle, ({ waiting }) => !isWithinSeconds(waiting.until));
    await stage.move(handle, orderId, ['transit_lab', 'problem_in_transit_lab']);
    await until(handle, ({ attention }) => attention.some(({ reason }) => reason === 'problem_persists'));
    const { orderId: replacement } = await handle.replaceKit();
    await stage.move(handle, replacement, ['completed']);
    await handle.result();
    return { overdue: kitOrderId(orderId) };
  },

  async function adopted(stage) {
    const { order } = await stage.sandbox.createOrder();
    const handle = await found(stage, order.id);
    await stage.move(handle, order.id, [...toCustomer, ...toResults]);
    await handle.result();
    return { adopted: kitOrderId(order.id) };
  },

  async function corrected(stage) {
    const { handle, orderId } = await stage.place();
    await stage.move(handle, orderId, ['transit_customer', 'completed']);
    await handle.result();
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(orderId));
    const { runId: first } = await workflow.describe();
    await untilListedAsEnded(stage, orderId);
    await stage.sandbox.move(orderId, 'corrected');
    while ((await workflow.describe()).runId === first) await sleep(50);
    await handle.result();
    return { corrected: kitOrderId(orderId) };
  },

  /** A wrong code, the right one, another question, and the connection. */
  async function linkedWithCodes(stage) {
    const link = await stage.link();
    await link.logsIn('mfa-again');
    await link.handle.submitMfaCode('111111');
    await link.handle.submitMfaCode('123456');
    await link.handle.submitMfaCode('654321');
    await link.handle.result();
    return { 'link-with-codes': link.workflowId };
  },

  /** Logins that fail, a token that is replaced, an unknown state, and a connection that only its webhook tells of. */
  async function linkedByWebhook(stage) {
    const link = await stage.link();
    await link.logsIn('error-provider_credential_error');
    await link.logsIn('error-token_expired');
    await link.logsIn('state-state_of_next_year');
    await stage.sandbox.sendConnectionWebhook(link.handle.userId, { provider: link.handle.provider });
    await link.entersPassword('ok');
    await link.handle.result();
    return { 'link-by-webhook': link.workflowId };
  },

  /** A success that never shows, then a code that nobody gives, with its reminder. */
  async function expiredLink(stage) {
    const link = await stage.link({ confirmationWait: '1s', codeReminder: '1s', codeWait: '3s' });
    await link.handle.reportLinkResult({ state: 'success' });
    await link.shows(({ attention }) => attention.length > 0);
    await link.logsIn('mfa-sms');
    await link.handle.result();
    return { 'link-expired': link.workflowId };
  },

  /** As many wrong codes as are allowed. */
  async function failedLink(stage) {
    const link = await stage.link({ maxCodeAttempts: 2 });
    await link.logsIn('mfa-sms');
    await link.handle.submitMfaCode('111111');
    await link.handle.submitMfaCode('111111');
    await link.handle.result();
    return { 'link-failed': link.workflowId };
  },

  async function cancelledLink(stage) {
    const link = await stage.link();
    await link.logsIn('mfa-sms');
    await link.handle.cancel();
    await link.handle.result();
    return { 'link-cancelled': link.workflowId };
  },

  async function linkCancelledByOperator(stage) {
    const link = await stage.link();
    await link.logsIn('mfa-sms');
    await stage.temporal.workflow.getHandle(link.workflowId).cancel();
    await link.handle.result();
    return { 'link-cancelled-by-operator': link.workflowId };
  },

  /** With running work that is cancelled, a reminder, and the end of the grace. */
  async function userDeleted(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    await stage.sandbox.connect(userId, { provider: 'invented_watch', webhook: false });
    const kit = await stage.labs.orders.place(kitFor(userId, `recorded-${userId}`));
    await kit.orderId();
    await untilListed(stage, `${labUserIdKey.name} = '${userId}' AND WorkflowType = 'kitOrder'`);
    const policy = { onRunningWork: 'cancel', reminderBefore: '1s' } as const;
    const handle = await stage.labs.users.requestDeletion({ userId, graceDays: 3 / 86_400, policy });
    await handle.result();
    return { 'user-deleted': deleteUserId(userId) };
  },

  async function deletionUndone(stage) {
    const { user } = await stage.sandbox.createUser();
    const handle = await stage.labs.users.requestDeletion({ userId: user.user_id });
    await handle.undo();
    await handle.result();
    return { 'deletion-undone': deleteUserId(user.user_id) };
  },

  /** Its first attempts find the service down, and whoever asked goes away. */
  async function deletionDelayed(stage) {
    const { user } = await stage.sandbox.createUser();
    const down = { kind: 'answer', status: 503, headers: { 'retry-after': '60' } } as const;
    await stage.sandbox.addFault({ path: `/v2/user/${user.user_id}`, times: 1, action: down });
    const handle = await stage.labs.users.requestDeletion({ userId: user.user_id, graceDays: 1 / 86_400 });
    await handle.result();
    return { 'deletion-delayed': deleteUserId(user.user_id) };
  },

  /** Its answer is lost, and whoever asked withdraws it. */
  async function deletionWithdrawn(stage) {
    const { user } = await stage.sandbox.createUser();
    const path = `/v2/user/${user.user_id}`;
    await stage.sandbox.addFault({ method: 'DELETE', path, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.labs.users.requestDeletion({ userId: user.user_id });
    await handle.undo();
    await handle.result();
    return { 'deletion-withdrawn': deleteUserId(user.user_id) };
  },

  /** Requested again after its final end. */
  async function deletionFinal(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    await (await stage.labs.users.requestDeletion({ userId, graceDays: 1 / 86_400 })).result();
    await untilListed(stage, `WorkflowId = '${deleteUserId(userId)}' AND ExecutionStatus = 'Completed'`);
    await stage.labs.users.requestDeletion({ userId }).catch((error: unknown) => {
      if (!(error instanceof UserUnknown)) throw error;
    });
    await (await stage.labs.users.deletion(userId)).result();
    return { 'deletion-final': deleteUserId(userId) };
  },

  async function reportReviewed(stage) {
    const handle = await stage.submit();
    const jobId = await handle.jobId();
    for (const status of ['started', 'pending_review']) {
      await stage.sandbox.moveJob(jobId, status);
      await until(handle, (state) => state.status === status);
    }
    await stage.sandbox.moveJob(jobId, { status: 'completed', results: 'sample', is_reviewed: true });
    await handle.result();
    return { 'report-submitted': submitReportId(handle.reference ?? ''), 'report-reviewed': parsingJobId(jobId) };
  },

  /** The answer to the upload is lost, and the job is found by its webhook. */
  async function reportLost(stage) {
    const path = '/lab_report/v1/parser/job';
    await stage.sandbox.addFault({ method: 'POST', path, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.submit({ uploadTimeout: '20s', creationTimeout: '1s', lostAnswerWait: '60s' });
    const jobId = await handle.jobId();
    await stage.sandbox.moveJob(jobId, { status: 'failed', failure_reason: 'low_quality' });
    await handle.result();
    return { 'report-lost': submitReportId(handle.reference ?? ''), 'report-failed': parsingJobId(jobId) };
  },

  /** Nobody tells of the job: it is read, asked about, and no longer followed. */
  async function reportOverdue(stage) {
    const handle = await stage.submit({ firstPoll: '1s', parsingDeadline: '2s' });
    const jobId = await handle.jobId();
    await until(handle, ({ attention }) => attention.some(({ reason }) => reason === 'parsing_overdue'));
    await handle.cancel();
    await handle.result();
    return { 'report-overdue': parsingJobId(jobId) };
  },

  async function reportAdopted(stage) {
    const { id } = await stage.sandbox.createJob({ outcome: 'stuck' });
    await stage.sandbox.moveJob(id, { status: 'completed', results: 'none' });
    const workflow = stage.temporal.workflow.getHandle(parsingJobId(id));
    while ((await workflow.describe().catch(() => undefined)) === undefined) await sleep(50);
    await workflow.result();
    return { 'report-adopted': parsingJobId(id) };
  },

  /** Its stream is not there at first, and another notice comes meanwhile. */
  async function workoutStream(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    const workoutId = randomUUID();
    const path = `/v2/timeseries/workouts/${workoutId}/stream`;
    await stage.sandbox.addFault({
      path,
      times: 1,
      action: { kind: 'answer', status: 404, body: { detail: 'Not found' } },
    });
    for (const _ of [1, 2]) {
      await stage.sandbox.sendHealthData(userId, { kind: 'workout_stream', workout_id: workoutId });
    }
    await stage.sandbox.settleWebhooks();
    const workflowId = workoutStreamId(workoutId);
    await stage.temporal.workflow.getHandle(workflowId).result();
    return { 'workout-stream': workflowId };
  },

  async function workoutStreamRefused(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    const workoutId = randomUUID();
    const path = `/v2/timeseries/workouts/${workoutId}/stream`;
    await stage.sandbox.addFault({ path, times: 1, action: { kind: 'answer', status: 422, body: { detail: 'No' } } });
    await stage.sandbox.sendHealthData(userId, { kind: 'workout_stream', workout_id: workoutId });
    await stage.sandbox.settleWebhooks();
    const workflowId = workoutStreamId(workoutId);
    await stage.temporal.workflow.getHandle(workflowId).result();
    return { 'workout-stream-refused': workflowId };
  },

  async function deletionErasesHealthData(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    await stage.sandbox.sendHealthData(userId, { kind: 'summary' });
    await stage.sandbox.settleWebhooks();
    await (await stage.labs.users.requestDeletion({ userId, graceDays: 1 / 86_400 })).result();
    return { 'deletion-with-health-data': deleteUserId(userId) };
  },

  /** More than one page: what nobody handles is left. */
  async function rejectedEvents(stage) {
    for (let n = 0; n < 60; n += 1) {
      const body = JSON.stringify({ event_type: 'an.invented.event' });
      await stage.store.setAside(
        { eventType: 'an.invented.event', reason: 'not_handled' },
        { id: `recorded-${n}`, body },
      );
    }
    const ids = { list: 'rejected-events/list/recorded', replay: 'rejected-events/replay/recorded' };
    const discard = 'rejected-events/discard/recorded';
    const run = async (name: string, workflowId: string, input: object): Promise<unknown> => {
      const options = { workflowId, taskQueue: 'lab-operations', args: [input] };
      return stage.temporal.workflow.execute(name, options) as Promise<unknown>;
    };
    const { events } = (await run(listRejectedEventsName, ids.list, { limit: 1 })) as RejectedEventsPage;
    await run(replayRejectedEventsName, ids.replay, {});
    await run(discardRejectedEventName, discard, { id: events[0]?.id, reason: 'recorded' });
    return { 'rejected-listed': ids.list, 'rejected-replayed': ids.replay, 'rejected-discarded': discard };
  },

  /** An address is registered, listed, not rotated (nothing is encrypted here) and removed: a run each. */
  async function webhooksManaged(stage) {
    const { webhooks } = stage.labs;
    const place = { orgId: ORG_ID, teamId: TEAM_ID, environment: 'sandbox' };
    const workflowId = manageWebhooksId(place);
    const runs: Record<string, string> = {};
    const remember = async (name: string) => {
      runs[name] = (await stage.temporal.workflow.getHandle(workflowId).describe()).runId;
    };
    const { endpoint } = await webhooks.register(place, { url: 'https://labs.example.com/webhooks' });
    await remember('webhook-registered');
    await webhooks.list(place);
    await remember('webhooks-listed');
    const input = { ...place, command: { do: 'rotate', webhookId: endpoint.id } };
    const rotation = { workflowId, taskQueue: 'lab-operations', args: [input] };
    const refused: unknown = await stage.temporal.workflow
      .execute(manageWebhooksName, rotation)
      .catch((error: unknown) => error);
    if (!(refused instanceof WorkflowFailedError)) throw new Error('The rotation was not refused');
    await remember('webhook-not-rotated');
    await webhooks.delete(place, endpoint.id);
    await remember('webhook-deleted');
    return Object.fromEntries(Object.entries(runs).map(([name, runId]) => [name, { workflowId, runId }]));
  },

  /** Booked, moved, cancelled, asked for once more, and drawn. */
  async function appointmentDrawn(stage) {
    const handle = await stage.visit();
    const { slots } = await handle.slots();
    const [first, second] = slots.map(({ id: slotId }) => ({ slotId }));
    await handle.choose(first ?? { slotId: '' });
    await handle.reschedule(second ?? { slotId: '' });
    await handle.cancel({ rebook: true });
    await handle.request({ provider: 'invented_draws' });
    await stage.sandbox.advanceClock('31m');
    await until(handle, ({ phase }) => phase === 'confirmed');
    await stage.sandbox.moveAppointment(handle.orderId, 'in_progress');
    await stage.sandbox.moveAppointment(handle.orderId, 'completed');
    await handle.result();
    return { 'appointment-drawn': bookAppointmentId(handle.orderId) };
  },

  /** The provider is silent, is read, declines; and then the product wants none any more. */
  async function appointmentDeclined(stage) {
    const handle = await stage.visit({
      confirmation: 'later',
      confirmationWait: '1m',
      firstPoll: '1s',
      choiceWait: '1h',
    });
    const { slots } = await handle.slots();
    await handle.choose({ slotId: slots[2]?.id ?? '' });
    await until(handle, ({ timeline }) => timeline.length > 0);
    await sleep(1_500);
    await stage.sandbox.moveAppointment(handle.orderId, 'cancelled');
    await until(handle, ({ phase }) => phase === 'awaiting_choice');
    await handle.cancel();
    await handle.result();
    return { 'appointment-declined': bookAppointmentId(handle.orderId) };
  },

  /** Made elsewhere, and nobody here chose. */
  async function appointmentAdopted(stage) {
    const wanted = await stage.visit();
    const { slots } = await wanted.slots();
    await wanted.choose({ slotId: slots[4]?.id ?? '' });
    const workflow = stage.temporal.workflow.getHandle(bookAppointmentId(wanted.orderId));
    await workflow.cancel();
    await wanted.result();
    await stage.sandbox.moveAppointment(wanted.orderId, 'in_progress');
    await until(wanted, ({ phase }) => phase === 'in_progress');
    await stage.sandbox.moveAppointment(wanted.orderId, 'completed');
    await wanted.result();
    return { 'appointment-adopted': bookAppointmentId(wanted.orderId) };
  },
];

function isWithinSeconds(until: string | undefined): boolean {
  return until !== undefined && Date.parse(until) < Date.now() + 5_000;
}

async function found(stage: Stage, orderId: string): Promise<KitOrderHandle> {
  for (;;) {
    try {
      return await stage.labs.orders.get({ orderId });
    } catch (error) {
      if (!(error instanceof OrderNotFound)) throw error;
      await sleep(50);
    }
  }
}

/** A later run learns from the list what the earlier one announced; the list lags by moments. */
async function untilListedAsEnded(stage: Stage, orderId: string): Promise<void> {
  await untilListed(stage, `WorkflowId = '${kitOrderId(orderId)}' AND ExecutionStatus = 'Completed'`);
}

async function untilListed({ temporal }: Stage, query: string): Promise<void> {
  while ((await temporal.workflow.count(query)).count === 0) await sleep(50);
}
