import { ApplicationFailure, sleep } from '@temporalio/workflow';
import type { AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import { refusalOf } from '../command-queue.js';
import { settlingAfter } from '../order/policy.js';
import { arranging, cancellingAppointment, findingSlots } from '../proxies.js';
import { slotOf } from './address.js';
import { forget, note, openAppointment, takeAnswer, wantFrom, type AppointmentCase } from './case.js';
import { ended } from './command-validation.js';
import { isOpen } from './lifecycle.js';
import type { AppointmentCancellation, AppointmentWish, SlotChoice, SlotQuestion, Slots } from './messages.js';
import { look, takeSilence } from './reading.js';
import type { AppointmentAnswer, AppointmentCommand } from './run.js';
import { readAppointmentSnapshot } from './snapshot-reader.js';
import { appointmentStateOf } from './view.js';

/** Carries out one command and answers with what came of it. */
export async function carryOut(kase: AppointmentCase, command: AppointmentCommand): Promise<AppointmentAnswer> {
  if (kase.ending !== undefined) throw ended({ kase });
  if (command.kind !== 'cancel') wantFrom(kase, Date.now());
  switch (command.kind) {
    case 'findSlots':
      return findSlots(kase, command.question);
    case 'chooseSlot':
      await choose(kase, command.choice);
      break;
    case 'requestAppointment':
      await request(kase, command.wish);
      break;
    case 'reschedule':
      await reschedule(kase, command.choice);
      break;
    case 'cancel':
      await cancel(kase, command.cancellation);
      break;
    default:
      return command satisfies never;
  }
  return appointmentStateOf(kase);
}

async function findSlots({ orderId }: AppointmentCase, { startDate }: SlotQuestion): Promise<Slots> {
  const question = { orderId, ...(startDate !== undefined && { startDate }) };
  return findingSlots.findSlots.executeWithOptions({ summary: 'slots near the order’s address' }, [question]);
}

async function choose(kase: AppointmentCase, { slotId, notes }: SlotChoice): Promise<void> {
  await outwaitDoubt(kase);
  const { start } = slotOf(slotId) ?? {};
  const open = openAppointment(kase);
  // A webhook, or the same choice before it, was faster.
  if (open && open.startAt === start) return;
  if (open) throw alreadyThere(open);
  const { orderId, policy } = kase;
  const { bookingTimeout, confirmation, confirmationWait } = policy;
  const wish = { orderId, slotId, ...(notes !== undefined && { notes }), bookingTimeout };
  const waits = confirmation === 'later' ? { confirmWithin: confirmationWait } : {};
  const { bookSlot } = arranging(bookingTimeout);
  await arrange(kase, () => bookSlot.executeWithOptions({ summary: `book ${start}` }, [{ ...wish, ...waits }]));
}

async function request(kase: AppointmentCase, { provider, notes }: AppointmentWish): Promise<void> {
  await outwaitDoubt(kase);
  const open = openAppointment(kase);
  if (open) throw alreadyThere(open);
  const { orderId, policy } = kase;
  const { bookingTimeout } = policy;
  const wish = { orderId, provider, ...(notes !== undefined && { notes }), bookingTimeout };
  const { requestAppointment } = arranging(bookingTimeout);
  const summary = `ask ${provider} for an appointment`;
  await arrange(kase, () => requestAppointment.executeWithOptions({ summary }, [wish]));
}

async function reschedule(kase: AppointmentCase, { slotId, notes }: SlotChoice): Promise<void> {
  await outwaitDoubt(kase);
  const { start } = slotOf(slotId) ?? {};
  const open = openAppointment(kase);
  if (!open) throw nothingBooked();
  if (open.startAt === start) return;
  const { orderId, policy } = kase;
  const { bookingTimeout } = policy;
  const { appointmentId } = open;
  const wish = { orderId, appointmentId, slotId, ...(notes !== undefined && { notes }), bookingTimeout };
  const { rescheduleAppointment } = arranging(bookingTimeout);
  const summary = `move to ${start}`;
  await arrange(kase, () => rescheduleAppointment.executeWithOptions({ summary }, [wish]));
}

/** Failures after which the service may be at work all the same, or have done it. */
const doubtful: readonly string[] = [
  'AnswerLost',
  'AnswerUnreadable',
  'ServiceUnavailable',
  'AttemptOutdated',
  'CommandTimedOut',
];

/** Takes in what a booking or a move came to. Where nobody knows, the service is read once it cannot be at work any more. */
async function arrange(kase: AppointmentCase, call: () => Promise<AppointmentSnapshot>): Promise<void> {
  const asked = kase.heard;
  try {
    const snapshot = readAppointmentSnapshot(await call());
    delete kase.doubtUntil;
    if (snapshot) takeAnswer(kase, snapshot, asked, Date.now());
  } catch (error) {
    const refusal = refusalOf(error);
    if (doubtful.includes(refusal.type ?? '')) {
      kase.doubtUntil = Date.now() + settlingAfter(kase.policy.bookingTimeout);
      note(kase, 'a booking was not answered', Date.now());
    }
    // What the service shows is another one than what is known here.
    if (refusal.type === 'AppointmentExists' || refusal.type === 'NothingBooked') kase.unclear = true;
    throw refusal;
  }
}

/** A booking that may still be under way is not raced by another one: what came of it is read first. */
async function outwaitDoubt(kase: AppointmentCase): Promise<void> {
  if (kase.doubtUntil === undefined) return;
  const left = kase.doubtUntil - Date.now();
  if (left > 0) await sleep(left, { summary: 'an earlier booking may be under way' });
  await lookOrRefuse(kase);
}

async function lookOrRefuse(kase: AppointmentCase): Promise<void> {
  try {
    await look(kase);
  } catch (error) {
    takeSilence(kase, Date.now());
    throw refusalOf(error);
  }
  if (kase.ending !== undefined) throw ended({ kase });
}

async function cancel(kase: AppointmentCase, cancellation: AppointmentCancellation): Promise<void> {
  await outwaitDoubt(kase);
  // One that was made unheard must not be left behind.
  if (!openAppointment(kase)) await lookOrRefuse(kase);
  const open = openAppointment(kase);
  if (!open && cancellation.rebook) throw nothingBooked();
  if (open) await cancelAtService(kase, open.appointmentId, cancellation);
  if (cancellation.rebook) return wantFrom(kase, Date.now());
  kase.wanted = false;
  kase.ending = 'cancelled';
}

async function cancelAtService(
  kase: AppointmentCase,
  appointmentId: string,
  { reasonId, notes }: AppointmentCancellation,
): Promise<void> {
  const { orderId } = kase;
  const asked = kase.heard;
  const before = kase.cancelledId;
  // Its webhook may be faster than the answer, and is no news then.
  kase.cancelledId = appointmentId;
  const wish = {
    ...{ orderId, appointmentId },
    ...(reasonId !== undefined && { reasonId }),
    ...(notes !== undefined && { notes }),
  };
  try {
    const summary = 'cancel the appointment';
    const answer = await cancellingAppointment.cancelAppointment.executeWithOptions({ summary }, [wish]);
    const snapshot = readAppointmentSnapshot(answer);
    if (!snapshot) return await expectNoOther(kase, appointmentId);
    // A deployment may answer with the appointment as it was: that the service took the command counts.
    const cancelled = isOpen(snapshot) ? { ...snapshot, status: 'cancelled' } : snapshot;
    takeAnswer(kase, cancelled, asked, Date.now());
  } catch (error) {
    if (before === undefined) delete kase.cancelledId;
    else kase.cancelledId = before;
    throw refusalOf(error);
  }
}

/** What was to be cancelled is not there. Another one that somebody made meanwhile is for the caller to decide on. */
async function expectNoOther(kase: AppointmentCase, appointmentId: string): Promise<void> {
  if (kase.known?.type === 'patient_service_center') throw keptElsewhere();
  if (kase.known?.appointmentId === appointmentId) forget(kase, Date.now());
  await lookOrRefuse(kase);
  const open = openAppointment(kase);
  if (open) throw alreadyThere(open);
}

function alreadyThere({ startAt }: AppointmentSnapshot): ApplicationFailure {
  const when = startAt === undefined ? 'without a time yet' : `at ${startAt}`;
  const message = `The order has an appointment ${when}: reschedule or cancel it`;
  return ApplicationFailure.nonRetryable(message, 'AppointmentExists', { fields: [] });
}

/** The service shows only appointments at home, so that it is not shown says nothing. */
function keptElsewhere(): ApplicationFailure {
  const message = 'The appointment is at a service centre, of which the service cancels none here: it still stands';
  return ApplicationFailure.nonRetryable(message, 'CancellationRefused', { fields: [] });
}

function nothingBooked(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('The order has no appointment: choose a slot', 'NothingBooked', {
    fields: [],
  });
}
