import type { RaisedAttention } from '../../protocol/attention.js';
import type { EarlierRun } from '../../protocol/signal-or-start.js';
import {
  isOpen,
  isWalkIn,
  visitPhaseOf,
  type OrderEffect,
  type VisitPhase,
} from '../../protocol/appointment/lifecycle.js';
import type {
  AppointmentAttentionReason,
  AppointmentOutcome,
  AppointmentPhase,
  AppointmentResult,
  BookAppointmentInput,
} from '../../protocol/appointment/messages.js';
import type { ResolvedAppointmentPolicy } from '../../protocol/appointment/policy.js';
import { slotOf } from '../../protocol/appointment/slots.js';
import { canonicalJson } from '../../protocol/json.js';
import { isAhead } from '../../protocol/time.js';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import { type Attentive, nothingYet } from '../entity/attention.js';
import { note } from '../entity/journal.js';
import type { Cancellable, EntityRun } from '../entity/loop.js';
import type { Outbox } from '../entity/outbox.js';
import { choosePolicy, openPolicy, type Governed } from '../entity/policy.js';
import { answered, type Polled } from '../entity/polling.js';
import { minute } from '../entity/spans.js';
import { carriedOn, firstVersion } from '../entity/versions.js';

/**
 * Everything that is known of an order's appointments, and how each thing that is learnt changes it. Plain JSON without
 * a clock: it goes through continue-as-new as it is. Times are milliseconds since the epoch.
 */
export interface Appointment
  extends Outbox, Attentive<RaisedAttention<AppointmentAttentionReason>>, Governed<ResolvedAppointmentPolicy>, Polled {
  version: number;
  orderId: string;
  policy: ResolvedAppointmentPolicy;
  /** The product requested an appointment. */
  requested: boolean;
  /** When it did: an end is announced once for each request. */
  requestedAt?: number;
  /** The service was asked what there is. */
  identified: boolean;
  /** How the last run for the same order ended, and with which appointment. */
  before?: { outcome: AppointmentOutcome; appointmentId?: string };
  userId?: string;
  /** The present appointment, or the last one if it was cancelled. */
  known?: AppointmentSnapshot;
  /** The last one that the service did not show any more: a late webhook of it is no proof that it is back. */
  goneId?: string;
  /** How many webhooks brought news: an answer that was asked for before the last of them may be older than it. */
  received: number;
  /** Something was received that only the service can put in order. */
  unclear: boolean;
  /** Only a webhook has reported what is known, and it may be late: no read and no answer has confirmed it. */
  reported?: true;
  /** The last of it. */
  doubtful?: AppointmentSnapshot;
  /** Reads in a row that showed no appointment though there is one. */
  missing: number;
  /** Its status, for which time, and since when. */
  stage: { phase: LivePhase; startAt?: string; since: number };
  /** When the service first said that it does not know the order; missing once it has shown it. */
  absentSince?: number;
  /** A booking whose outcome nobody knows may be under way at the service until then. */
  doubtUntil?: number;
  /** A choice at a service centre, until what came of it is known: repeated under the same key, it is one booking. */
  booking?: { slotId: string; key: string };
  /** The service centre of an appointment that was chosen here, and its hour: the service does not name the centre. */
  site?: { appointmentId: string; startAt: string; code: string };
  /** The state of the order when it was last read. */
  order?: Exclude<OrderEffect, 'open'>;
  /** The appointment that the product cancelled: that it is cancelled is not news, unless it was shown open again. `at` is missing until the service has answered. */
  cancelled?: NonNullable<AppointmentResult['cancelled']>;
  /** The visit at home that the product cancelled, and if that was in time for a refund. */
  refund?: { appointmentId: string; refundable: boolean };
  /** The appointment that fell away otherwise, until the order was asked why and the product notified. */
  fallen?: { appointmentId: string; reason: 'cancelled' | 'not_shown'; asked?: true };
  /** When to read once more one that fell away, or that only a webhook has reported: an earlier read may be older than that. */
  askAgainAt?: number;
  /** Keys of deadlines that were acted on. */
  handledDeadlines: string[];
  /** Ids of what was put into the outbox. */
  announced: string[];
  /** The state that the last `phase_changed` announced, or that the caller was answered. */
  shown?: string;
  ending?: AppointmentOutcome;
}

/** One run of `bookAppointment`. */
export interface AppointmentRun extends EntityRun, Cancellable {
  appointment: Appointment;
  earlierRun: EarlierRun | undefined;
}

