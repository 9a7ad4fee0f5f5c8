import type { AppointmentShown } from '../../client/index.js';
import type { Field } from './forms.js';
import { html, moment, type Html } from './html.js';
import { FieldProblem } from './problems.js';

/* A visit at home is refunded only if it is cancelled in time, by itself or with its order. */

function isTooLate(appointment: AppointmentShown | undefined): boolean {
  return appointment?.refundableUntil !== undefined && Date.parse(appointment.refundableUntil) <= Date.now();
}

export function refundSentence(appointment: AppointmentShown | undefined): Html {
  if (isTooLate(appointment)) {
    return html`<p class="warning">It is too late for a refund: the visit is charged in full.</p>`;
  }
  if (appointment?.refundableUntil === undefined) return html``;
  return html`<p>If you cancel before ${moment(appointment.refundableUntil)}, you are refunded in full.</p>`;
}

/** The box to tick when it is too late. */
export function refundField(appointment: AppointmentShown | undefined): Field[] {
  return isTooLate(appointment)
    ? [{ name: 'without_refund', label: 'Cancel without a refund', type: 'check', required: true }]
    : [];
}

/** The moment may have passed since the page was shown. */
export function requireConsent(appointment: AppointmentShown | undefined, entered: Record<string, string>): void {
  if (isTooLate(appointment) && entered['without_refund'] !== 'yes') {
    throw new FieldProblem('without_refund', 'must be ticked');
  }
}
