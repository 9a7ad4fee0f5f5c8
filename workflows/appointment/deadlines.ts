import type { Moment } from '../alarm.js';
import type { AppointmentCase } from './case.js';

/** The moments at which silence means something. They derive from what happened and from the policy: no clock here. */

export type DeadlineName =
  /** Ask the service: a provider's word is awaited, a visit is overdue, or what was heard cannot be put in order. */
  'read_the_appointment' | 'choice_reminder' | 'choice' | 'confirmation' | 'visit_reminder' | 'visit' | 'give_up';

export interface Deadline extends Moment {
  name: DeadlineName;
  /** What it is met by, once for each stage. */
  key: string;
  /** Which of several reminders, from 1. */
  ordinal: number;
  /** Of an end, which waits for the service's answer: when it comes without one; milliseconds since the epoch. */
  latest?: number;
}

/** Those that are not met yet, the earliest first. */
export function deadlinesOf(kase: AppointmentCase): Deadline[] {
  if (kase.ending !== undefined) return [];
  const found = [...reads(kase), ...stageDeadlines(kase)];
  const open = found.filter(({ key, at }) => !kase.met.includes(key) && Number.isFinite(at));
  return open.toSorted((a, b) => a.at - b.at);
}

function stageDeadlines(kase: AppointmentCase): Deadline[] {
  const { stage, policy } = kase;
  switch (stage.phase) {
    case 'awaiting_choice':
      return [...choiceReminders(kase), end(kase, 'choice', stage.since + policy.choiceWait)];
    case 'awaiting_confirmation':
      return overdue(kase, 'confirmation', stage.since + policy.confirmationWait);
    case 'confirmed':
      return [...visitReminders(kase), ...overdue(kase, 'visit', visitOverAt(kase))];
    case 'in_progress':
      return overdue(kase, 'visit', visitOverAt(kase));
    case 'completed':
      return [];
    default:
      return stage.phase satisfies never;
  }
}

/** Nobody knows when an appointment without a time is over: the provider has as long to name it as to confirm it. */
function visitOverAt({ known, stage, policy }: AppointmentCase): number {
  const end = Date.parse(known?.endAt ?? known?.startAt ?? '');
  return Number.isNaN(end) ? stage.since + policy.confirmationWait : end + policy.visitOverdue;
}

/** Attention first; and what has stood still for long after that is given up. */
function overdue(kase: AppointmentCase, name: 'confirmation' | 'visit', at: number): Deadline[] {
  const missed = deadline(kase, name, at);
  if (!kase.met.includes(missed.key)) return [missed];
  const since = Math.max(at, kase.stage.since);
  return [end(kase, 'give_up', since + kase.policy.giveUpAfter)];
}

/** What cannot be undone waits until the service has answered, for a day at most. */
function end(kase: AppointmentCase, name: 'choice' | 'give_up', from: number): Deadline {
  const latest = from + longestOutage;
  const at = kase.unanswered ? Math.max(from, Math.min(nextRead(kase), latest)) : from;
  return { ...deadline(kase, name, at), latest };
}

const longestOutage = 24 * 60 * 60_000;

function choiceReminders(kase: AppointmentCase): Deadline[] {
  const { stage, policy, wanted } = kase;
  if (kase.notifies !== true || !wanted) return [];
  const spans = policy.choiceReminders.filter((span) => span < policy.choiceWait);
  return spans.map((span, index) => deadline(kase, 'choice_reminder', stage.since + span, index + 1));
}

/** One that lay in the past when the appointment was made has nothing to say. */
function visitReminders(kase: AppointmentCase): Deadline[] {
  const { stage, policy } = kase;
  const start = Date.parse(stage.startAt ?? '');
  if (kase.notifies !== true) return [];
  const all = policy.visitReminders.map((span, index) => deadline(kase, 'visit_reminder', start - span, index + 1));
  return all.filter(({ at }) => at > stage.since);
}

function reads(kase: AppointmentCase): Deadline[] {
  const { doubtUntil, lookedAt, fallen } = kase;
  const found: Deadline[] = [];
  const read = (at: number) => found.push({ name: 'read_the_appointment', key: '', at, ordinal: 1 });
  // What cannot be put in order is asked at once, but not again and again while the service is silent.
  if (kase.unclear || (fallen && !fallen.asked)) read(kase.unanswered ? nextRead(kase) : lookedAt);
  if (doubtUntil !== undefined) read(kase.unanswered ? Math.max(doubtUntil, nextRead(kase)) : doubtUntil);
  const isAsking = kase.stage.phase === 'awaiting_confirmation' || kase.missing > 0 || isOverdue(kase);
  if (isAsking) read(nextRead(kase));
  return found;
}

function isOverdue({ attention }: AppointmentCase): boolean {
  return attention.some((reason) => reason === 'confirmation_overdue' || reason === 'visit_overdue');
}

/** Each read that says nothing new doubles the pause. */
function nextRead({ lookedAt, silentReads, policy }: AppointmentCase): number {
  const { firstPoll, longestPoll } = policy;
  return lookedAt + Math.min(firstPoll * 2 ** Math.min(silentReads, 30), Math.max(longestPoll, firstPoll));
}

function deadline({ stage }: AppointmentCase, name: DeadlineName, at: number, ordinal = 1): Deadline {
  return { name, key: `${stage.phase}/${stage.startAt ?? ''}/${stage.since}/${name}.${ordinal}`, at, ordinal };
}

/** Until when the present wait lasts, as far as somebody waits for it. */
export function waitingUntil(kase: AppointmentCase): number | undefined {
  const waits: readonly DeadlineName[] = ['choice', 'confirmation', 'visit', 'give_up'];
  return deadlinesOf(kase).find(({ name }) => waits.includes(name))?.at;
}
