import { setTimeout as sleep } from 'node:timers/promises';
import {
  bookAppointmentId,
  matchReviewId,
  deleteUserId,
  deliverNotificationsId,
  kitOrderId,
  parsingJobId,
  submitReportId,
} from '../../../protocol/ids.js';
import { bookingRequestedSignal } from '../../../protocol/appointment/messages.js';
import { reviewRequestedSignal } from '../../../protocol/match-review/messages.js';
import { unmatched } from './match-reviews.js';
import { until, type Stage } from '../stage.js';
import { refused } from './notifications.js';
import type { Story } from './story.js';

export const continued: readonly Story[] = [
  async function orderContinued(stage) {
    const { handle, orderId } = await stage.place();
    const way = ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed'];
    await stage.move(handle, orderId, way);
    await handle.result();
    return { 'order-continued': kitOrderId(orderId) };
  },

  async function reportContinued(stage) {
    const path = '/lab_report/v1/parser/job';
    const busy = { kind: 'answer', status: 429, body: 'busy' } as const;
    await stage.sandbox.addFault({ method: 'POST', path, times: 3, action: busy });
    const handle = await stage.submit();
    const jobId = await handle.jobId();
    for (const status of ['started', 'processing', 'pending_review']) {
      await stage.sandbox.moveJob(jobId, status);
      await until(handle, (state) => state.status === status);
    }
    await stage.sandbox.moveJob(jobId, { status: 'completed', results: 'sample' });
    await handle.result();
    return {
      'submission-continued': submitReportId(handle.reference ?? ''),
      'report-continued': parsingJobId(jobId),
    };
  },

  async function linkContinued(stage) {
    const link = await stage.link();
    for (const why of ['error-provider_credential_error', 'error-token_expired', 'mfa-again']) await link.logIn(why);
    await untilContinued(stage, link.workflowId);
    await link.handle.submitMfaCode({ code: '123456' });
    await link.handle.submitMfaCode({ code: '654321' });
    await link.handle.result();
    return { 'link-continued': link.workflowId };
  },

  async function appointmentContinued(stage) {
    const handle = await stage.visit();
    const { slots } = await handle.slots();
    await handle.choose({ slotId: slots[0]?.id ?? '' });
    const workflowId = bookAppointmentId(handle.orderId);
    for (let n = 0; n < 5; n += 1) {
      await stage.temporal.workflow.getHandle(workflowId).signal(bookingRequestedSignal, {});
      await until(handle, ({ phase }) => phase === 'confirmed');
    }
    await untilContinued(stage, workflowId);
    await stage.sandbox.moveAppointment(handle.orderId, 'in_progress');
    await stage.sandbox.moveAppointment(handle.orderId, 'completed');
    await handle.result();
    return { 'appointment-continued': workflowId };
  },

  async function reviewContinued(stage) {
    const handle = await unmatched(stage);
    const workflowId = matchReviewId(handle.rawResultId);
    for (let n = 0; n < 5; n += 1) {
      await stage.temporal.workflow.getHandle(workflowId).signal(reviewRequestedSignal, {});
      await until(handle, ({ phase }) => phase === 'awaiting_decision');
    }
    await untilContinued(stage, workflowId);
    await handle.accept();
    await handle.result();
    return { 'review-continued': workflowId };
  },

  async function deletionContinued(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    const handle = await stage.labs.users.requestDeletion({ userId });
    for (let n = 0; n < 5; n += 1) await stage.labs.users.requestDeletion({ userId });
    await untilContinued(stage, deleteUserId(userId));
    await handle.undo();
    await handle.result();
    return { 'deletion-continued': deleteUserId(userId) };
  },

  async function notificationsContinued(stage) {
    const { source, ids } = await refused(stage, [
      'transit_customer',
      'with_customer',
      'transit_lab',
      'delivered_to_lab',
    ]);
    await untilContinued(stage, deliverNotificationsId(source));
    await stage.labs.notifications.resend(source, { ids: ids.slice(0, 1) });
    while ((await stage.labs.notifications.state(source)).delivered === 0) await sleep(50);
    await stage.labs.notifications.discard(source, { ids: ids.slice(1) });
    await stage.temporal.workflow.getHandle(deliverNotificationsId(source)).result();
    return { 'notifications-continued': deliverNotificationsId(source) };
  },
];

async function untilContinued({ temporal }: Stage, workflowId: string): Promise<void> {
  const isFirst = async () => {
    const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
    return events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId === '';
  };
  while (await isFirst()) await sleep(50);
}