/** A phase in which something is waited for, or `completed`, which ends the workflow. */
type LivePhase = 'awaiting_choice' | VisitPhase;

export function openAppointment({ orderId, policy, carried }: BookAppointmentInput, now: number): Appointment {
  if (carried != null) return carriedOn<Appointment>('state of the appointment', carried);
  return {
    version: firstVersion,
    orderId,
    ...openPolicy('appointment', policy),
    requested: false,
    identified: false,
    received: 0,
    unclear: false,
    missing: 0,
    stage: { phase: 'awaiting_choice', since: now },
    lookedAt: now,
    silentReads: 0,
    handledDeadlines: [],
    ...nothingYet(),
    announced: [],
  };
}

/** The appointment for which somebody means to come. */
export function openVisit({ known }: Appointment): AppointmentSnapshot | undefined {
  return known && isOpen(known) ? known : undefined;
}

/** False after an end, and while a booking may be under way that would contradict one. */
export function canEnd({ ending, doubtUntil }: Appointment): boolean {
  return ending === undefined && doubtUntil === undefined;
}

export function currentPhase({ ending, stage }: Appointment): AppointmentPhase {
  return ending ?? stage.phase;
}

/** True while a person is still asked: a command settles a question before anybody is notified. */
export function stands(appointment: Appointment, reason: AppointmentAttentionReason): boolean {
  const isOpen = appointment.ending === undefined;
  switch (reason) {
    case 'confirmation_overdue':
      return currentPhase(appointment) === 'awaiting_confirmation' && !isReserved(appointment);
    case 'visit_overdue':
      return isOpen && appointment.handledDeadlines.some((key) => isOfStage(appointment, key));
    case 'order_cancelled':
      return isOpen && appointment.order === 'cancelled' && isOpenWalkIn(appointment);
    // The delivery clears the first; nothing shows what a dropped signal was about.
    case 'notifications_undelivered':
    case 'unreadable_signal':
      return true;
    default:
      return reason satisfies never;
  }
}

/** Keys of deadlines begin with the stage that they belong to. */
export function isOfStage({ stage }: Appointment, key: string): boolean {
  return key.startsWith(`${stage.phase}/${stage.startAt ?? ''}/${stage.since}/`);
}

/** Folds a webhook in; says whether anything has to be done about it. */
export function learnFromWebhook(appointment: Appointment, snapshot: AppointmentSnapshot, now: number): boolean {
  if (snapshot.userId !== undefined) appointment.userId ??= snapshot.userId;
  const { known, goneId } = appointment;
  let compared = !known && snapshot.appointmentId === goneId ? 'unclear' : compareReceived(known, snapshot);
  // A time in the future was written by a clock that is wrong, and makes nothing older than itself: the service is asked.
  const isOther = known?.appointmentId !== snapshot.appointmentId;
  if (compared === 'nothing' && isOther && known?.events.some(({ at }) => isAhead(at, now))) compared = 'unclear';
  if (compared === 'nothing') return false;
  appointment.received += 1;
  if (compared === 'unclear') {
    appointment.unclear = true;
    appointment.doubtful = snapshot;
  } else {
    learn(appointment, snapshot, now);
    appointment.reported = true;
  }
  return true;
}

/** No read can show which of two reports is the later one: the last that was received counts. @returns whether it is news */
export function recordDoubtful(appointment: Appointment, now: number): boolean {
  const { doubtful, goneId } = appointment;
  if (!doubtful || doubtful.appointmentId === goneId) return false;
  learn(appointment, doubtful, now);
  return true;
}

/**
 * Takes in what the service answered to a command, or a read that is not older than what is known: the appointment as it was
 * when that was asked.
 * @param asked `received` of when it was asked: a webhook that came meanwhile may be the later one
 * @returns whether it is news
 */
export function recordAnswer(
  appointment: Appointment,
  answer: AppointmentSnapshot,
  asked: number,
  now: number,
): boolean {
  return recordAppointment(appointment, answer, appointment.received === asked, now);
}

/** The same for a read. Right after a webhook, which has every event, a read may be older than it; right after a cancellation, too. */
export function recordRead(appointment: Appointment, read: AppointmentSnapshot, asked: number, now: number): boolean {
  if (isOpen(read) && read.appointmentId === justCancelled(appointment, now)) {
    appointment.askAgainAt ??= now + minute;
    return false;
  }
  // It stands all the same, and its next fall is news.
  if (isOpen(read) && read.appointmentId === appointment.cancelled?.appointmentId) delete appointment.cancelled;
  return recordAppointment(appointment, read, appointment.received === asked && !isOlder(read, appointment.known), now);
}

