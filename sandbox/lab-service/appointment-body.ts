import { type Appointment, presentStatus } from './appointments.js';
import { inventedLocation } from './centres.js';
import type { Json } from './order-body.js';
import { slotZone, type DayOfSlots } from './slots.js';
import { calendarDate, timestamp } from './time.js';

/** Appointments and slots as the service writes them. */

/** Of the eight states of an appointment one has two names. */
const statusNames: Readonly<Record<string, string>> = { scheduled: 'confirmed' };

export function appointmentBody(appointment: Appointment) {
  const { order, slot } = appointment;
  const eventStatus = presentStatus(appointment);
  // The documentation shows these two without a zone, in UTC.
  const bare = (time: number | undefined): string | null =>
    time === undefined ? null : timestamp(time).replace('+00:00', '');
  return {
    id: appointment.id,
    user_id: order.userId,
    order_id: order.id,
    order_transaction_id: order.transactionId,
    address: appointment.address,
    location: inventedLocation,
    start_at: bare(slot?.start),
    end_at: bare(slot?.end),
    iana_timezone: slotZone,
    type: appointment.centre === null ? 'phlebotomy' : 'patient_service_center',
    provider: appointment.provider,
    status: statusNames[eventStatus] ?? eventStatus,
    provider_id: appointment.providerId,
    external_id: appointment.externalId,
    can_reschedule: true,
    appointment_notes: appointment.notes,
    event_status: eventStatus,
    event_data: null,
    events: appointment.events.map(({ at, status }) => ({
      created_at: timestamp(at),
      status,
      data: null,
    })),
  };
}

export function availabilityBody(days: readonly DayOfSlots[]): Json {
  return { slots: daysBody(days), timezone: slotZone };
}

/** Days at a service centre have its location, and their slots no price. */
export function daysBody(days: readonly (DayOfSlots & { readonly location?: Json })[]): Json[] {
  return days.map(({ day, slots, location = null }) => ({
    location,
    date: calendarDate(day),
    slots: slots.map(({ bookingKey, start, end, expiresAt, isPriority }) => ({
      booking_key: bookingKey,
      start: timestamp(start),
      end: timestamp(end),
      expires_at: timestamp(expiresAt),
      price: location === null ? (isPriority ? 79 : 49) : 0,
      is_priority: isPriority && location === null,
      num_appointments_available: 1,
    })),
  }));
}
