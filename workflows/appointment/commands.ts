import { type ApplicationFailure, sleep } from '@temporalio/workflow';
import { isOpen, whyNobodyComes } from '../../protocol/appointment/lifecycle.js';
import type {
  AppointmentCancellation,
  AppointmentRequest,
  SlotChoice,
  SlotQuestion,
  Slots,
} from '../../protocol/appointment/messages.js';
import { slotOf } from '../../protocol/appointment/slots.js';
import { settlingAfter } from '../../protocol/settling.js';
import type { AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import { activities, booking } from '../activities.js';
import { notKnownYet, refusalOf, refuse, refuseField } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import { second } from '../entity/spans.js';
import { forget, openVisit, takeAnswer, markRequested, type Appointment, currentPhase } from './appointment.js';
import { readOrThrow, takeSilence, readAppointmentSnapshot } from './reading.js';
import { appointmentStateOf } from './view.js';
import type { AppointmentAnswer, AppointmentCommand, AppointmentRun } from './workflow.js';

/** Carries out one command and answers with what came of it. */
export async function carryOut(appointment: Appointment, command: AppointmentCommand): Promise<AppointmentAnswer> {
  if (appointment.ending !== undefined) throw ended({ appointment });
  if (command.kind !== 'cancel') markRequested(appointment, Date.now());
  switch (command.kind) {
    case 'findSlots':
      return findSlots(appointment, command.question);
    case 'chooseSlot':
      await choose(appointment, command.choice);
      break;
    case 'requestAppointment':
      await askProvider(appointment, command.request);
      break;
    case 'reschedule':
      await reschedule(appointment, command.choice);
      break;
    case 'cancel':
      await cancel(appointment, command.cancellation);
      break;
    default:
      return command satisfies never;
  }
  return appointmentStateOf(appointment);
}

async function findSlots({ orderId }: Appointment, { startDate }: SlotQuestion): Promise<Slots> {
  const question = { orderId, ...(startDate !== undefined && { startDate }) };
  return activities.findSlots.executeWithOptions({ summary: 'slots near the order’s address' }, [question]);
}

async function choose(appointment: Appointment, { slotId, notes }: SlotChoice): Promise<void> {
  await outwaitDoubt(appointment);
  const { start } = slotOf(slotId) ?? {};
  const open = openVisit(appointment);
  // A webhook, or the same choice before it, was faster.
  if (open && open.startAt === start) return;
  if (open) throw alreadyThere(open);
  const { orderId, policy } = appointment;
  const { bookingTimeout, confirmation, confirmationWait } = policy;
  const call = { orderId, slotId, ...(notes !== undefined && { notes }), bookingTimeout };
  const waits = confirmation === 'later' ? { confirmWithin: confirmationWait } : {};
  await arrange(appointment, () =>
    activities.bookSlot.executeWithOptions({ ...booking(bookingTimeout), summary: `book ${start}` }, [
      { ...call, ...waits },
    ]),
  );
}

async function askProvider(appointment: Appointment, { provider, notes }: AppointmentRequest): Promise<void> {
  await outwaitDoubt(appointment);
  const open = openVisit(appointment);
  if (open) throw alreadyThere(open);
  const { orderId, policy } = appointment;
  const { bookingTimeout } = policy;
  const call = { orderId, provider, ...(notes !== undefined && { notes }), bookingTimeout };
  const summary = `ask ${provider} for an appointment`;
  await arrange(appointment, () =>
    activities.requestAppointment.executeWithOptions({ ...booking(bookingTimeout), summary }, [call]),
  );
}

async function reschedule(appointment: Appointment, { slotId, notes }: SlotChoice): Promise<void> {
  await outwaitDoubt(appointment);
  const { start } = slotOf(slotId) ?? {};
  const open = openVisit(appointment);
  if (!open) throw nothingBooked();
  if (open.startAt === start) return;
  const { orderId, policy } = appointment;
  const { bookingTimeout } = policy;
  const { appointmentId } = open;
  const call = { orderId, appointmentId, slotId, ...(notes !== undefined && { notes }), bookingTimeout };
  const summary = `move to ${start}`;
  await arrange(appointment, () =>
    activities.rescheduleAppointment.executeWithOptions({ ...booking(bookingTimeout), summary }, [call]),
  );
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
async function arrange(appointment: Appointment, call: () => Promise<AppointmentSnapshot>): Promise<void> {
  const asked = appointment.received;
  try {
    const snapshot = readAppointmentSnapshot(await call());
    delete appointment.doubtUntil;
    if (snapshot) takeAnswer(appointment, snapshot, asked, Date.now());
  } catch (error) {
    const refusal = refusalOf(error);
    if (doubtful.includes(refusal.type ?? '')) {
      appointment.doubtUntil = Date.now() + settlingAfter(appointment.policy.bookingTimeout);
      note(appointment, 'a booking was not answered', Date.now());
    }
    // What the service shows is another one than what is known here.
    if (refusal.type === 'AppointmentExists' || refusal.type === 'NothingBooked') appointment.unclear = true;
    throw refusal;
  }
}

/** The alarm is set for the end of a doubt, too: timers of one moment may end in two tasks, and the second would come late. */
const afterAlarm = second;

/** A booking that may still be under way is not raced by another one: what came of it is read first. */
async function outwaitDoubt(appointment: Appointment): Promise<void> {
  if (appointment.doubtUntil === undefined) return;
  const left = appointment.doubtUntil - Date.now();
  if (left > 0) await sleep(left + afterAlarm, { summary: 'an earlier booking may be under way' });
  await readOrRefuse(appointment);
}

async function readOrRefuse(appointment: Appointment): Promise<void> {
  try {
    await readOrThrow(appointment);
  } catch (error) {
    takeSilence(appointment, Date.now());
    throw refusalOf(error);
  }
  if (appointment.ending !== undefined) throw ended({ appointment });
  if (appointment.unanswered) throw notKnownYet();
}

async function cancel(appointment: Appointment, cancellation: AppointmentCancellation): Promise<void> {
  await outwaitDoubt(appointment);
  // One that was made without a report must not be left behind.
  if (!openVisit(appointment)) await readOrRefuse(appointment);
  const open = openVisit(appointment);
  if (!open && cancellation.rebook) throw nothingBooked();
  if (open) await cancelAtService(appointment, open.appointmentId, cancellation);
  if (cancellation.rebook) return markRequested(appointment, Date.now());
  appointment.requested = false;
  appointment.ending = 'cancelled';
}

async function cancelAtService(
  appointment: Appointment,
  appointmentId: string,
  { reasonId, notes }: AppointmentCancellation,
): Promise<void> {
  const { orderId } = appointment;
  const asked = appointment.received;
  const before = appointment.cancelledId;
  // Its webhook may be faster than the answer, and is not news then.
  appointment.cancelledId = appointmentId;
  const call = {
    ...{ orderId, appointmentId },
    ...(reasonId !== undefined && { reasonId }),
    ...(notes !== undefined && { notes }),
  };
  try {
    const summary = 'cancel the appointment';
    const answer = await activities.cancelAppointment.executeWithOptions({ summary }, [call]);
    const snapshot = readAppointmentSnapshot(answer);
    if (!snapshot) return await expectNoOther(appointment, appointmentId);
    // A deployment may answer with the appointment as it was: that the service took the command counts.
    const cancelled = isOpen(snapshot) ? { ...snapshot, status: 'cancelled' } : snapshot;
    takeAnswer(appointment, cancelled, asked, Date.now());
  } catch (error) {
    if (before === undefined) delete appointment.cancelledId;
    else appointment.cancelledId = before;
    throw refusalOf(error);
  }
}

/** What was to be cancelled is not there. Another one that somebody made meanwhile is for the caller to decide on. */
async function expectNoOther(appointment: Appointment, appointmentId: string): Promise<void> {
  if (appointment.known?.type === 'patient_service_center') throw keptElsewhere();
  if (appointment.known?.appointmentId === appointmentId) forget(appointment, Date.now());
  await readOrRefuse(appointment);
  const open = openVisit(appointment);
  if (open) throw alreadyThere(open);
}

function alreadyThere({ startAt }: AppointmentSnapshot): ApplicationFailure {
  const when = startAt === undefined ? 'without a time yet' : `at ${startAt}`;
  const message = `The order has an appointment ${when}: reschedule or cancel it`;
  return refuse('AppointmentExists', message);
}

/** The service shows only appointments at home, so that it is not shown says nothing. */
function keptElsewhere(): ApplicationFailure {
  const message = 'The appointment is at a service centre, and the lab service has no call to cancel it: it stays';
  return refuse('CancellationRefused', message);
}

function nothingBooked(): ApplicationFailure {
  return refuse('NothingBooked', 'The order has no appointment: choose a slot');
}

/** What a command must be to be accepted at all; a refusal here leaves no trace in the history. */

export function validateQuestion(run: AppointmentRun, question: SlotQuestion | undefined): void {
  const { startDate } = question ?? {};
  if (startDate !== undefined && !isDate(startDate))
    throw refuseField('startDate', 'must be a date, written YYYY-MM-DD');
  validateOpen(run);
}

export function validateChoice(run: AppointmentRun, choice: SlotChoice | undefined): void {
  const { slotId, notes } = choice ?? {};
  if (slotOf(slotId) === undefined)
    throw refuseField('slotId', 'must be the id of a slot, as findSlots answers with it');
  checkNotes(notes);
  validateOpen(run);
}

export function validateRequest(run: AppointmentRun, request: AppointmentRequest | undefined): void {
  const { provider, notes } = request ?? {};
  if (!isText(provider) || !/^[\w.-]{1,64}$/.test(provider))
    throw refuseField('provider', 'must be a slug of the service');
  checkNotes(notes);
  validateOpen(run);
}

export function validateCancellation(run: AppointmentRun, cancellation: AppointmentCancellation | undefined): void {
  const { reasonId, notes, rebook } = cancellation ?? {};
  if (reasonId !== undefined && (!isText(reasonId) || reasonId === '')) throw refuseField('reasonId', 'must be a text');
  if (rebook !== undefined && typeof rebook !== 'boolean') throw refuseField('rebook', 'must be true or false');
  checkNotes(notes);
  validateOpen(run);
}

/** Counted in code points, as in the order's comments; docs/lab-service.md. */
const longestNotes = 1_000;

function checkNotes(notes: unknown): void {
  if (notes === undefined) return;
  if (!isText(notes) || Array.from(notes).length > longestNotes) {
    throw refuseField('notes', `must be a text of at most ${longestNotes} characters`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isDate(value: unknown): boolean {
  return isText(value) && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
}

function validateOpen({ appointment }: Pick<AppointmentRun, 'appointment'>): void {
  if (appointment.ending !== undefined) throw ended({ appointment });
}

function ended({ appointment }: Pick<AppointmentRun, 'appointment'>): ApplicationFailure {
  const outcome = currentPhase(appointment);
  const why =
    appointment.ending === 'order_ended' && appointment.order !== undefined
      ? ` (${whyNobodyComes[appointment.order]})`
      : '';
  const message = `Nothing is being arranged for this order any more: ${outcome}${why}`;
  return refuse('AppointmentEnded', message, { reason: outcome });
}
