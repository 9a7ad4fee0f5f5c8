import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import type { EarlierRun } from '../../protocol/signal-or-start.js';
import { bookAppointmentId } from '../../protocol/ids.js';
import type { AppointmentResult, SlotQuestion, Slots } from '../../protocol/appointment/messages.js';
import { settlingAfter } from '../../protocol/settling.js';
import type { ActivityDependencies } from '../dependencies.js';
import {
  bookOnce,
  moveOnce,
  requestOnce,
  type BookSlot,
  type RequestAppointment,
  type RescheduleAppointment,
  cancelOnce,
  type CancelAppointment,
} from './booking.js';
import { readWithOrder, type AppointmentReading } from './reading.js';
import { slotsFor } from './slots.js';
import { endingWithActivity } from '../attempt.js';
import { lastResultOf } from '../workflow-runs.js';
import { asFailures, ifAnswered } from '../failures.js';
import { hasEndpoint } from '../notifications/notifications.js';

/** Information that a run needs before it does anything. */
export interface AppointmentFound {
  /** Absent if the service did not answer. */
  reading?: AppointmentReading;
  notifies: boolean;
  /** The result of the last run for the same order. */
  previous?: AppointmentResult;
}

/** Appointments for a blood draw, at home or at a service centre. */
export function appointmentActivities(dependencies: ActivityDependencies) {
  const { service, temporal, target } = dependencies;
  const notifies = hasEndpoint(target);
  return {
    async readAppointment(orderId: string, type?: string): Promise<AppointmentReading> {
      return asFailures('ServiceRefused', () => readWithOrder(service, orderId, type));
    },

    /** An error of Temporal's is rethrown, so it is retried; an error of the service delays nothing. */
    async identifyAppointment(orderId: string, earlier?: EarlierRun, type?: string): Promise<AppointmentFound> {
      const previous = await lastResultOf<AppointmentResult>(temporal, bookAppointmentId(orderId), earlier);
      const read = () => readWithOrder(service, orderId, type);
      const reading = await ifAnswered('appointment', { orderId }, read);
      return { notifies, ...(previous && { previous }), ...(reading && { reading }) };
    },

    async findSlots({ orderId, ...question }: SlotQuestion & { orderId: string }): Promise<Slots> {
      return asFailures('AvailabilityRefused', () => slotsFor(service, orderId, question));
    },

    async bookSlot(input: BookSlot): Promise<AppointmentSnapshot> {
      return asFailures('BookingRefused', () => bookOnce(dependencies, input), settlingAfter(input.bookingTimeout));
    },

    async requestAppointment(input: RequestAppointment): Promise<AppointmentSnapshot> {
      return asFailures('BookingRefused', () => requestOnce(dependencies, input), settlingAfter(input.bookingTimeout));
    },

    async rescheduleAppointment(input: RescheduleAppointment): Promise<AppointmentSnapshot> {
      return asFailures('RescheduleRefused', () => moveOnce(dependencies, input), settlingAfter(input.bookingTimeout));
    },

    /** null if there is nothing left to cancel. */
    async cancelAppointment(input: CancelAppointment): Promise<AppointmentSnapshot | null> {
      return asFailures('CancellationRefused', () =>
        endingWithActivity((options) => cancelOnce(service, input, options)),
      );
    },
  };
}
