import { LabOperationsError, Refusal, ServiceDown, type Words } from '../errors.js';

/** No workflow has ever followed an appointment of this order, or it is older than the namespace's retention. */
export class AppointmentNotFound extends LabOperationsError {
  override readonly name = 'AppointmentNotFound';
}

/** The start, a choice or the policy breaks a rule that is known here; nothing was changed. */
export class AppointmentInvalid extends Refusal {
  override readonly name = 'AppointmentInvalid';
}

/** Nothing is arranged for this order any more: `start` again, unless it was drawn or has ended. */
export class AppointmentEnded extends Refusal {
  override readonly name = 'AppointmentEnded';
}

/** The order shows no patient address, which an appointment is made for. */
export class AddressMissing extends Refusal {
  override readonly name = 'AddressMissing';
}

/** The service shows no slots for this order's address: its message says why. */
export class AvailabilityRefused extends Refusal {
  override readonly name = 'AvailabilityRefused';
}

/** The slot is gone, or its booking key was not taken: ask for the slots again and let the person choose another one. */
export class SlotGone extends Refusal {
  override readonly name = 'SlotGone';
}

/** The service will not make an appointment for this order: it is collected otherwise, say, or too far on. */
export class BookingRefused extends Refusal {
  override readonly name = 'BookingRefused';
}

/** The order has an appointment already, perhaps made elsewhere: see `state`; reschedule or cancel it. */
export class AppointmentExists extends Refusal {
  override readonly name = 'AppointmentExists';
}

/** The order has no appointment that could be moved, or be cancelled to choose another one. */
export class NothingBooked extends Refusal {
  override readonly name = 'NothingBooked';
}

/** The appointment stays as it is: where it cannot be moved, cancel it with `rebook` and choose another slot. */
export class RescheduleRefused extends Refusal {
  override readonly name = 'RescheduleRefused';
}

/** The service keeps the appointment: the reason is none of its list, or somebody is on the way. */
export class CancellationRefused extends Refusal {
  override readonly name = 'CancellationRefused';
}

/** The workflow was terminated, or timed out; the message says which. */
export class AppointmentInterrupted extends LabOperationsError {
  override readonly name = 'AppointmentInterrupted';
}

/** What the failures of the appointment workflow are called in the product. */
export const appointmentWords: Words = {
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
    // An attempt was held up for too long to send anything.
    AttemptOutdated: ServiceDown,
    // The run ended between accepting a command and carrying it out.
    AcceptedUpdateCompletedWorkflow: AppointmentEnded,
  },
};
