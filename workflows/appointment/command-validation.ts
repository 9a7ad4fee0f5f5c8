import { ApplicationFailure } from '@temporalio/workflow';
import { slotOf } from './address.js';
import { currentPhase } from './case.js';
import { whyNobodyComes } from './lifecycle.js';
import type { AppointmentCancellation, AppointmentWish, SlotChoice, SlotQuestion } from './messages.js';
import type { AppointmentRun } from './run.js';

/** What a command must be to be accepted at all; a refusal here leaves no trace in the history. */

export function validateQuestion(run: AppointmentRun, question: SlotQuestion | undefined): void {
  const { startDate } = question ?? {};
  if (startDate !== undefined && !isDate(startDate)) throw refuse('startDate', 'must be a date, written YYYY-MM-DD');
  validateOpen(run);
}

export function validateChoice(run: AppointmentRun, choice: SlotChoice | undefined): void {
  const { slotId, notes } = choice ?? {};
  if (slotOf(slotId) === undefined) throw refuse('slotId', 'must be the id of a slot, as findSlots answers with it');
  checkNotes(notes);
  validateOpen(run);
}

export function validateWish(run: AppointmentRun, wish: AppointmentWish | undefined): void {
  const { provider, notes } = wish ?? {};
  if (!isText(provider) || !/^[\w.-]{1,64}$/.test(provider)) throw refuse('provider', 'must be a slug of the service');
  checkNotes(notes);
  validateOpen(run);
}

export function validateCancellation(run: AppointmentRun, cancellation: AppointmentCancellation | undefined): void {
  const { reasonId, notes, rebook } = cancellation ?? {};
  if (reasonId !== undefined && (!isText(reasonId) || reasonId === '')) throw refuse('reasonId', 'must be a text');
  if (rebook !== undefined && typeof rebook !== 'boolean') throw refuse('rebook', 'must be true or false');
  checkNotes(notes);
  validateOpen(run);
}

/** Counted in code points, as in the order's comments; docs/lab-service.md. */
const longestNotes = 1_000;

function checkNotes(notes: unknown): void {
  if (notes === undefined) return;
  if (!isText(notes) || Array.from(notes).length > longestNotes) {
    throw refuse('notes', `must be a text of at most ${longestNotes} characters`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isDate(value: unknown): boolean {
  return isText(value) && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
}

export function validateOpen({ kase }: Pick<AppointmentRun, 'kase'>): void {
  if (kase.ending !== undefined) throw ended({ kase });
}

export function ended({ kase }: Pick<AppointmentRun, 'kase'>): ApplicationFailure {
  const outcome = currentPhase(kase);
  const why = kase.ending === 'order_ended' && kase.order !== undefined ? ` (${whyNobodyComes[kase.order]})` : '';
  const message = `Nothing is arranged for this order any more: ${outcome}${why}`;
  return ApplicationFailure.nonRetryable(message, 'AppointmentEnded', { fields: [], reason: outcome });
}

/** A failure about one field, or about none. */
export function refuse(field: string, problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${field} ${problem}`, 'InvalidCommand', {
    fields: [{ field, message: problem }],
  });
}
