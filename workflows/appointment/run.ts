import type { Alarm } from '../alarm.js';
import type { CommandQueue } from '../command-queue.js';
import type { AppointmentCase } from './case.js';
import type {
  AppointmentCancellation,
  AppointmentState,
  AppointmentWish,
  SlotChoice,
  SlotQuestion,
  Slots,
} from './messages.js';

/** What the product asks for. */
export type AppointmentCommand =
  | { kind: 'findSlots'; question: SlotQuestion }
  | { kind: 'chooseSlot'; choice: SlotChoice }
  | { kind: 'requestAppointment'; wish: AppointmentWish }
  | { kind: 'reschedule'; choice: SlotChoice }
  | { kind: 'cancel'; cancellation: AppointmentCancellation };

export type AppointmentAnswer = Slots | AppointmentState;

/** One run of `bookAppointment`: the case it works on, and what wakes it. */
export interface AppointmentRun {
  kase: AppointmentCase;
  commands: CommandQueue<AppointmentCommand, AppointmentAnswer>;
  alarm: Alarm;
  /** Something was heard that the main loop has not looked at yet. */
  awake: boolean;
  /** An operator, or the product through Temporal, cancelled the workflow. */
  cancelled: boolean;
  /** Until when an end waits for its notifications to be delivered; milliseconds since the epoch. */
  tellUntil?: number;
}
