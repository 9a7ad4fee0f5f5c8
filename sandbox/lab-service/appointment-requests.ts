import { Fields, maxLength, zip } from './validation.js';

/** The bodies of the appointment endpoints, validated. Each function throws the 422 with all faults of the body. */

/** The specification's limit on notes is an order's; the schema has the same for an appointment's. */
const LONGEST_NOTES = 1_000;

export type AppointmentAddress = ReturnType<typeof address>;

function address(fields: Fields) {
  return {
    first_line: fields.string('first_line'),
    second_line: fields.optionalString('second_line'),
    city: fields.string('city'),
    state: fields.string('state'),
    zip_code: fields.string('zip_code', zip),
    unit: fields.optionalString('unit'),
    access_notes: fields.optionalString('access_notes', maxLength(LONGEST_NOTES)),
  };
}

export function availabilityRequest(body: unknown): AppointmentAddress {
  const fields = Fields.ofBody(body);
  const asked = address(fields);
  fields.finish();
  return asked;
}

export type BookingRequest = ReturnType<typeof bookingRequest>;

export function bookingRequest(body: unknown) {
  const fields = Fields.ofBody(body);
  const request = {
    bookingKey: fields.string('booking_key'),
    notes: notes(fields),
    // The caller does not wait for the provider.
    isAsync: fields.optionalBoolean('async_confirmation') ?? false,
    // After so long without the provider's answer the booking is void; null: never.
    lapsesAfterMs: fields.optionalInteger('async_confirmation_timeout_millisecond', { min: 60_000, max: 172_800_000 }),
  };
  fields.optionalInteger('sync_confirmation_timeout_millisecond', { min: 1_000, max: 10_000 });
  fields.finish();
  return request;
}

export function requestedAppointment(body: unknown) {
  const fields = Fields.ofBody(body);
  const request = {
    address: address(fields.object('address')),
    provider: fields.string('provider'),
    notes: notes(fields),
  };
  fields.finish();
  return request;
}

export function rescheduleRequest(body: unknown): { bookingKey: string; notes: string | null } {
  const fields = Fields.ofBody(body);
  const request = { bookingKey: fields.string('booking_key'), notes: notes(fields) };
  fields.finish();
  return request;
}

function notes(fields: Fields): string | null {
  return fields.optionalString('appointment_notes', maxLength(LONGEST_NOTES));
}
