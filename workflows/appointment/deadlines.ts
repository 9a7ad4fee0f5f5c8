import type { AppointmentAttentionReason } from '../../protocol/appointment/messages.js';
import { isWalkIn } from '../../protocol/appointment/lifecycle.js';
import { farthestDate } from '../../protocol/time.js';
import { iso, absenceBelieved, doubled, longestOutage } from '../entity/spans.js';
import { atOnce, isDue, timeOf, type Moment } from '../entity/loop-timer.js';
import { note } from '../entity/journal.js';
import { words } from '../entity/operators.js';
import { enqueue, headOf, raise } from './announcements.js';
import { type Appointment, canEnd, isOpenWalkIn, isReserved } from './appointment.js';
import { readAppointment } from './reading.js';

/** The times by which something should have been reported: `deadlinesOf` derives them from what happened and from the policy, without a clock. */
type DeadlineName =
  /** Ask the service: a provider's word is awaited, a visit is overdue, or what was received or read has to be confirmed. */
  'read_the_appointment' | 'choice_reminder' | 'choice' | 'confirmation' | 'visit_reminder' | 'visit' | 'give_up';

interface Deadline extends Moment {
  name: DeadlineName;
  /** Identifies it: it is handled once for each stage. */
  key: string;
  /** Which of several reminders, from 1. */
  ordinal: number;
}

/** Those that are not handled yet, the earliest first. */
export function deadlinesOf(appointment: Appointment): Deadline[] {
  if (appointment.ending !== undefined) return [];
  const found = [...reads(appointment), ...stageDeadlines(appointment)];
  const open = found.filter(({ key, at }) => !appointment.handledDeadlines.includes(key) && Number.isFinite(at));
  return open.toSorted((a, b) => a.at - b.at);
}

function stageDeadlines(appointment: Appointment): Deadline[] {
  const { stage, policy } = appointment;
  switch (stage.phase) {
    case 'awaiting_choice':
      return [...choiceReminders(appointment), end(appointment, 'choice', stage.since + policy.choiceWait)];
    case 'awaiting_confirmation':
      if (isReserved(appointment)) return untilVisitIsOver(appointment);
      return overdue(appointment, 'confirmation', stage.since + policy.confirmationWait);
    case 'confirmed':
      return untilVisitIsOver(appointment);
    case 'in_progress':
      return overdue(appointment, 'visit', visitOverAt(appointment));
    case 'completed':
      return [];
    default:
      return stage.phase satisfies never;
  }
}

function untilVisitIsOver(appointment: Appointment): Deadline[] {
  return [...visitReminders(appointment), ...overdue(appointment, 'visit', visitOverAt(appointment))];
}

/** If its time is missing or impossible, nobody knows when it is over: the provider has as long to name the time as to confirm it. */
function visitOverAt({ known, stage, policy }: Appointment): number {
  const end = Date.parse(known?.endAt ?? known?.startAt ?? '');
  if (!(end <= stage.since + farthestDate)) return stage.since + policy.confirmationWait;
  return end + (known && isWalkIn(known) ? policy.walkInOverdue : policy.visitOverdue);
}

/** Attention first; and what has stood still for long after that is given up. */
function overdue(appointment: Appointment, name: 'confirmation' | 'visit', at: number): Deadline[] {
  const missed = deadline(appointment, name, at);
  if (!appointment.handledDeadlines.includes(missed.key)) return [missed];
  const since = Math.max(at, appointment.stage.since);
  return [end(appointment, 'give_up', since + appointment.policy.giveUpAfter)];
}

/**
 * An action that cannot be undone waits until the service has answered, for a day at most; and without a limit
 * until it is known what came of a booking.
 */
function end(appointment: Appointment, name: 'choice' | 'give_up', from: number): Deadline {
  const { doubtUntil, unanswered } = appointment;
  if (doubtUntil !== undefined) return deadline(appointment, name, Math.max(from, readFrom(appointment, doubtUntil)));
  const at = unanswered ? Math.max(from, Math.min(nextRead(appointment), from + longestOutage)) : from;
  return deadline(appointment, name, at);
}

function choiceReminders(appointment: Appointment): Deadline[] {
  const { stage, policy, requested } = appointment;
  if (appointment.notifies !== true || !requested) return [];
  const spans = policy.choiceReminders.filter((span) => span < policy.choiceWait);
  return spans.map((span, index) => deadline(appointment, 'choice_reminder', stage.since + span, index + 1));
}

/** One that lay in the past when the appointment was made has nothing to say. */
function visitReminders(appointment: Appointment): Deadline[] {
  const { stage, policy } = appointment;
  const start = Date.parse(stage.startAt ?? '');
  if (appointment.notifies !== true) return [];
  const all = policy.visitReminders.map((span, index) =>
    deadline(appointment, 'visit_reminder', start - span, index + 1),
  );
  return all.filter(({ at }) => at > stage.since);
}