function recordAppointment(
  appointment: Appointment,
  answer: AppointmentSnapshot,
  isNow: boolean,
  now: number,
): boolean {
  if (answer.userId !== undefined) appointment.userId ??= answer.userId;
  appointment.missing = 0;
  if (isNow) delete appointment.reported;
  const compared = isNow ? 'newer' : compareReceived(appointment.known, answer);
  if (compared === 'nothing') return false;
  if (compared === 'unclear') appointment.unclear = true;
  if (appointment.known && canonicalJson(said(appointment.known)) === canonicalJson(said(answer))) return false;
  learn(appointment, answer, now);
  return true;
}

/** The appointment that the product cancelled less than a minute ago: a read that still shows it open may be older than that. */
export function justCancelled({ cancelled }: Appointment, now: number): string | undefined {
  return cancelled && now < Date.parse(cancelled.at ?? '') + minute ? cancelled.appointmentId : undefined;
}

/** It has fewer events, and none that is later. */
export function isOlder(read: AppointmentSnapshot, known: AppointmentSnapshot | undefined): boolean {
  if (known?.appointmentId !== read.appointmentId || read.events.length === 0) return false;
  return read.events.length < known.events.length && latest(read) <= latest(known);
}

/** So often in a row the service has to show no appointment before one that it reported is believed to be gone. */
const believedMissing = 2;

/** The service shows no appointment. @returns whether it is news */
export function recordNone(appointment: Appointment, asked: number, now: number): boolean {
  const { known } = appointment;
  if (!known || !isOpen(known) || appointment.received !== asked) return false;
  if (mayBeOver(known, now)) return false;
  appointment.missing += 1;
  if (appointment.missing < believedMissing) return false;
  note(appointment, 'the service shows no appointment any more', now);
  forget(appointment, known, now);
  appointment.fallen = { appointmentId: known.appointmentId, reason: 'not_shown' };
  return true;
}

/** A service centre shows only active appointments: that a past one is not shown does not say how it went. */
export function mayBeOver(known: AppointmentSnapshot, now: number): boolean {
  return isWalkIn(known) && Date.parse(known.startAt ?? '') <= now;
}

/** The appointment that is known is not there any more. */
export function forget(appointment: Appointment, { appointmentId }: AppointmentSnapshot, now: number): void {
  appointment.goneId = appointmentId;
  delete appointment.known;
  appointment.missing = 0;
  enterStage(appointment, now);
}

function learn(appointment: Appointment, snapshot: AppointmentSnapshot, now: number): void {
  const before = appointment.known;
  delete appointment.doubtful;
  appointment.known = snapshot;
  appointment.missing = 0;
  answered(appointment, true, now);
  const { appointmentId, status = 'unknown', startAt } = snapshot;
  const hasFallen = before !== undefined && isOpen(before) && visitPhaseOf(snapshot) === 'cancelled';
  if (hasFallen && appointmentId !== appointment.cancelled?.appointmentId) {
    appointment.fallen = { appointmentId, reason: 'cancelled' };
    appointment.askAgainAt = now + minute;
  } else if (isOpen(snapshot)) {
    delete appointment.fallen;
    delete appointment.askAgainAt;
    // It stands all the same, and its next fall is news.
    if (appointmentId === appointment.cancelled?.appointmentId && !(before && isOpen(before)))
      delete appointment.cancelled;
  }
  if (before?.status !== status || before.startAt !== startAt || before.appointmentId !== appointmentId) {
    note(appointment, startAt === undefined ? status : `${status}, for ${startAt}`, now);
  }
  settleBooking(appointment, before);
  enterStage(appointment, now);
  reopen(appointment);
}

/** The present appointment is the one that was chosen, or another one that leaves no room for it. */
function settleBooking(appointment: Appointment, before: AppointmentSnapshot | undefined): void {
  const { known, booking, site: last } = appointment;
  // Moved elsewhere, perhaps to another service centre.
  if (known && last?.appointmentId === known.appointmentId && last.startAt !== known.startAt) delete appointment.site;
  if (!booking || !known) return;
  const { start, site } = slotOf(booking.slotId) ?? {};
  // Another time is the one before a move, which is still to come.
  if (known.startAt === undefined || known.startAt !== start) return;
  if (!isOpen(known)) {
    // It has fallen through, and its key would bring the first answer again; one that was cancelled before is another one.
    if (visitPhaseOf(known) === 'cancelled' && before?.appointmentId !== known.appointmentId)
      delete appointment.booking;
    return;
  }
  if (site !== undefined) appointment.site = { appointmentId: known.appointmentId, startAt: known.startAt, code: site };
  delete appointment.booking;
}

