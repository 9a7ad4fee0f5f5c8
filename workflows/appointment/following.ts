import { announceFall, announceNews, clear, enqueue, headOf, raise } from './announcements.js';
import { note, openAppointment, type AppointmentCase } from './case.js';
import { deadlinesOf, waitingUntil, type Deadline } from './deadlines.js';
import type { AppointmentAttention } from './messages.js';
import { readAppointment } from './reading.js';

/** Acts on what is due. Silence may only mean a lost webhook: the service is asked first. */
export async function meetDeadlines(kase: AppointmentCase): Promise<void> {
  settle(kase);
  const due = () => deadlinesOf(kase).filter(({ at }) => at <= Date.now());
  if (due().length === 0 && !mayContradict(kase)) return;
  const isAnswered = await readAppointment(kase);
  settle(kase);
  for (const deadline of due()) meet(kase, deadline, isAnswered, Date.now());
}

/** Something was heard after the end that only the service can put in order. */
function mayContradict({ ending, unclear, unanswered }: AppointmentCase): boolean {
  return ending !== undefined && ending !== 'abandoned' && unclear && !unanswered;
}

/** What follows from what is known, without asking anybody. */
export function settle(kase: AppointmentCase): void {
  if (kase.ending !== undefined) return;
  if (kase.stage.phase === 'completed') kase.ending = 'completed';
  // Who never asked for an appointment need not choose another one.
  else if (kase.identified && !kase.wanted && kase.stage.phase === 'awaiting_choice') kase.ending = 'cancelled';
}

function meet(kase: AppointmentCase, due: Deadline, isAnswered: boolean, now: number): void {
  // An end was reached by one before it, or the read has brought another stage.
  if (kase.ending !== undefined || !deadlinesOf(kase).some(({ key, name }) => key === due.key && name === due.name))
    return;
  switch (due.name) {
    case 'read_the_appointment':
      return;
    case 'choice_reminder':
    case 'visit_reminder':
      return remind(kase, due, now);
    case 'choice':
      return endUnheard(kase, due, isAnswered, 'expired', now);
    case 'give_up':
      return endUnheard(kase, due, isAnswered, 'unresolved', now);
    case 'confirmation':
      return ask(kase, due, 'confirmation_overdue', now);
    case 'visit':
      return ask(kase, due, 'visit_overdue', now);
    default:
      return due.name satisfies never;
  }
}

function remind(kase: AppointmentCase, { name, ordinal, key }: Deadline, now: number): void {
  kase.met.push(key);
  note(kase, `${name.replaceAll('_', ' ')} ${ordinal}`, now);
  const { stage, known } = kase;
  if (name === 'visit_reminder') {
    const { startAt = '' } = stage;
    const head = headOf(kase, `${known?.appointmentId}/${startAt}/${ordinal}`, name, now);
    return enqueue(kase, { ...head, type: 'visit_reminder', data: { reminder: ordinal, startAt } });
  }
  const until = new Date(waitingUntil(kase) ?? now).toISOString();
  const head = headOf(kase, `${new Date(stage.since).toISOString()}/${ordinal}`, name, now);
  enqueue(kase, { ...head, type: 'choice_reminder', data: { reminder: ordinal, until } });
}

/** An appointment may have been made unheard: without the service's answer nothing ends, for a day at most. */
function endUnheard(
  kase: AppointmentCase,
  { latest = 0 }: Deadline,
  isAnswered: boolean,
  ending: 'expired' | 'unresolved',
  now: number,
): void {
  if (isAnswered || now >= latest) kase.ending = ending;
}

function ask(kase: AppointmentCase, { key }: Deadline, reason: AppointmentAttention, now: number): void {
  kase.met.push(key);
  raise(kase, reason, now);
}

/** Brings everything in line with what is known now: questions and announcements. */
export function review(kase: AppointmentCase): void {
  const now = Date.now();
  const { phase } = kase.stage;
  const isOpen = openAppointment(kase) !== undefined && kase.ending === undefined;
  if (!isOpen || phase !== 'awaiting_confirmation') clear(kase, ['confirmation_overdue'], now);
  if (!isOpen || kase.met.every((key) => !isOfStage(kase, key))) clear(kase, ['visit_overdue'], now);
  kase.met = kase.met.filter((key) => isOfStage(kase, key));
  announceNews(kase, now);
  // Why it fell away is asked of the order first.
  if (kase.ending !== undefined) delete kase.fallen;
  else if (kase.fallen?.asked) announceFall(kase, now);
}

/** Keys of deadlines begin with the stage that they belong to. */
function isOfStage({ stage }: AppointmentCase, key: string): boolean {
  return key.startsWith(`${stage.phase}/${stage.startAt ?? ''}/${stage.since}/`);
}
