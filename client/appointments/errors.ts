import { LabOperationsError, Refusal, ServiceDown, type ErrorMap } from '../errors.js';

/** No workflow follows an appointment of this order, or it is older than the namespace's retention. */
export class AppointmentNotFound extends LabOperationsError {
  static readonly remedy = 'Check the order id, or start the appointment.';
  override readonly name = 'AppointmentNotFound';
}

/** A field of the start, the choice or the policy breaks a rule. Nothing was changed. */
export class AppointmentInvalid extends Refusal {
  static readonly remedy = 'Fix the fields named in the error.';
  override readonly name = 'AppointmentInvalid';
}

/** Nothing is being arranged for this order any more. */
export class AppointmentEnded extends Refusal {
  static readonly remedy = 'Start the appointment again, unless blood was drawn or the order has ended.';
  override readonly name = 'AppointmentEnded';
}

/** The order shows no patient address, which an appointment needs. */
export class AddressMissing extends Refusal {
  static readonly remedy = 'Give the order a patient address at the lab service.';
  override readonly name = 'AddressMissing';
}

/** The lab service offers no slots for this order's address or these service centres; the message says why. */
export class AvailabilityRefused extends Refusal {
  static readonly remedy =
    'Request an appointment with `request`, ask for other sites (a walk-in), or choose another way of collection.';
  override readonly name = 'AvailabilityRefused';
}

/** The slot is gone, or its booking key has expired. */
export class SlotGone extends Refusal {
  static readonly remedy = 'Ask for the slots again and let the person choose another one.';
  override readonly name = 'SlotGone';
}

/**
 * The lab service makes no appointment for this order, for example because it is collected differently or has
 * progressed too far.
 */
export class BookingRefused extends Refusal {
  static readonly remedy = "Look at the order and at the service's sentence in the error.";
  override readonly name = 'BookingRefused';
}

/** The order already has an appointment, perhaps made elsewhere. */
export class AppointmentExists extends Refusal {
  static readonly remedy = "Look at the appointment's state; reschedule or cancel it.";
  override readonly name = 'AppointmentExists';
}

/** The order has no appointment that could be moved or cancelled. */
export class NothingBooked extends Refusal {
  static readonly remedy = 'Choose a slot first.';
  override readonly name = 'NothingBooked';
}

/** The lab service does not move the appointment. It stays as it is. */
export class RescheduleRefused extends Refusal {
  static readonly remedy = 'Cancel it with `rebook` (labops: `--rebook`) and choose another slot.';
  override readonly name = 'RescheduleRefused';
}

/**
 * The lab service keeps the appointment: the reason is not on its list, or somebody is already on the way. Or it no longer shows a
 * visit to a service centre whose start has passed, so the blood may have been drawn.
 */
export class CancellationRefused extends Refusal {
  static readonly remedy = "Look at the appointment's state: it stays.";
  override readonly name = 'CancellationRefused';
}

/**
 * The appointment's workflow was terminated or timed out; the message says which. The service keeps what was booked.
 */
export class AppointmentInterrupted extends LabOperationsError {
  static readonly remedy = 'Start the appointment again.';
  override readonly name = 'AppointmentInterrupted';
}

/** The client error for each failure type of the appointment workflow. */
export const appointmentErrorMap: ErrorMap = {
  notFound: AppointmentNotFound,
  interrupted: AppointmentInterrupted,
  refusals: {
    InvalidCommand: AppointmentInvalid,
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
    // An attempt was delayed for too long to send anything.
    AttemptOutdated: ServiceDown,
    // The run ended between accepting a command and carrying it out.
    AcceptedUpdateCompletedWorkflow: AppointmentEnded,
  },
};