function reads(appointment: Appointment): Deadline[] {
  const { doubtUntil, askAgainAt, lookedAt, fallen, absentSince } = appointment;
  const found: Deadline[] = [];
  const read = (at: number) => found.push({ name: 'read_the_appointment', key: '', at, ordinal: 1 });
  // What cannot be put in order is asked at once, but not again and again while the service is silent.
  const isUnconfirmed = appointment.reported && askAgainAt === undefined && endOf(appointment) !== undefined;
  if (appointment.unclear || isUnconfirmed || (fallen && !fallen.asked)) read(readFrom(appointment, atOnce));
  for (const at of [doubtUntil, askAgainAt]) if (at !== undefined) read(readFrom(appointment, at));
  if (absentSince !== undefined) {
    const believedAt = absentSince + absenceBelieved;
    read(lookedAt < believedAt ? believedAt : nextRead(appointment));
  }
  const isAsking =
    appointment.stage.phase === 'awaiting_confirmation' ||
    appointment.missing > 0 ||
    appointment.attention.some(({ reason }) => reason === 'visit_overdue') ||
    isOpenWalkIn(appointment);
  if (isAsking) read(nextRead(appointment));
  return found;
}

/** The first read from that moment on that does not come too soon for a silent service. */
function readFrom(appointment: Appointment, at: number): number {
  return appointment.unanswered ? Math.max(at, nextRead(appointment)) : at;
}

/** Each read that says nothing new doubles the pause. */
function nextRead({ lookedAt, silentReads, policy }: Appointment): number {
  const { firstPoll, longestPoll } = policy;
  return lookedAt + doubled(firstPoll, silentReads, Math.max(longestPoll, firstPoll));
}

function deadline({ stage }: Appointment, name: DeadlineName, at: number, ordinal = 1): Deadline {
  return { name, key: `${stage.phase}/${stage.startAt ?? ''}/${stage.since}/${name}.${ordinal}`, at, ordinal };
}

/** Reads and reminders end nothing that somebody waits for. */
const noLimits: readonly DeadlineName[] = ['read_the_appointment', 'choice_reminder', 'visit_reminder'];

/** Until when the present wait lasts, as far as somebody waits for it. */
export function waitingUntil(appointment: Appointment): number | undefined {
  return deadlinesOf(appointment).find(({ name }) => !noLimits.includes(name))?.at;
}

/** Acts on what is due. Silence may only mean a lost webhook: the service is asked first. */
export async function handlePassedDeadlines(appointment: Appointment): Promise<void> {
  settle(appointment);
  const due = () => deadlinesOf(appointment).filter(({ at }) => isDue(appointment, at));
  const { ending, unclear, unanswered } = appointment;
  // Something was received, perhaps after the end, that only the service can put in order.
  const mayContradict = ending !== 'abandoned' && unclear && !unanswered;
  if (due().length === 0 && !mayContradict) return;
  await readAppointment(appointment);
  settle(appointment);
  for (const deadline of due()) handleDeadline(appointment, deadline, timeOf(appointment));
}

/** Ends it if that follows from what is known, unless only a webhook has reported it. */
function settle(appointment: Appointment): void {
  if (!canEnd(appointment) || appointment.reported) return;
  const ending = endOf(appointment);
  if (ending !== undefined) appointment.ending = ending;
}

function endOf({ stage, identified, requested }: Appointment): 'completed' | 'cancelled' | undefined {
  if (stage.phase === 'completed') return 'completed';
  // A product that never requested an appointment need not choose another one.
  return identified && !requested && stage.phase === 'awaiting_choice' ? 'cancelled' : undefined;
}

/** An end is the last of what is due. */
function handleDeadline(appointment: Appointment, due: Deadline, now: number): void {
  switch (due.name) {
    case 'read_the_appointment':
      return;
    case 'choice_reminder':
    case 'visit_reminder':
      return remind(appointment, due, now);
    // Neither is due before the service has answered, or has been silent for a day: it may know of an appointment that was not reported.
    case 'choice':
      appointment.ending = 'expired';
      return;
    case 'give_up':
      appointment.ending = 'unresolved';
      return;
    case 'confirmation':
      return ask(appointment, due, 'confirmation_overdue', now);
    case 'visit':
      return ask(appointment, due, 'visit_overdue', now);
    default:
      return due.name satisfies never;
  }
}

function remind(appointment: Appointment, { name, ordinal, key }: Deadline, now: number): void {
  appointment.handledDeadlines.push(key);
  note(appointment, `${words(name)} ${ordinal}`, now);
  const { stage, known } = appointment;
  if (name === 'visit_reminder') {
    const { startAt = '' } = stage;
    const head = headOf(appointment, `${known?.appointmentId}/${startAt}/${ordinal}`, name, now);
    return enqueue(appointment, { ...head, type: 'visit_reminder', data: { reminder: ordinal, startAt } });
  }
  const until = iso(waitingUntil(appointment) ?? now);
  const head = headOf(appointment, `${iso(stage.since)}/${ordinal}`, name, now);
  enqueue(appointment, { ...head, type: 'choice_reminder', data: { reminder: ordinal, until } });
}

function ask(appointment: Appointment, { key }: Deadline, reason: AppointmentAttentionReason, now: number): void {
  appointment.handledDeadlines.push(key);
  raise(appointment, reason, now);
}
