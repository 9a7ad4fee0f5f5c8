import {
  bookAppointmentId,
  deleteUserId,
  kitOrderId,
  matchReviewId,
  parsingJobId,
  placeKitOrderId,
  placingStopId,
  submitReportId,
} from '../../../protocol/ids.js';
import { labTestIds } from '../../../sandbox/lab-service/seed.js';
import { unmatched } from './match-reviews.js';
import { kitFor, registration } from '../../rig/cast.js';
import { following } from '../../rig/followed.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { OrderHandle } from '../../../client/index.js';
import { until, type Stage } from '../stage.js';
import type { Story } from './story.js';

/*
 * Every deadline of the default policies is met once, in skipped time: replayed with other defaults, these histories show
 * that no default is workflow code. Settings are given only to keep a history short.
 */

interface Attentive {
  state(): Promise<{ attention: readonly { reason: string }[] }>;
}

async function untilAsked(handle: Attentive, asked: string): Promise<void> {
  await until(handle, ({ attention }) => attention.some(({ reason }) => reason === asked));
}

async function untilNothingAsked(handle: Attentive): Promise<void> {
  await until(handle, ({ attention }) => attention.length === 0);
}

/** The order once its first webhook has started its workflow: this server has no list to find it in. */
async function followedOf({ temporal, labs }: Stage, orderId: string): Promise<OrderHandle> {
  for (;;) {
    try {
      await temporal.workflow.getHandle(kitOrderId(orderId)).describe();
      return await labs.orders.getHandle({ orderId });
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await sleep(50);
    }
  }
}

