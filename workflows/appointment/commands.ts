import { type ApplicationFailure, uuid4 } from '@temporalio/workflow';
import {
  isOpen,
  isWalkIn,
  refundableUntil,
  visitPhaseOf,
  whyNobodyComes,
} from '../../protocol/appointment/lifecycle.js';
import type { OfActor } from '../../protocol/ids.js';
import {
  type AppointmentCancellation,
  type AppointmentRequest,
  type AppointmentState,
  radii,
  type SlotChoice,
  type SlotQuestion,
  type Slots,
} from '../../protocol/appointment/messages.js';
import { slotOf, isAtSlot } from '../../protocol/appointment/slots.js';
import { settlingAfter } from '../../protocol/settling.js';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import { activities, booking } from '../activity-options.js';
import { untilDue } from '../entity/loop-timer.js';
import { actorOf, mostBeforeCancelling, notKnownYet, refusalOf, refuse, refuseField } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import { recordNoAnswer } from '../entity/polling.js';
import { iso } from '../entity/spans.js';
import {
  forget,
  justCancelled,
  mayBeOver,
  openVisit,
  siteCodeOf,
  recordAnswer,
  markRequested,
  type Appointment,
  currentPhase,
  type AppointmentRun,
} from './appointment.js';
import { readOrThrow, readAppointmentSnapshot } from './reading.js';
import { stateOf } from './view.js';
import { isCalendarDate } from '../../protocol/time.js';
import { omitNullish } from '../../protocol/json.js';

/** An appointment that a product requests is the product's from then on. */
function begin(appointment: Appointment): void {
  requireOpen(appointment);
  markRequested(appointment, Date.now());
}

export async function findSlots(appointment: Appointment, question: SlotQuestion): Promise<Slots> {
  begin(appointment);
  const { orderId } = appointment;
  const { startDate, siteCodes, zipCode, radius } = question;
  const isNear = siteCodes === undefined && zipCode === undefined;
  const summary = isNear ? 'slots near the order’s address' : 'slots at service centres';
  const asked = omitNullish({ orderId, startDate, siteCodes, zipCode, radius });
  return activities.findSlots.executeWithOptions({ summary }, [asked]);
}

export async function choose(appointment: Appointment, choice: SlotChoice): Promise<AppointmentState> {
  if (isChosenSo(appointment, choice)) return stateOf(appointment);
  begin(appointment);
  const { slotId, notes } = choice;
  await readUnlessSure(appointment);
  const { start, site } = slotOf(slotId) ?? {};
  const open = openVisit(appointment);
  // A webhook, or the same choice before it, was faster.
  if (open && isAt(appointment, open, slotId)) return stateOf(appointment);
  if (open) throw alreadyThere(open);
  const { orderId, policy } = appointment;
  const cancelledId = justCancelled(appointment, Date.now());
  const { bookingTimeout, confirmation, confirmationWait } = policy;
  const call = omitNullish({ orderId, slotId, notes, bookingTimeout, cancelledId });
  const waits = confirmation === 'later' || site !== undefined ? { confirmWithin: confirmationWait } : {};
  const isRepeated = appointment.booking?.slotId === slotId;
  const keyed =
    site === undefined ? {} : { idempotencyKey: keyFor(appointment, slotId), ...(isRepeated && { isRepeated }) };
  return arrange(appointment, { ...actorOf(choice), done: `slot at ${start} chosen` }, () =>
    activities.bookSlot.executeWithOptions({ ...booking(bookingTimeout), summary: `book ${start}` }, [
      { ...call, ...waits, ...keyed },
    ]),
  );
}

/** The key of a choice at a service centre: the same until the outcome is known, and then never used again. */
function keyFor(appointment: Appointment, slotId: string): string {
  if (appointment.booking?.slotId !== slotId) appointment.booking = { slotId, key: uuid4() };
  return appointment.booking.key;
}

/** Two service centres may have the same hour. One that was made elsewhere may be at any. */
function isAt(appointment: Appointment, open: AppointmentSnapshot, slotId: string): boolean {
  const { start, site } = slotOf(slotId) ?? {};
  return open.startAt === start && (siteCodeOf(appointment, open) ?? site) === site;
}

