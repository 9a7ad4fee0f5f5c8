import { z } from 'zod';
import { answerAbout } from '../http/answers.js';
import {
  NotFound,
  ServiceRefused,
  BookingKeyExpired,
  FeatureNotEnabled,
  sentencesOf,
  SlotUnavailable,
} from '../errors.js';
import type { Transport } from '../http/http.js';
import { type CallOptions, type ServiceCall, collisionOf } from '../http/calls.js';
import * as fields from '../fields.js';
import { checkedRequest, commentSchema, dateSchema, requiredTextSchema } from '../validation.js';

/*
 * The requests of the calls about appointments (docs/internals/lab-service.md; the specification names only `appointment_notes`).
 */

export const zipCodeSchema = z.string().regex(/^\d{5}(-\d{4})?$/, 'must be five digits, or five, a hyphen and four');

/** In the United States only. Not an order's address: the zip is `zip_code`, and there is no country. */
const appointmentAddressSchema = z.strictObject({
  first_line: requiredTextSchema,
  second_line: z.string().nullish(),
  city: requiredTextSchema,
  /** Two letters. */
  state: requiredTextSchema,
  zip_code: zipCodeSchema,
  unit: z.string().nullish(),
  access_notes: commentSchema,
});

const availabilityFilterSchema = z.object({
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

const appointmentRequestSchema = z.strictObject({
  address: appointmentAddressSchema,
  /** A slug of the company that will come; the list grows. */
  provider: requiredTextSchema,
  appointment_notes: commentSchema,
});

const rescheduleRequestSchema = z.strictObject({
  booking_key: requiredTextSchema,
  appointment_notes: commentSchema,
});

const cancellationRequestSchema = z.strictObject({
  /** From `cancellationReasons`. */
  cancellation_reason_id: requiredTextSchema,
  notes: z.string().nullish(),
});

export type AppointmentAddress = z.output<typeof appointmentAddressSchema>;
export type BookingRequest = z.output<typeof bookingRequestSchema>;
export type AppointmentRequest = z.output<typeof appointmentRequestSchema>;
export type RescheduleRequest = z.output<typeof rescheduleRequestSchema>;
type CancellationRequest = z.output<typeof cancellationRequestSchema>;

/*
 * Appointments for a blood draw at home; those at a service centre (walk-ins.ts) have the same shapes. The specification
 * names the calls and `appointment_notes`; the shapes come from docs/internals/lab-service.md. As in the order, a field of the wrong
 * type counts as absent, and enumerations are open.
 */

const placeSchema = z.looseObject({
  first_line: fields.text,
  second_line: fields.text,
  city: fields.text,
  state: fields.text,
  /** Orders call it `zip`. */
  zip_code: fields.text,
  unit: fields.text,
  access_notes: fields.text,
});

export const appointmentSchema = z.looseObject({
  id: fields.id,
  user_id: fields.referredId,
  order_id: fields.referredId,
  order_transaction_id: fields.text,
  address: fields.part(placeSchema),
  location: fields.part(z.looseObject({ lng: fields.number, lat: fields.number })),
  /** Without a zone it is UTC. Null while no slot is given. */
  start_at: fields.timestamp,
  end_at: fields.timestamp,
  /** The zone in which the person at home reads a clock. */
  iana_timezone: fields.text,
  /** `phlebotomy`, `patient_service_center`, or one not known yet. */
  type: fields.text,
  /** A slug of the company that comes; the list grows. */
  provider: fields.text,
  provider_id: fields.text,
  /** The provider's own number; at a service centre the person is found by it. */
  external_id: fields.text,
  /** `confirmed`, `pending`, `reserved`, `in_progress`, `completed`, `cancelled`, or one not known yet. */
  status: fields.text,
  /** The same, with `scheduled` for `confirmed`. */
  event_status: fields.text,
  /** false: cancel it and book another one instead. */
  can_reschedule: fields.flag,
  appointment_notes: fields.text,
  events: fields.list(z.looseObject({ created_at: fields.timestamp, status: fields.text })),
});

export type Appointment = z.output<typeof appointmentSchema>;

const timeSlotSchema = z.looseObject({
  /** The key that books this slot; without it the slot cannot be booked. */
  booking_key: fields.text,
  start: fields.timestamp,
  end: fields.timestamp,
  /** When the booking key expires; not always stated. */
  expires_at: fields.timestamp,
  price: fields.number,
  is_priority: fields.flag,
  num_appointments_available: fields.number,
});

/** The place of a day's slots, at a service centre; null at home. */
const slotLocationSchema = z.looseObject({
  /** The site code. */
  code: fields.text,
  name: fields.text,
  address: fields.part(placeSchema),
  location: fields.part(z.looseObject({ lng: fields.number, lat: fields.number })),
  /** Miles. */
  distance: fields.number,
  iana_timezone: fields.text,
});

export const availabilitySchema = z.looseObject({
  /** One for each day; at home the service always answers 14 days. At service centres each has its location. */
  slots: fields.list(
    z.looseObject({
      location: fields.part(slotLocationSchema),
      /** YYYY-MM-DD, by `timezone`. */
      date: fields.text,
      slots: fields.list(timeSlotSchema),
    }),
  ),
  /** IANA zone name. */
  timezone: fields.text,
});

export type TimeSlot = z.output<typeof timeSlotSchema>;
export type Availability = z.output<typeof availabilitySchema>;

const cancellationReasonSchema = z.looseObject({
  id: fields.id,
  name: fields.text,
  is_refundable: fields.flag,
});

const cancellationReasonsSchema = fields.answeredList(cancellationReasonSchema).transform(({ items }) => items);

export type CancellationReason = z.output<typeof cancellationReasonSchema>;

interface AvailabilityFilter {
  /** First of the 14 days, YYYY-MM-DD; if absent, the service decides. */
  startDate?: string;
}

/**
 * Appointments of orders with the collection method `at_home_phlebotomy`. Every call rejects with a `ServiceError`;
 * requests are checked before anything is sent, and no error repeats a booking key. No call that changes something is
 * idempotent: after `AnswerLost` or `ServiceUnavailable`, read with `get` first.
 */
export interface Appointments {
  /** Slots near an address, for 14 days. */
  availability(address: AppointmentAddress, filter?: AvailabilityFilter, options?: CallOptions): Promise<Availability>;
  /**
   * Books a slot. `SlotUnavailable` if somebody else has it, `BookingKeyExpired` if the key has
   * expired; either asks for another slot. With `async_confirmation` the appointment stays `pending` until a webhook
   * confirms or cancels it.
   */
  book(orderId: string, request: BookingRequest, options?: CallOptions): Promise<Appointment>;
  /** Asks a provider to come at a time that it proposes; the appointment is `pending` until then. */
  request(orderId: string, request: AppointmentRequest, options?: CallOptions): Promise<Appointment>;
  /** Takes another slot; refused if `can_reschedule` is false. Rejects as `book` does. */
  reschedule(orderId: string, request: RescheduleRequest, options?: CallOptions): Promise<Appointment>;
  cancel(orderId: string, request: CancellationRequest, options?: CallOptions): Promise<Appointment>;
  /** The order's current appointment; `NotFound` if it has none. */
  get(orderId: string, options?: CallOptions): Promise<Appointment>;
  /** The reasons that `cancel` takes. */
  cancellationReasons(options?: CallOptions): Promise<CancellationReason[]>;
}

export function createAppointments(transport: Transport): Appointments {
  return {
    availability: async (address, filter = {}, options) => {
      const call = { method: 'POST', path: '/v3/order/phlebotomy/appointment/availability' } as const;
      const body = checkedRequest(call, appointmentAddressSchema, address);
      const { startDate } = checkedRequest(call, availabilityFilterSchema, filter);
      const query = { start_date: startDate };
      return transport.request({ ...call, query, body, options, answer: availabilitySchema });
    },
    book: async (orderId, request, options) => {
      const call = { method: 'POST', path: `${appointmentPath}/book`, params: { order_id: orderId } } as const;
      const body = checkedRequest(call, bookingRequestSchema, request);
      return takeSlot(transport, { ...call, body, options }, body.booking_key, appointmentOf(orderId));
    },
    request: async (orderId, request, options) => {
      const call = { method: 'POST', path: `${appointmentPath}/request`, params: { order_id: orderId } } as const;
      const body = checkedRequest(call, appointmentRequestSchema, request);
      return transport.request({ ...call, body, options, answer: appointmentOf(orderId) });
    },
    cancel: async (orderId, request, options) => {
      const call = { method: 'PATCH', path: `${appointmentPath}/cancel`, params: { order_id: orderId } } as const;
      const body = checkedRequest(call, cancellationRequestSchema, request);
      return transport.request({ ...call, body, options, answer: appointmentOf(orderId) });
    },
    ...commonCalls(transport, 'phlebotomy'),
  };
}

const appointmentPath = '/v3/order/{order_id}/phlebotomy/appointment';

/** The answer's shape, if it is about this order. */
export function appointmentOf(orderId: string): z.ZodType<Appointment> {
  return answerAbout(orderId, appointmentSchema, (appointment) => appointment.order_id);
}

/** The calls that do not differ between appointments at home and at a service centre. */
export function commonCalls(
  transport: Transport,
  kind: 'phlebotomy' | 'psc',
): Pick<Appointments, 'reschedule' | 'get' | 'cancellationReasons'> {
  const path = `/v3/order/{order_id}/${kind}/appointment`;
  return {
    reschedule: async (orderId, request, options) => {
      const call = { method: 'PATCH', path: `${path}/reschedule`, params: { order_id: orderId } } as const;
      const body = checkedRequest(call, rescheduleRequestSchema, request);
      return takeSlot(transport, { ...call, body, options }, body.booking_key, appointmentOf(orderId));
    },
    get: async (orderId, options) => {
      try {
        return await transport.get(path, { order_id: orderId }, appointmentOf(orderId), options);
      } catch (error) {
        throw isNoAppointment(error)
          ? new NotFound(error, { sentence: error.serviceSentence ?? '', fields: [] })
          : error;
      }
    },
    cancellationReasons: (options) =>
      transport.get(`/v3/order/${kind}/appointment/cancellation-reasons`, {}, cancellationReasonsSchema, options),
  };
}

/** 400 is documented for an order without an appointment, though not for which call; other deployments answer 404. */
function isNoAppointment(error: unknown): error is ServiceRefused {
  if (!(error instanceof ServiceRefused) || error.status !== 400) return false;
  return noAppointment.test(error.serviceSentence ?? '');
}

/** A sentence that denies that there is one; a refusal to show it is another. */
const noAppointment =
  /\bno (?:\w+ ){0,2}appointments?\b|(?:\bnot|n['’]t) (?:yet )?have an? (?:\w+ ){0,2}appointment|\bappointments?\b.*(?:\bnot|n['’]t)\b.*\b(?:found|booked|exist|scheduled|made)/i;

/* The refusals of a slot. */

/**
 * Sends a booking or a move.
 * @throws SlotUnavailable, BookingKeyExpired; AnswerLost if the service is still at work on the same booking
 */
export async function takeSlot<T>(
  transport: Transport,
  call: ServiceCall,
  bookingKey: string,
  answer: z.ZodType<T>,
): Promise<T> {
  try {
    return await transport.request({ ...call, secrets: [bookingKey], answer });
  } catch (error) {
    throw collisionOf(error, call) ?? slotProblem(error) ?? error;
  }
}

/** A conflict answers 400 or 404, and only the sentence distinguishes it from other refusals (docs/internals/lab-service.md, "Appointments"). */
function slotProblem(error: unknown): SlotUnavailable | BookingKeyExpired | undefined {
  if (!(error instanceof ServiceRefused) || ![400, 404].includes(error.status)) return undefined;
  // No other slot helps.
  if (error instanceof FeatureNotEnabled) return undefined;
  const text = sentencesOf(error);
  const { serviceSentence: sentence, fields } = error;
  const refusal = { fields: [...fields], ...(sentence !== undefined && { sentence }) };
  if (/\bbooking.?key\b/i.test(text)) return new BookingKeyExpired(error, refusal);
  return /\b(?:time)?slots?\b/i.test(text) ? new SlotUnavailable(error, refusal) : undefined;
}