/** A kit at a lab that names a date for its results so many days after their sample, or none. */
async function atLab(stage: Stage, resultDates: number | false): Promise<OrderHandle> {
  await stage.sandbox.changeSettings({ resultDates });
  const { order } = await stage.sandbox.createOrder();
  const kit = await followedOf(stage, order.id);
  await stage.move(kit, order.id, ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab']);
  return kit;
}

export const deadlines: readonly Story[] = [
  /** An order that waits for the end of a stop. The worker may remember for 15 seconds that there was none, or that there was one. */
  async function placingStopped(stage) {
    const { user } = await stage.sandbox.createUser();
    await stage.labs.placing.stop({ reason: 'recalled test' });
    await sleep(16_000);
    const handle = await stage.labs.orders.place(kitFor(user.user_id, `recorded-${user.user_id}`));
    await untilAsked(handle, 'placing_delayed');
    await stage.skip('15m');
    await stage.labs.placing.resume();
    await sleep(16_000);
    await stage.skip('15m');
    const orderId = await handle.orderId();
    await stage.temporal.workflow.getHandle(placeKitOrderId(handle.reference ?? '')).result();
    await (await followedOf(stage, orderId)).cancel();
    return {
      'placing-stopped': placeKitOrderId(handle.reference ?? ''),
      'stop-resumed': placingStopId('lab-operations'),
    };
  },

  /** A kit that is late at every step, followed from its first webhook: nobody gave a policy. */
  async function lateKit(stage) {
    const { order } = await stage.sandbox.createOrder();
    const kit = await followedOf(stage, order.id);
    const handle = following(kit);
    await stage.skip('5d');
    await untilAsked(handle, 'shipping_overdue');
    await stage.skip('1d');
    await stage.move(kit, order.id, ['transit_customer']);
    await stage.skip('10d');
    await untilAsked(handle, 'delivery_overdue');
    await stage.move(kit, order.id, ['with_customer']);
    await untilNothingAsked(handle);
    for (const span of ['3d', '7d', '20d', '44d'] as const) await stage.skip(span);
    await untilAsked(handle, 'registration_overdue');
    const { kit_sample_id: sampleId } = await stage.sandbox.order(order.id);
    await kit.register({ registration: registration(sampleId ?? '', order.user_id) });
    await untilNothingAsked(handle);
    for (const span of ['2d', '5d', '7d'] as const) await stage.skip(span);
    await untilAsked(handle, 'return_overdue');
    await stage.move(kit, order.id, ['transit_lab']);
    await stage.skip('10d');
    await untilAsked(handle, 'transit_to_lab_overdue');
    await stage.move(kit, order.id, ['problem_in_transit_lab']);
    await stage.skip('7d');
    await untilAsked(handle, 'problem_persists');
    await stage.move(kit, order.id, ['delivered_to_lab']);
    await stage.skip('14d');
    await untilAsked(handle, 'results_overdue');
    await stage.move(kit, order.id, ['completed']);
    await kit.result();
    return { 'deadlines-late-kit': kitOrderId(order.id) };
  },

  /** One order whose service names no date for the results, and one whose date is half a year away. */
  async function lateResults(stage) {
    const undated = await atLab(stage, false);
    await stage.skip('14d');
    await untilAsked(following(undated), 'results_overdue');
    const far = await atLab(stage, 180);
    for (const span of ['30d', '31d'] as const) await stage.skip(span);
    await untilAsked(following(far), 'results_overdue');
    await stage.sandbox.changeSettings({ resultDates: true });
    const ids: Record<string, string> = {};
    for (const [name, kit] of Object.entries({ 'deadlines-late-results': undated, 'deadlines-far-date': far })) {
      const orderId = await kit.orderId();
      await stage.move(kit, orderId, ['completed']);
      await kit.result();
      ids[name] = kitOrderId(orderId);
    }
    return ids;
  },

  /** The receiver is down for longer than notifications are tried. */
  async function undelivered(stage) {
    stage.receiver.isDown = true;
    const { order } = await stage.sandbox.createOrder();
    const kit = await followedOf(stage, order.id);
    const handle = following(kit);
    await stage.skip('3d');
    await untilAsked(handle, 'notifications_undelivered');
    stage.receiver.isDown = false;
    // The worker pauses its calls of a receiver that is down for a moment of real time.
    while ((await handle.state()).attention.length > 0) {
      await sleep(1_000);
      await stage.skip('5m');
    }
    await kit.cancel();
    await kit.result();
    return { 'deadlines-undelivered': kitOrderId(order.id) };
  },

  async function kitGivenUp(stage) {
    const { handle, orderId } = await stage.place({ recheckEvery: '25d' });
    await stage.skip('5d');
    await untilAsked(following(handle), 'shipping_overdue');
    await stage.skip('60d');
    await handle.result();
    return { 'deadlines-kit-given-up': kitOrderId(orderId) };
  },

  /** Nobody redraws, and nobody decides. */
  async function undecidedKit(stage) {
    const { order } = await stage.sandbox.createOrder();
    const kit = await followedOf(stage, order.id);
    await stage.move(kit, order.id, ['transit_customer', 'delivered_to_lab', 'sample_error']);
    await stage.skip('1d');
    await untilAsked(following(kit), 'decision_needed');
    await stage.skip('30d');
    await kit.result();
    return { 'deadlines-undecided-kit': kitOrderId(order.id) };
  },

  /** An order that is not a kit waits for its sample. */
  async function uncollectedSample(stage) {
    const appointment = await stage.visit();
    const order = await followedOf(stage, appointment.orderId);
    await stage.skip('90d');
    await untilAsked(following(order), 'collection_overdue');
    await order.resolveProblem({ orderId: appointment.orderId, decision: 'abandon' });
    await order.result();
    return {
      'deadlines-uncollected-sample': kitOrderId(appointment.orderId),
      'deadlines-appointment-not-chosen': bookAppointmentId(appointment.orderId),
    };
  },

  async function unacknowledgedResult(stage) {
    const { order } = await stage.sandbox.createOrder();
    const orderId = order.id;
    const kit = await followedOf(stage, orderId);
    await stage.move(kit, orderId, ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab']);
    await stage.sandbox.reportCritical(orderId, { status: 'partial', interpretation: 'normal' });
    await untilAsked(following(kit), 'critical_result');
    await stage.skip('1h');
    await stage.skip('1h');
    await until(following(kit), ({ criticalResult }) => criticalResult?.reminders === 2);
    await kit.acknowledgeCriticalResult({ orderId, by: 'nurse-17', outcome: 'confirmed' });
    await stage.move(kit, orderId, ['completed']);
    await kit.result();
    return { 'deadlines-unacknowledged-result': kitOrderId(orderId) };
  },

  /** A token that ends, and a user who does not come back. */
  async function linkWithoutLogin(stage) {
    const link = await stage.link();
    await link.handle.url();
    await stage.skip('10m');
    await link.handle.url();
    await stage.skip('1d');
    await link.handle.result();
    return { 'deadlines-link-without-login': link.workflowId };
  },

  /** A success that the service does not show, wrong codes, and a code that does not come. */
  async function linkWithoutCode(stage) {
    const link = await stage.link();
    await link.handle.url();
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.skip('2m');
    await untilAsked(link.handle, 'connection_unconfirmed');
    await link.logIn('mfa-sms');
    await stage.skip('5m');
    await stage.skip('55m');
    await link.handle.result();
    return { 'deadlines-link-without-code': link.workflowId };
  },

  async function linkInVain(stage) {
    const link = await stage.link();
    for (let day = 0; day < 3; day += 1) {
      await link.handle.url();
      await link.handle.reportLinkResult({ state: 'error', errorType: 'provider_credential_error' });
      await link.handle.url();
      await stage.skip('23h');
    }
    await link.handle.url();
    await stage.skip('3h');
    await link.handle.result();
    return { 'deadlines-link-in-vain': link.workflowId };
  },

  async function linkWithWrongCodes(stage) {
    const link = await stage.link();
    await link.logIn('mfa-sms');
    for (let attempt = 0; attempt < 2; attempt += 1) await link.handle.submitMfaCode({ code: '111111' });
    await link.handle.submitMfaCode({ code: '111111' }).catch(() => undefined);
    await link.handle.result();
    return { 'deadlines-link-with-wrong-codes': link.workflowId };
  },

  async function linkWithWrongPasswords(stage) {
    const link = await stage.link();
    await link.handle.url();
    const wrong = { state: 'error', errorType: 'provider_credential_error' };
    for (let attempt = 0; attempt < 5; attempt += 1) await link.handle.reportLinkResult(wrong);
    await link.handle.result();
    return { 'deadlines-link-with-wrong-passwords': link.workflowId };
  },

  /** The answer to the upload is lost, and so is its job; the second one is late, and reviewed late. */
  async function lateReport(stage) {
    const path = '/lab_report/v1/parser/job';
    await stage.sandbox.addFault({ method: 'POST', path, times: 1, action: { kind: 'answer', status: 504 } });
    const handle = await stage.submit();
    await stage.skip('45s');
    await stage.skip('2m');
    const jobId = await handle.jobId();
    await stage.skip('1h');
    await untilAsked(handle, 'parsing_overdue');
    await stage.sandbox.moveJob(jobId, 'pending_review');
    await until(handle, ({ status }) => status === 'pending_review');
    await stage.skip('4d');
    await untilAsked(handle, 'review_overdue');
    await stage.sandbox.moveJob(jobId, { status: 'completed', results: 'sample' });
    await handle.result();
    return {
      'deadlines-late-upload': submitReportId(handle.reference ?? ''),
      'deadlines-late-report': parsingJobId(jobId),
    };
  },

  async function reportGivenUp(stage) {
    const handle = await stage.submit({ firstPoll: '5d', longestPoll: '10d' });
    const jobId = await handle.jobId();
    await stage.skip('1h');
    await stage.skip('15d');
    await handle.result();
    return { 'deadlines-report-given-up': parsingJobId(jobId) };
  },

  /** The service asks for a day of patience each time. */
  async function reportNotTaken(stage) {
    const path = '/lab_report/v1/parser/job';
    const busy = { kind: 'answer', status: 429, body: 'busy', headers: { 'retry-after': '86400' } } as const;
    const id = await stage.sandbox.addFault({ method: 'POST', path, action: busy });
    const handle = await stage.submit();
    const workflowId = submitReportId(handle.reference ?? '');
    await stage.skip('8d');
    await stage.temporal.workflow
      .getHandle(workflowId)
      .result()
      .catch(() => undefined);
    await stage.sandbox.removeFaults(id);
    return { 'deadlines-report-not-taken': workflowId };
  },

  /** A late choice, and a visit that nobody reports. */
  async function lateVisit(stage) {
    const handle = await stage.visit();
    await handle.slots();
    await stage.skip('1d');
    await stage.skip('2d');
    const { slots } = await handle.slots();
    await handle.choose({ slotId: slots.at(-1)?.id ?? '' });
    await until(handle, ({ phase }) => phase === 'confirmed');
    await stage.skip('16d');
    await untilAsked(handle, 'visit_overdue');
    await stage.sandbox.moveAppointment(handle.orderId, 'in_progress');
    await stage.sandbox.moveAppointment(handle.orderId, 'completed');
    await handle.result();
    return { 'deadlines-late-visit': bookAppointmentId(handle.orderId) };
  },

  async function visitGivenUp(stage) {
    const handle = await stage.visit({ firstPoll: '10d', longestPoll: '20d' });
    const { slots } = await handle.slots();
    await handle.choose({ slotId: slots[0]?.id ?? '' });
    await until(handle, ({ phase }) => phase === 'confirmed');
    await stage.skip('30d');
    await handle.result();
    return { 'deadlines-visit-given-up': bookAppointmentId(handle.orderId) };
  },

  /** At a service centre: the answer to the booking is lost, and the order's results are late. */
  async function lateWalkIn(stage) {
    const path = '/v3/order/*/psc/appointment/book';
    const handle = await stage.visit({}, labTestIds.walkIn);
    const { slots } = await handle.slots({ zipCode: '62704' });
    const fault = { kind: 'answer', status: 504, phase: 'after_work' } as const;
    await stage.sandbox.addFault({ method: 'POST', path, times: 1, action: fault });
    const chosen = handle.choose({ slotId: slots[0]?.id ?? '' });
    for (const span of ['45s', '2m'] as const) await stage.skip(span);
    await chosen;
    await stage.skip('12h');
    await until(handle, ({ phase }) => phase === 'confirmed');
    for (const span of ['10d', '10d'] as const) await stage.skip(span);
    await untilAsked(handle, 'visit_overdue');
    await stage.sandbox.moveAppointment(handle.orderId, 'in_progress');
    await stage.sandbox.moveAppointment(handle.orderId, 'completed');
    await handle.result();
    return { 'deadlines-late-walk-in': bookAppointmentId(handle.orderId) };
  },

  /** The provider does not answer, and the appointment is not chosen again. */
  async function unconfirmedVisit(stage) {
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'never' });
    const handle = await stage.visit({ confirmation: 'later', firstPoll: '1d' });
    const { slots } = await handle.slots();
    await handle.choose({ slotId: slots.at(-1)?.id ?? '' });
    await stage.skip('2d');
    await stage.skip('1d');
    await stage.skip('15d');
    await handle.result();
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'confirm' });
    return { 'deadlines-unconfirmed-visit': bookAppointmentId(handle.orderId) };
  },

  /** A person is reminded and unsure, and the service’s staff take their time. */
  async function lateReview(stage) {
    const handle = await unmatched(stage);
    await stage.skip('1d');
    await stage.skip('2d');
    await handle.markUnsure();
    await stage.skip('7d');
    await untilAsked(handle, 'service_review_overdue');
    await stage.sandbox.moveMatchReview(handle.rawResultId, 'matched');
    await handle.result();
    return { 'deadlines-late-review': matchReviewId(handle.rawResultId) };
  },

  async function userReminded(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    const handle = await stage.labs.users.requestDeletion({ userId });
    await stage.skip('6d');
    await stage.skip('1d');
    await handle.result();
    return { 'deadlines-user-deleted': deleteUserId(userId) };
  },
];
