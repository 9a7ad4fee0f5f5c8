import type { AppointmentSnapshot } from '../service/appointment-snapshot.js';
import { bookAppointmentId } from '../protocol/ids.js';
import type { AppointmentResult, Slots } from '../protocol/appointment/messages.js';
import { settlingAfter } from '../protocol/order/policy.js';
import type { ActivityDependencies } from './activities.js';
import {
  bookOnce,
  cancelOnce,
  moveOnce,
  requestOnce,
  type BookSlot,
  type CancelAppointment,
  type RequestAppointment,
  type RescheduleAppointment,
} from './appointment-changes.js';
import { readIfReadable, readWithOrder, type AppointmentReading } from './appointment-reading.js';
import { slotsFor } from './appointment-slots.js';
import { endingWithActivity } from './attempt.js';
import { lastResultOf } from './workflow-runs.js';
import { asFailures } from './failures.js';
import { hasEndpoint } from './notifications.js';

/** What a run learns before it does anything. */
export interface AppointmentFound {
  /** Missing where the service could not be asked. */
  reading?: AppointmentReading;
  notifies: boolean;
  /** What the last run for the same order ended with. */
  previous?: AppointmentResult;
}

/** Appointments for a blood draw at home. */
export function appointmentActivities(dependencies: ActivityDependencies) {
  const { service, temporal, target } = dependencies;
  const notifies = hasEndpoint(target);
  return {
    async readAppointment(orderId: string): Promise<AppointmentReading> {
      return asFailures('ServiceRefused', () => readWithOrder(service, orderId, notifies));
    },

    /** An error of Temporal's rises as it is, which makes it retried; one of the service holds nobody up. */
    async identifyAppointment(orderId: string): Promise<AppointmentFound> {
      const previous = await lastResultOf<AppointmentResult>(temporal, bookAppointmentId(orderId));
      const reading = await readIfReadable(service, orderId, notifies);
      return { notifies, ...(previous && { previous }), ...(reading && { reading }) };
    },

    async findSlots({ orderId, startDate }: { orderId: string; startDate?: string }): Promise<Slots> {
      return asFailures('AvailabilityRefused', () => slotsFor(service, orderId, startDate));
    },

    async bookSlot(input: BookSlot): Promise<AppointmentSnapshot> {
      return asFailures('BookingRefused', () => bookOnce(service, input), settlingAfter(input.bookingTimeout));
    },

    async requestAppointment(input: RequestAppointment): Promise<AppointmentSnapshot> {
      return asFailures('BookingRefused', () => requestOnce(service, input), settlingAfter(input.bookingTimeout));
    },

    async rescheduleAppointment(input: RescheduleAppointment): Promise<AppointmentSnapshot> {
      return asFailures('RescheduleRefused', () => moveOnce(service, input), settlingAfter(input.bookingTimeout));
    },

    /** null where there is nothing to cancel any more. */
    async cancelAppointment(input: CancelAppointment): Promise<AppointmentSnapshot | null> {
      return asFailures('CancellationRefused', () =>
        endingWithActivity((options) => cancelOnce(service, input, options)),
      );
    },
  };
}