/** The service centre of an appointment, as far as it is known. */
export function siteCodeOf({ site }: Appointment, { appointmentId }: AppointmentSnapshot): string | undefined {
  return site?.appointmentId === appointmentId ? site.code : undefined;
}

function enterStage(appointment: Appointment, now: number): void {
  const { known, stage } = appointment;
  const visit = known ? visitPhaseOf(known) : 'cancelled';
  const phase = visit === 'cancelled' ? 'awaiting_choice' : visit;
  const startAt = phase === 'awaiting_choice' ? undefined : known?.startAt;
  if (phase === stage.phase && startAt === stage.startAt) return;
  appointment.stage = { phase, since: now, ...(startAt !== undefined && { startAt }) };
}

/** Ends end the waiting, not the truth: what contradicts one before its announcement was delivered is followed on. */
function reopen(appointment: Appointment): void {
  const { ending, stage } = appointment;
  if (ending === undefined || ending === 'abandoned') return;
  const contradicts = ending === 'completed' ? stage.phase !== 'completed' : stage.phase !== 'awaiting_choice';
  if (!contradicts) return;
  delete appointment.ending;
  delete appointment.order;
}

const endsToResume: readonly (AppointmentOutcome | undefined)[] = ['cancelled', 'expired', 'unresolved', 'abandoned'];

/** Requested again before the end of the one before is delivered: what nobody can choose for stays ended. */
export function acceptRequest(appointment: Appointment, policy: unknown, now: number): void {
  const { ending } = appointment;
  const canGoOn = endsToResume.includes(ending);
  if (policy != null && (!appointment.requested || canGoOn)) choosePolicy(appointment, 'appointment', policy);
  if (canGoOn) delete appointment.requestedAt;
  markRequested(appointment, now);
  if (!canGoOn) return;
  delete appointment.ending;
  delete appointment.fallen;
  appointment.stage = { ...appointment.stage, since: now };
  note(appointment, 'requested again', now);
}

export function markRequested(appointment: Appointment, now: number): void {
  appointment.requested = true;
  appointment.requestedAt ??= now;
}

/**
 * The fold: the order's present appointment, as far as it was reported. A webhook may be late, repeated or out of order,
 * or be about an older appointment; it carries all events of its appointment, of which there are only ever more. A read
 * is the appointment as it is now. No clock here, and no workflow.
 */
export type Comparison =
  /** It takes the place of what was known. */
  | 'newer'
  /** Known already, or older. */
  | 'nothing'
  /** Nothing in the two shows which is the later one: the service has to be asked. */
  | 'unclear';

/** Compares a webhook's snapshot with the one that is known. */
export function compareReceived(known: AppointmentSnapshot | undefined, received: AppointmentSnapshot): Comparison {
  if (!known) return 'newer';
  if (known.appointmentId !== received.appointmentId) {
    // An order has one appointment at a time: the one that began later is the present one.
    const later = began(received) - began(known);
    if (Number.isNaN(later) || later === 0) return 'unclear';
    return later > 0 ? 'newer' : 'nothing';
  }
  if (canonicalJson(said(known)) === canonicalJson(said(received))) return 'nothing';
  // Of two snapshots of one appointment, the one with more events is the later one.
  const more = received.events.length - known.events.length || latest(received) - latest(known);
  if (more !== 0 && received.events.length > 0 && known.events.length > 0) return more > 0 ? 'newer' : 'nothing';
  return 'unclear';
}

/** The user and the order change nothing: an envelope may leave that out. */
function said({ userId: _userId, orderId: _orderId, ...rest }: AppointmentSnapshot): object {
  return rest;
}

function latest({ events }: AppointmentSnapshot): number {
  return Math.max(...events.map(({ at }) => Date.parse(at)));
}

function began({ events }: AppointmentSnapshot): number {
  return events.length === 0 ? Number.NaN : Math.min(...events.map(({ at }) => Date.parse(at)));
}

/** Its slot is booked: it stays so until a scheduled order is begun, which may be weeks away. */
export function isReserved({ known }: Appointment): boolean {
  return known?.status === 'reserved' && known.startAt !== undefined;
}

/** No webhook of it reports that its order was cancelled, or that the results show the draw. */
export function isOpenWalkIn(appointment: Appointment): boolean {
  const open = openVisit(appointment);
  return open !== undefined && isWalkIn(open);
}
