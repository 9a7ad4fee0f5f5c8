import type { EarlierRun } from '../../protocol/earlier-run.js';
import type {
  AppointmentCancellation,
  AppointmentRequest,
  AppointmentState,
  SlotChoice,
  SlotQuestion,
  Slots,
} from '../../protocol/appointment/messages.js';
import type { Cancellable, EntityRun } from '../entity/loop.js';
import type { Appointment } from './appointment.js';

/** A command of the product. */
export type AppointmentCommand =
  | { kind: 'findSlots'; question: SlotQuestion }
  | { kind: 'chooseSlot'; choice: SlotChoice }
  | { kind: 'requestAppointment'; request: AppointmentRequest }
  | { kind: 'reschedule'; choice: SlotChoice }
  | { kind: 'cancel'; cancellation: AppointmentCancellation };

export type AppointmentAnswer = Slots | AppointmentState;

/** One run of `bookAppointment`. */
export interface AppointmentRun extends EntityRun<AppointmentCommand, AppointmentAnswer>, Cancellable {
  appointment: Appointment;
  earlierRun: EarlierRun | undefined;
}
