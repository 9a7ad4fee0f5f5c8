import { invalid, notFound, refused } from '../../service/lab-operations-error.js';
import { type ErrorMap } from '../errors.js';

/** No workflow follows an appointment of this order, or it is older than the namespace's retention. */
export class AppointmentNotFound extends notFound(
  'AppointmentNotFound',
  'Check the order id, or start the appointment.',
) {}

/** A field of the start, the choice or the policy breaks a rule. Nothing was changed. */
export class AppointmentInvalid extends invalid('AppointmentInvalid') {}

/** Nothing is being arranged for this order any more. */
export class AppointmentEnded extends refused(
  'AppointmentEnded',
  'Start the appointment again, unless blood was drawn or the order has ended.',
) {}

/** The order shows no patient address, which an appointment needs. */
export class AddressMissing extends refused('AddressMissing', 'Give the order a patient address at the lab service.') {}

/** The lab service offers no slots for this order's address or these service centres; the message says why. */
export class AvailabilityRefused extends refused(
  'AvailabilityRefused',
  'Request an appointment with `request`, ask for other service centres, or choose another way of collection.',
) {}

/** The slot is gone, or its booking key has expired. */
export class SlotGone extends refused('SlotGone', 'Ask for the slots again and let the person choose another one.') {}

/**
 * The lab service makes no appointment for this order, for example because it is collected differently or has
 * progressed too far.
 */
export class BookingRefused extends refused(
  'BookingRefused',
  "Look at the order and at the service's sentence in the error.",
) {}

/** The order has an appointment, perhaps made elsewhere, so no other can be booked. After `cancel`: another one was made meanwhile. */
export class AppointmentExists extends refused(
  'AppointmentExists',
  "Look at the appointment's state; reschedule or cancel it.",
) {}

/** The order has no appointment that could be moved or cancelled. */
export class NothingBooked extends refused('NothingBooked', 'Choose a slot first.') {}

/** The lab service does not move the appointment. It stays as it is. */
export class RescheduleRefused extends refused(
  'RescheduleRefused',
  'Cancel it with `rebook` (labops: `--rebook`) and choose another slot.',
) {}

/**
 * The lab service keeps the appointment: the reason is not on its list, or somebody is already on the way. Or it no longer shows a
 * visit to a service centre whose start has passed, so the blood may have been drawn.
 */
export class CancellationRefused extends refused('CancellationRefused', "Look at the appointment's state: it stays.") {}

/**
 * The appointment's workflow was terminated or timed out; the message says which. The service keeps what was booked.
 */
export class AppointmentInterrupted extends refused('AppointmentInterrupted', 'Start the appointment again.') {}

/** The client error for each failure type of the appointment workflow. */
export const appointmentErrorMap: ErrorMap = {
  notFound: AppointmentNotFound,
  invalid: AppointmentInvalid,
  ended: AppointmentEnded,
  interrupted: AppointmentInterrupted,
  refusals: {
    AppointmentEnded,
    AddressMissing,
    AvailabilityRefused,
    SlotUnavailable: SlotGone,
    BookingKeyExpired: SlotGone,
    BookingRefused,
    AppointmentExists,
    NothingBooked,
    RescheduleRefused,
    CancellationRefused,
    ServiceRefused: BookingRefused,
  },
};
