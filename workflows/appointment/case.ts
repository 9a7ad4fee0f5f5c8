import type { AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import { canonicalJson } from '../canonical-json.js';
import { isOpen, visitPhaseOf, type OrderSays, type VisitPhase } from './lifecycle.js';
import type { AppointmentAttention, AppointmentEntry, AppointmentOutcome, AppointmentPhase } from './messages.js';
import type { AppointmentNotification } from './notifications.js';
import { resolveAppointmentPolicy, type ResolvedAppointmentPolicy } from './policy.js';
import { compareHeard, said } from './state.js';

/**
 * Everything that is known of an order's appointments, and how each thing that is learnt changes it. Plain JSON without
 * a clock: it goes through continue-as-new as it is. Times are milliseconds since the epoch.
 */
export interface AppointmentCase {
  orderId: string;
  policy: ResolvedAppointmentPolicy;
  /** The product asked for an appointment. */
  wanted: boolean;
  /** When it began to: an end is told once for each time that it did. */
  wantedAt?: number;
  /** The service was asked what there is. */
  identified: boolean;
  /** How the last run for the same order ended, and with which appointment. */
  before?: { outcome: AppointmentOutcome; appointmentId?: string };
  userId?: string;
  /** Whether the worker has a target for notifications. Known with the first read. */
  notifies?: boolean;
  /** The present appointment, or the last one where it was cancelled. */
  known?: AppointmentSnapshot;
  /** The last one that the service did not show any more: a late webhook of it is no proof that it is back. */
  goneId?: string;
  /** How much news webhooks brought: an answer that was asked for before some of it may be older than that. */
  heard: number;
  /** Something was heard that only the service can put in order. */
  unclear: boolean;
  /** Reads in a row that showed no appointment though there is one. */
  missing: number;
  /** Where it stands, for which time, and since when. */
  stage: { phase: LivePhase; startAt?: string; since: number };
  /** When something new was learnt, or the service was last asked. */
  lookedAt: number;
  /** Reads since then that said nothing new. */
  silentReads: number;
  /** The service did not answer the last time. */
  unanswered: boolean;
  /** A booking whose outcome nobody knows may be under way at the service until then. */
  doubtUntil?: number;
  /** What the order said when it was last read. */
  order?: Exclude<OrderSays, 'open'>;
  /** The appointment that the product cancelled: that it is cancelled is no news. */
  cancelledId?: string;
  /** The appointment that fell away otherwise, until the order was asked why and the product told. */
  fallen?: { appointmentId: string; reason: 'cancelled' | 'not_shown'; asked?: true };
  /** Keys of deadlines that were acted on. */
  met: string[];
  attention: AppointmentAttention[];
  /** How often each question was raised: one that comes again is another notification. */
  raised: Partial<Record<AppointmentAttention, number>>;
  /** Ids of what was put into the outbox. */
  announced: string[];
  /** What the last `phase_changed` told, or whoever asked was answered. */
  shown?: string;
  outbox: AppointmentNotification[];
  /** Only its notifications keep it from ending. */
  isClosing?: boolean;
  journal: AppointmentEntry[];
  ending?: AppointmentOutcome;
}

/** A phase in which something is waited for, or `completed`, which ends the case. */
export type LivePhase = 'awaiting_choice' | VisitPhase;

const journalLength = 100;

export function openAppointmentCase(orderId: string, carried: unknown, now: number): AppointmentCase {
  if (carried != null) return carried as AppointmentCase;
  return {
    orderId,
    policy: resolveAppointmentPolicy(),
    wanted: false,
    identified: false,
    heard: 0,
    unclear: false,
    missing: 0,
    stage: { phase: 'awaiting_choice', since: now },
    lookedAt: now,
    silentReads: 0,
    unanswered: false,
    met: [],
    attention: [],
    raised: {},
    announced: [],
    outbox: [],
    journal: [],
  };
}

/** The appointment for which somebody means to come. */
export function openAppointment({ known }: AppointmentCase): AppointmentSnapshot | undefined {
  return known && isOpen(known) ? known : undefined;
}

export function currentPhase({ ending, stage }: AppointmentCase): AppointmentPhase {
  return ending ?? stage.phase;
}

export function note(kase: AppointmentCase, what: string, now: number): void {
  kase.journal = [...kase.journal, { at: new Date(now).toISOString(), what }].slice(-journalLength);
}

/** Takes in what a webhook told. Says whether anything has to be done about it. */
export function hearOf(kase: AppointmentCase, heard: AppointmentSnapshot, now: number): boolean {
  if (heard.userId !== undefined) kase.userId ??= heard.userId;
  const { known, goneId } = kase;
  const compared = !known && heard.appointmentId === goneId ? 'unclear' : compareHeard(known, heard);
  if (compared === 'nothing') return false;
  kase.heard += 1;
  if (compared === 'unclear') kase.unclear = true;
  else learn(kase, heard, now);
  return true;
}

/**
 * Takes in what the service answered to a read or a command: the appointment as it was when that was asked.
 * @param asked `heard` of when it was asked: a webhook that came meanwhile may be the later one
 * @returns whether it is news
 */
export function takeAnswer(kase: AppointmentCase, answer: AppointmentSnapshot, asked: number, now: number): boolean {
  if (answer.userId !== undefined) kase.userId ??= answer.userId;
  kase.missing = 0;
  const compared = kase.heard === asked ? 'newer' : compareHeard(kase.known, answer);
  if (compared === 'nothing') return false;
  if (compared === 'unclear') kase.unclear = true;
  if (kase.known && canonicalJson(said(kase.known)) === canonicalJson(said(answer))) return false;
  learn(kase, answer, now);
  return true;
}

/** So often in a row the service has to show no appointment before one that it told of is believed to be gone. */
const believedMissing = 2;

/** The service shows no appointment. @returns whether it is news */
export function takeNone(kase: AppointmentCase, asked: number, now: number): boolean {
  const { known } = kase;
  // Those at a service centre are told of, and cannot be read (docs/lab-service.md).
  if (!known || !isOpen(known) || known.type === 'patient_service_center' || kase.heard !== asked) return false;
  kase.missing += 1;
  if (kase.missing < believedMissing) return false;
  note(kase, 'the service shows no appointment any more', now);
  forget(kase, now);
  kase.fallen = { appointmentId: known.appointmentId, reason: 'not_shown' };
  return true;
}

/** The appointment that is known is not there any more. */
export function forget(kase: AppointmentCase, now: number): void {
  if (kase.known) kase.goneId = kase.known.appointmentId;
  delete kase.known;
  kase.missing = 0;
  enterStage(kase, now);
}

function learn(kase: AppointmentCase, snapshot: AppointmentSnapshot, now: number): void {
  const before = kase.known;
  kase.known = snapshot;
  kase.missing = 0;
  kase.lookedAt = now;
  kase.silentReads = 0;
  kase.unanswered = false;
  const { appointmentId, status = 'unknown', startAt } = snapshot;
  const hasFallen = before !== undefined && isOpen(before) && visitPhaseOf(snapshot) === 'cancelled';
  if (hasFallen && appointmentId !== kase.cancelledId) kase.fallen = { appointmentId, reason: 'cancelled' };
  else if (isOpen(snapshot)) delete kase.fallen;
  if (before?.status !== status || before.startAt !== startAt || before.appointmentId !== appointmentId) {
    note(kase, startAt === undefined ? status : `${status}, for ${startAt}`, now);
  }
  enterStage(kase, now);
  reopen(kase);
}

function enterStage(kase: AppointmentCase, now: number): void {
  const { known, stage } = kase;
  const visit = known ? visitPhaseOf(known) : 'cancelled';
  const phase = visit === 'cancelled' ? 'awaiting_choice' : visit;
  const startAt = phase === 'awaiting_choice' ? undefined : known?.startAt;
  if (phase === stage.phase && startAt === stage.startAt) return;
  kase.stage = { phase, since: now, ...(startAt !== undefined && { startAt }) };
}

/** Ends end the waiting, not the truth: what contradicts one before it was told to everybody is followed on. */
function reopen(kase: AppointmentCase): void {
  const { ending, stage } = kase;
  if (ending === undefined || ending === 'abandoned') return;
  const contradicts = ending === 'completed' ? stage.phase !== 'completed' : stage.phase !== 'awaiting_choice';
  if (!contradicts) return;
  delete kase.ending;
  delete kase.order;
}

/** Asked for again while the end of the one before is only being told: what nobody can choose for stays ended. */
export function want(kase: AppointmentCase, policy: ResolvedAppointmentPolicy | undefined, now: number): void {
  const { ending } = kase;
  const again = ending === 'cancelled' || ending === 'expired' || ending === 'unresolved';
  if (policy && (!kase.wanted || again)) kase.policy = policy;
  if (again) delete kase.wantedAt;
  wantFrom(kase, now);
  if (!again) return;
  delete kase.ending;
  delete kase.fallen;
  kase.stage = { ...kase.stage, since: now };
  note(kase, 'wanted again', now);
}

export function wantFrom(kase: AppointmentCase, now: number): void {
  kase.wanted = true;
  kase.wantedAt ??= now;
}
