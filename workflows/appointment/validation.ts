import type { ApplicationFailure } from '@temporalio/workflow';
import { whyNobodyComes } from '../../protocol/appointment/lifecycle.js';
import type {
  AppointmentCancellation,
  AppointmentRequest,
  SlotChoice,
  SlotQuestion,
} from '../../protocol/appointment/messages.js';
import { isAtSlot, slotOf } from '../../protocol/appointment/slots.js';
import { isCalendarDate } from '../../protocol/time.js';
import { refuse, refuseField } from '../entity/commands.js';
import { currentPhase, type Appointment, type AppointmentRun } from './appointment.js';
import { stateOf } from './view.js';

/** The conditions for accepting a command at all; a refusal here leaves no trace in the history. */

export function validateQuestion(run: AppointmentRun, question: SlotQuestion | undefined): void {
  const { startDate } = question ?? {};
  if (startDate !== undefined && !isCalendarDate(startDate))
    throw refuseField('startDate', 'must be a date that exists, written YYYY-MM-DD');
  checkPlace(question ?? {});
  requireOpen(run.appointment);
}

/** The distances that the service searches in, in miles. */
const radii: readonly unknown[] = [10, 20, 25, 50, 100];

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
  if (slotOf(slotId) === undefined)
    throw refuseField('slotId', 'must be the id of a slot, as findSlots (labops appointments slots) answers with it');
  checkNotes(notes);
  if (!choice || !isChosenSo(run.appointment, choice)) requireOpen(run.appointment);
}

/** The same command before the appointment ended. */
export function isChosenSo(appointment: Appointment, { slotId }: SlotChoice): boolean {
  return appointment.ending !== undefined && isAtSlot(stateOf(appointment).appointment, slotId);
}

export function validateRequest(run: AppointmentRun, request: AppointmentRequest | undefined): void {
  const { provider, notes } = request ?? {};
  if (!isText(provider) || !/^[\w.-]{1,64}$/.test(provider))
    throw refuseField('provider', 'must be a slug of the service');
  checkNotes(notes);
  requireOpen(run.appointment);
}

export function validateCancellation(run: AppointmentRun, cancellation: AppointmentCancellation | undefined): void {
  const { reasonId, notes, rebook } = cancellation ?? {};
  if (reasonId !== undefined && (!isText(reasonId) || reasonId === ''))
    throw refuseField('reasonId', 'must be a non-empty string');
  if (rebook !== undefined && typeof rebook !== 'boolean') throw refuseField('rebook', 'must be true or false');
  checkNotes(notes);
  if (!isCancelledSo(run.appointment, cancellation ?? {})) requireOpen(run.appointment);
}

/** The same command before it has ended the appointment, or it was cancelled elsewhere. */
export function isCancelledSo({ ending }: Appointment, { rebook }: AppointmentCancellation): boolean {
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