export async function askProvider(appointment: Appointment, request: AppointmentRequest): Promise<AppointmentState> {
  const { provider, notes } = request;
  begin(appointment);
  await readUnlessSure(appointment);
  const open = openVisit(appointment);
  // The same request before it.
  if (open && open.startAt === undefined && open.provider?.toLowerCase() === provider.toLowerCase())
    return stateOf(appointment);
  if (open) throw alreadyThere(open);
  const { orderId, policy } = appointment;
  const cancelledId = justCancelled(appointment, Date.now());
  const { bookingTimeout } = policy;
  const call = omitNullish({ orderId, provider, notes, bookingTimeout, cancelledId });
  const summary = `ask ${provider} for an appointment`;
  return arrange(appointment, { ...actorOf(request), done: `${provider} asked for an appointment` }, () =>
    activities.requestAppointment.executeWithOptions({ ...booking(bookingTimeout), summary }, [call]),
  );
}

export async function reschedule(appointment: Appointment, choice: SlotChoice): Promise<AppointmentState> {
  if (isChosenSo(appointment, choice)) return stateOf(appointment);
  begin(appointment);
  const { slotId, notes } = choice;
  await readUnlessSure(appointment);
  const { start, site } = slotOf(slotId) ?? {};
  const open = openVisit(appointment);
  if (!open) throw nothingBooked();
  if (isAt(appointment, open, slotId)) return stateOf(appointment);
  // After a lost answer, the appointment would look the same whether it was moved or not.
  if (open.startAt === start) {
    const message =
      'The appointment is at the same time at another service centre: cancel it with `rebook`, then choose again';
    throw refuse('RescheduleRefused', message);
  }
  if (site !== undefined) keyFor(appointment, slotId);
  const { orderId, policy } = appointment;
  const { bookingTimeout } = policy;
  const { appointmentId } = open;
  const call = omitNullish({ orderId, appointmentId, slotId, notes, bookingTimeout });
  const summary = `move to ${start}`;
  return arrange(appointment, { ...actorOf(choice), done: `moved to ${start}` }, () =>
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
  // Of the last attempt: the answer to one before it may have been lost.
  'ServiceUnreachable',
  'TooManyRequests',
];

/** Failures after which the booking itself is settled: its key is not used again. */
const settled: readonly string[] = [
  'BookingRefused',
  'RescheduleRefused',
  'SlotUnavailable',
  'BookingKeyExpired',
  'AppointmentExists',
  'NothingBooked',
];

/** Takes in the outcome of a booking or a move. If nobody knows it, the service is read once it cannot be at work any more. */
async function arrange(
  appointment: Appointment,
  command: OfActor & { done: string },
  call: () => Promise<AppointmentSnapshot>,
): Promise<AppointmentState> {
  const asked = appointment.received;
  try {
    const snapshot = readAppointmentSnapshot(await call());
    noteActor(appointment, command);
    if (snapshot) recordAnswer(appointment, snapshot, asked, Date.now());
    delete appointment.booking;
    return stateOf(appointment);
  } catch (error) {
    const refusal = refusalOf(error);
    if (doubtful.includes(refusal.type ?? '')) {
      appointment.doubtUntil = Date.now() + settlingAfter(appointment.policy.bookingTimeout);
      note(appointment, 'a booking was not answered', Date.now(), undefined, actorOf(command));
    }
    if (settled.includes(refusal.type ?? '')) delete appointment.booking;
    // The service shows another appointment than the one that is known here.
    if (refusal.type === 'AppointmentExists' || refusal.type === 'NothingBooked') appointment.unclear = true;
    throw refusal;
  }
}

/** Notes who sent a command: the timeline has in any case what the service made of it. */
function noteActor(appointment: Appointment, { by, done }: OfActor & { done: string }): void {
  if (by !== undefined) note(appointment, done, Date.now(), undefined, { by });
}

/**
 * A booking that may still be under way is not raced by another one: what came of it is read first. So is what only a webhook has
 * reported, because no answer must rest on one that may be old.
 */
async function readUnlessSure(appointment: Appointment): Promise<void> {
  const { doubtUntil = 0, reported } = appointment;
  if (doubtUntil === 0 && !reported) return;
  await untilDue(appointment, doubtUntil, 'an earlier booking may be under way');
  await readOrRefuse(appointment);
}

async function readOrRefuse(appointment: Appointment): Promise<void> {
  try {
    await readOrThrow(appointment);
  } catch (error) {
    recordNoAnswer(appointment, Date.now());
    throw refusalOf(error);
  }
  if (appointment.ending !== undefined) throw ended(appointment);
  if (appointment.unanswered) throw notKnownYet();
}

export async function cancel(
  appointment: Appointment,
  cancellation: AppointmentCancellation,
): Promise<AppointmentState> {
  if (isCancelledSo(appointment, cancellation)) return stateOf(appointment);
  requireOpen(appointment);
  await readUnlessSure(appointment);
  // One that was made without a report must not be left behind.
  if (!openVisit(appointment)) await readOrRefuse(appointment);
  const open = openVisit(appointment);
  if (!open && cancellation.rebook) {
    // The same command before it was carried out.
    const { known, goneId, cancelled } = appointment;
    if (cancelled && (known?.appointmentId ?? goneId) === cancelled.appointmentId) return stateOf(appointment);
    throw nothingBooked();
  }
  if (open) {
    await cancelAtService(appointment, open, cancellation);
    appointment.cancelled = { appointmentId: open.appointmentId, at: iso(Date.now()) };
  }
  noteActor(appointment, { ...actorOf(cancellation), done: 'cancelled by the product' });
  // The caller decides about another one that somebody made meanwhile.
  const other = openVisit(appointment);
  if (other && other.appointmentId !== open?.appointmentId) throw alreadyThere(other);
  if (cancellation.rebook) markRequested(appointment, Date.now());
  else {
    delete appointment.booking;
    appointment.requested = false;
    appointment.ending = 'cancelled';
  }
  return stateOf(appointment);
}

async function cancelAtService(
  appointment: Appointment,
  open: AppointmentSnapshot,
  { reasonId, notes, by }: AppointmentCancellation,
): Promise<void> {
  const { orderId } = appointment;
  const { appointmentId, type } = open;
  const asked = appointment.received;
  const before = appointment.cancelled;
  // Its webhook may be faster than the answer, and is not news then.
  appointment.cancelled = { appointmentId };
  const call = omitNullish({ orderId, appointmentId, reasonId, notes, type: isWalkIn(open) ? type : undefined });
  try {
    const summary = 'cancel the appointment';
    const answer = await activities.cancelAppointment.executeWithOptions({ summary }, [call]);
    const snapshot = readAppointmentSnapshot(answer);
    if (!snapshot) return await expectGone(appointment, appointmentId);
    // A deployment may answer with the appointment as it was: that the service took the command counts.
    const cancelled = isOpen(snapshot) ? { ...snapshot, status: 'cancelled' } : snapshot;
    const isDrawn = visitPhaseOf(snapshot) === 'completed';
    if (!isDrawn) noteRefund(appointment, open, Date.now());
    recordAnswer(appointment, cancelled, asked, Date.now());
    // The blood draw was faster: nothing was cancelled, and nothing needs to be chosen again.
    if (isDrawn) throw ended(appointment);
  } catch (error) {
    if (before === undefined) delete appointment.cancelled;
    else appointment.cancelled = before;
    const refusal = refusalOf(error);
    noteActor(appointment, { ...actorOf({ by }), done: `the cancellation failed with ${refusal.type}` });
    throw refusal;
  }
}

/** Counted when the service had answered: the later moment, so no refund is promised that does not come. */
function noteRefund(appointment: Appointment, open: AppointmentSnapshot, now: number): void {
  const until = refundableUntil(open);
  if (until === undefined) return;
  const refundable = now < until;
  appointment.refund = { appointmentId: open.appointmentId, refundable };
  if (!refundable) note(appointment, 'cancelled too late for a refund', now);
}

/** The appointment to cancel is not there. If the blood may have been drawn, only the order can say so. */
async function expectGone(appointment: Appointment, appointmentId: string): Promise<void> {
  const { known } = appointment;
  if (known?.appointmentId === appointmentId && !mayBeOver(known, Date.now())) forget(appointment, known, Date.now());
  await readOrRefuse(appointment);
  if (appointment.stage.phase === 'completed') throw ended(appointment);
  if (openVisit(appointment)?.appointmentId !== appointmentId) return;
  const message = 'The service no longer shows the appointment, whose start has passed: it may have taken place';
  throw refuse('CancellationRefused', message);
}

function alreadyThere({ startAt }: AppointmentSnapshot): ApplicationFailure {
  const when = startAt === undefined ? 'without a time yet' : `at ${startAt}`;
  const message = `The order has an appointment ${when}: reschedule or cancel it`;
  return refuse('AppointmentExists', message);
}

function nothingBooked(): ApplicationFailure {
  return refuse('NothingBooked', 'The order has no appointment: choose a slot');
}

/** The conditions for accepting a command at all; a refusal here leaves no trace in the history. */

export function validateQuestion(run: AppointmentRun, question: SlotQuestion | undefined): void {
  const { startDate } = question ?? {};
  if (startDate !== undefined && !isCalendarDate(startDate))
    throw refuseField('startDate', 'must be a date that exists, written YYYY-MM-DD');
  checkPlace(question ?? {});
  requireOpen(run.appointment);
  run.commands.requireRoom();
}

function checkPlace({ siteCodes, zipCode, radius }: SlotQuestion): void {
  const areSites = Array.isArray(siteCodes) && siteCodes.length >= 1 && siteCodes.length <= 3;
  if (siteCodes !== undefined && !(areSites && siteCodes.every((code) => isText(code) && code !== '')))
    throw refuseField('siteCodes', 'must be a list of one to three texts');
  if (zipCode !== undefined && !(isText(zipCode) && /^\d{5}(-\d{4})?$/.test(zipCode)))
    throw refuseField('zipCode', 'must be five digits, or five, a hyphen and four');
  if (radius !== undefined && !radii.includes(radius)) throw refuseField('radius', 'must be 10, 20, 25, 50 or 100');
  if (siteCodes !== undefined && (zipCode ?? radius) !== undefined)
    throw refuseField('siteCodes', 'must not be combined with zipCode or radius: give one or the other');
}

export function validateChoice(run: AppointmentRun, choice: SlotChoice | undefined): void {
  const { slotId, notes } = choice ?? {};
  actorOf(choice);
  if (slotOf(slotId) === undefined)
    throw refuseField('slotId', 'must be the id of a slot, as findSlots (labops appointments slots) answers with it');
  checkNotes(notes);
  if (!choice || !isChosenSo(run.appointment, choice)) requireOpen(run.appointment);
  run.commands.requireRoom();
}

/** The same command before the appointment ended. */
function isChosenSo(appointment: Appointment, { slotId }: SlotChoice): boolean {
  return appointment.ending !== undefined && isAtSlot(stateOf(appointment).appointment, slotId);
}

export function validateRequest(run: AppointmentRun, request: AppointmentRequest | undefined): void {
  const { provider, notes } = request ?? {};
  actorOf(request);
  if (!isText(provider) || !/^[\w.-]{1,64}$/.test(provider))
    throw refuseField('provider', 'must be a slug of the service');
  checkNotes(notes);
  requireOpen(run.appointment);
  run.commands.requireRoom();
}

export function validateCancellation(run: AppointmentRun, cancellation: AppointmentCancellation | undefined): void {
  const { reasonId, notes, rebook } = cancellation ?? {};
  actorOf(cancellation);
  if (reasonId !== undefined && (!isText(reasonId) || reasonId === ''))
    throw refuseField('reasonId', 'must be a non-empty string');
  if (rebook !== undefined && typeof rebook !== 'boolean') throw refuseField('rebook', 'must be true or false');
  checkNotes(notes);
  if (!isCancelledSo(run.appointment, cancellation ?? {})) requireOpen(run.appointment);
  run.commands.requireRoom(mostBeforeCancelling);
}

/** The same command before it has ended the appointment, or it was cancelled elsewhere. */
function isCancelledSo({ ending }: Appointment, { rebook }: AppointmentCancellation): boolean {
  return ending === 'cancelled' && rebook !== true;
}

/** Counted in code points, as in the order's comments; docs/internals/lab-service.md. */
const longestNotes = 1_000;

function checkNotes(notes: unknown): void {
  if (notes === undefined) return;
  if (!isText(notes) || Array.from(notes).length > longestNotes) {
    throw refuseField('notes', `must be a string of at most ${longestNotes} characters`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function requireOpen(appointment: Appointment): void {
  if (appointment.ending !== undefined) throw ended(appointment);
}

export function ended(appointment: Appointment): ApplicationFailure {
  const outcome = currentPhase(appointment);
  const why =
    appointment.ending === 'order_ended' && appointment.order !== undefined
      ? ` (${whyNobodyComes[appointment.order]})`
      : '';
  const message = `Nothing is being arranged for this order any more: ${outcome}${why}`;
  return refuse('AppointmentEnded', message, { reason: outcome });
}
