import { z } from 'zod';
import {
  type Appointment,
  type Appointments,
  type Availability,
  appointmentOf,
  availabilitySchema,
  commonCalls,
  takeSlot,
  type BookingRequest,
  bookingRequestSchema,
  zipCodeSchema,
} from './appointments.js';
import type { Transport } from '../http/http.js';
import { type CallOptions, idempotencyHeaders } from '../http/calls.js';
import { readRefusal } from '../http/refusals.js';
import { checkedRequest, conditionSchema, conditionsSchema, dateSchema, requiredTextSchema } from '../validation.js';

/* The requests of the calls about service centres and appointments there (docs/internals/lab-service.md, "Service centres"). */

/** The distances that the service searches in, in miles. */
const radii = [10, 20, 25, 50, 100] as const;

/** Sent as a text, and always: the service refuses a zip code without it. */
const radiusSchema = z
  .literal(radii, 'must be 10, 20, 25, 50 or 100 (miles)')
  .default(25)
  .transform((radius) => String(radius));

/** Five digits are sent; the four that may follow them are cut off. */
const zipSchema = zipCodeSchema.transform((zip) => zip.slice(0, 5));

export const coverageFilterSchema = z.strictObject({
  zipCode: zipSchema,
  radius: radiusSchema,
  lab: conditionSchema,
  labs: conditionsSchema,
  labAccountId: conditionSchema,
});

const nearAnOrder = { radius: radiusSchema, capabilities: conditionsSchema };

export const orderCentresFilterSchema = z.strictObject(nearAnOrder);

export const sitesOfOrderSchema = orderCentresFilterSchema.extend({ orderId: requiredTextSchema });

export const centresFilterSchema = z.strictObject({
  ...nearAnOrder,
  zipCode: zipSchema,
  labId: z.int('must be a whole number'),
  labAccountId: conditionSchema,
});

export const mostSites = 3;

const walkInSlotsFilterSchema = z
  .strictObject({
    lab: requiredTextSchema,
    siteCodes: z
      .array(requiredTextSchema)
      .min(1, 'must not be empty')
      .max(mostSites, `must contain at most ${mostSites} sites`)
      .optional(),
    zipCode: zipSchema.optional(),
    radius: radiusSchema,
    startDate: dateSchema.optional(),
    allowStale: z.boolean().optional(),
  })
  .refine(({ siteCodes, zipCode }) => (siteCodes === undefined) !== (zipCode === undefined), {
    error: 'must be given if siteCodes is absent, and must be absent otherwise',
    path: ['zipCode'],
  });

const walkInCancellationSchema = z.strictObject({
  cancellationReasonId: requiredTextSchema,
  note: z.string().nullish(),
});

export type CoverageFilter = z.input<typeof coverageFilterSchema>;
export type CentresFilter = z.input<typeof centresFilterSchema>;
export type OrderCentresFilter = z.input<typeof orderCentresFilterSchema>;
/** The service centres near the patient of an order. */
export type SitesOfOrder = z.input<typeof sitesOfOrderSchema>;
type WalkInSlotsFilter = z.input<typeof walkInSlotsFilterSchema>;
type WalkInCancellation = z.output<typeof walkInCancellationSchema>;

export interface WalkInBookingOptions extends CallOptions {
  /**
   * Sent as `X-Idempotency-Key`: the same key within 14 days returns the first answer again instead of booking twice. That
   * answer may be outdated, so read the appointment after it. `X-Idempotency-Error: no-cache` asks the service not to keep
   * failures. Printable ASCII.
   */
  idempotencyKey?: string;
}

/**
 * Appointments at a patient service centre, of orders with the collection method `walk_in_test`. Every call rejects with a
 * `ServiceError`; requests are checked before anything is sent, and no error repeats a booking key.
 */
export interface WalkIns extends Pick<Appointments, 'reschedule' | 'cancellationReasons'> {
  /**
   * Slots of up to three sites, or near a zip code; each day has its site. An empty list if the service answers that it found
   * none. How many days there are is not documented.
   */
  availability(filter: WalkInSlotsFilter, options?: CallOptions): Promise<Availability>;
  /**
   * Books a slot, as `Appointments.book` does. Idempotent only with a key. With `async_confirmation` the appointment may be
   * `pending` or `reserved` until a webhook confirms or cancels it.
   */
  book(orderId: string, request: BookingRequest, options?: WalkInBookingOptions): Promise<Appointment>;
  cancel(orderId: string, request: WalkInCancellation, options?: CallOptions): Promise<Appointment>;
  /** The order's active appointment; `NotFound` if it has none, also after it was cancelled. */
  get(orderId: string, options?: CallOptions): Promise<Appointment>;
}

const appointmentPath = '/v3/order/{order_id}/psc/appointment';

export function createWalkIns(transport: Transport): WalkIns {
  return {
    availability: (filter, options) => findSlots(transport, filter, options),
    book: async (orderId, request, options) => {
      const call = { method: 'POST', path: `${appointmentPath}/book`, params: { order_id: orderId } } as const;
      const body = checkedRequest(call, bookingRequestSchema, request);
      const headers = idempotencyHeaders(options?.idempotencyKey);
      return takeSlot(transport, { ...call, headers, body, options }, body.booking_key, appointmentOf(orderId));
    },
    cancel: async (orderId, request, options) => {
      const call = { method: 'PATCH', path: `${appointmentPath}/cancel`, params: { order_id: orderId } } as const;
      const body = checkedRequest(call, walkInCancellationSchema, request);
      return transport.request({ ...call, body, options, answer: appointmentOf(orderId) });
    },
    ...commonCalls(transport, 'psc'),
  };
}

/** The parameters go into the query, though it is a POST (docs/internals/lab-service.md). */
async function findSlots(
  transport: Transport,
  filter: WalkInSlotsFilter,
  options: CallOptions | undefined,
): Promise<Availability> {
  const call = { method: 'POST', path: '/v3/order/psc/appointment/availability' } as const;
  const read = checkedRequest(call, walkInSlotsFilterSchema, filter);
  const { lab, siteCodes, zipCode, radius, startDate, allowStale } = read;
  const place = zipCode === undefined ? { site_codes: siteCodes } : { zip_code: zipCode, radius };
  return transport.request({
    ...call,
    query: { lab, ...place, start_date: startDate, allow_stale: allowStale },
    options,
    answer: availabilitySchema,
    // "No slots found …" is an answer, not a mistake: another day, radius or site may have some.
    recover: (status, body) =>
      status === 404 && noSlots.test(readRefusal(body).sentence ?? '') ? { slots: [] } : undefined,
  });
}

const noSlots = /\bno (?:\w+ ){0,2}(?:time)?.?slots?\b/i;
