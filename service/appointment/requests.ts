import { z } from 'zod';
import { commentSchema, dateSchema, requiredTextSchema } from '../order/requests.js';

/*
 * The requests of the calls about appointments (docs/internals/lab-service.md; the specification names only `appointment_notes`).
 */

const zipCodeSchema = z.string().regex(/^\d{5}(-\d{4})?$/, 'must be five digits, or five, a hyphen and four');

/** In the United States only. Not an order's address: the zip is `zip_code`, and there is no country. */
export const appointmentAddressSchema = z.strictObject({
  first_line: requiredTextSchema,
  second_line: z.string().nullish(),
  city: requiredTextSchema,
  /** Two letters. */
  state: requiredTextSchema,
  zip_code: zipCodeSchema,
  unit: z.string().nullish(),
  access_notes: commentSchema,
});

export const availabilityFilterSchema = z.object({
  startDate: dateSchema.nullish(),
});

function milliseconds(least: number, most: number) {
  const rule = `must be a whole number from ${least} to ${most}`;
  return z.int(rule).min(least, rule).max(most, rule).nullish();
}

export const bookingRequestSchema = z.strictObject({
  /** From a slot of the availability. */
  booking_key: requiredTextSchema,
  /** For the visitor; at most 1,000 characters. */
  appointment_notes: commentSchema,
  /** true: do not wait for the provider's confirmation. Default false. */
  async_confirmation: z.boolean().optional(),
  /** How long a booking waits for the provider's confirmation: 1 to 10 s. */
  sync_confirmation_timeout_millisecond: milliseconds(1_000, 10_000),
  /** How long an unconfirmed booking lives: 1 minute to 48 hours. */
  async_confirmation_timeout_millisecond: milliseconds(60_000, 172_800_000),
});

export const appointmentRequestSchema = z.strictObject({
  address: appointmentAddressSchema,
  /** A slug of the company that will come; the list grows. */
  provider: requiredTextSchema,
  appointment_notes: commentSchema,
});

export const rescheduleRequestSchema = z.strictObject({
  booking_key: requiredTextSchema,
  appointment_notes: commentSchema,
});

export const cancellationRequestSchema = z.strictObject({
  /** From `cancellationReasons`. */
  cancellation_reason_id: requiredTextSchema,
  notes: z.string().nullish(),
});

export type AppointmentAddress = z.output<typeof appointmentAddressSchema>;
export type BookingRequest = z.output<typeof bookingRequestSchema>;
export type AppointmentRequest = z.output<typeof appointmentRequestSchema>;
export type RescheduleRequest = z.output<typeof rescheduleRequestSchema>;
export type CancellationRequest = z.output<typeof cancellationRequestSchema>;
