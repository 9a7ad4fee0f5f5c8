import { z } from 'zod';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Appointment, appointmentBody, availabilityBody, daysBody } from './appointments.js';
import type { Lab } from './lab.js';
import { requireOrder } from './order-routes.js';
import type { Json } from './order-body.js';
import type { Order } from './state.js';
import { date, optional, queryInteger, queryList, readBody, readQuery, refusal, uuid, zip } from './validation.js';
import { inventedLab } from './seed.js';
import {
  capabilitiesOf,
  type Centre,
  centresNear,
  centreWith,
  locationBody,
  siteBody,
  timesAtCentres,
} from './slots.js';
import { dayMs } from './clock.js';

const appointmentPath = '/v3/order/:order_id/phlebotomy/appointment';

/** Invented, under ids that never change. */
export const cancellationReasons = [
  { id: 'ca9ce110-0000-4000-8000-000000000001', name: 'Invented: another day suits better', is_refundable: true },
  { id: 'ca9ce110-0000-4000-8000-000000000002', name: 'Invented: nobody was at home', is_refundable: false },
] as const;

/** The specification's limit on notes is an order's; the schema has the same for an appointment's. */
const notes = optional(z.string().max(1_000));

const appointmentAddress = z.object({
  first_line: z.string(),
  second_line: optional(z.string()),
  city: z.string(),
  state: z.string(),
  zip_code: zip,
  unit: optional(z.string()),
  access_notes: notes,
});

export type AppointmentAddress = z.output<typeof appointmentAddress>;

export const bookingRequest = z.object({
  booking_key: z.string(),
  appointment_notes: notes,
  /** True: the caller does not wait for the provider. */
  async_confirmation: optional(z.boolean()),
  /** After so long without the provider's answer the booking is void; null: never. */
  async_confirmation_timeout_millisecond: optional(z.int().min(60_000).max(172_800_000)),
  sync_confirmation_timeout_millisecond: optional(z.int().min(1_000).max(10_000)),
});

export type BookingRequest = z.output<typeof bookingRequest>;

const requestedAppointment = z.object({ address: appointmentAddress, provider: z.string(), appointment_notes: notes });

export const rescheduleRequest = z.object({ booking_key: z.string(), appointment_notes: notes });

const cancellationRequest = z.object({ cancellation_reason_id: uuid, notes: optional(z.string()) });

const unknownOrder = "This order doesn't exist.";

/** Adds routes that are about an order and answer with its appointment. */
function visitRoutes(app: FastifyInstance, lab: Lab) {
  return (method: 'GET' | 'POST' | 'PATCH', url: string, work: (order: Order, body: unknown) => Appointment): void => {
    const handler = (request: FastifyRequest) =>
      appointmentBody(work(requireOrder(lab, request, unknownOrder), request.body));
    app.route({ method, url, handler });
  };
}

/** Appointments for a blood draw at home. */
export function appointmentRoutes(app: FastifyInstance, lab: Lab): void {
  const route = visitRoutes(app, lab);

  app.post('/v3/order/phlebotomy/appointment/availability', (request) => {
    const { start_date: start } = readQuery(z.object({ start_date: optional(date) }), request.query);
    const { zip_code } = readBody(appointmentAddress, request.body);
    const days = lab.slots.offer(zip_code, start === null ? null : Date.parse(start.slice(0, 10)));
    return availabilityBody(days);
  });

  app.get('/v3/order/phlebotomy/appointment/cancellation-reasons', () => cancellationReasons);

  route('POST', `${appointmentPath}/book`, (order, body) =>
    lab.appointments.book(order, readBody(bookingRequest, body), homeOf(order)),
  );
  route('POST', `${appointmentPath}/request`, (order, body) =>
    lab.appointments.request(order, readBody(requestedAppointment, body)),
  );
  route('PATCH', `${appointmentPath}/reschedule`, (order, body) =>
    lab.appointments.reschedule(order, readBody(rescheduleRequest, body), 'home'),
  );
  route('PATCH', `${appointmentPath}/cancel`, (order, body) => {
    const { cancellation_reason_id: reason } = readBody(cancellationRequest, body);
    // Not documented; assumed.
    if (!cancellationReasons.some(({ id }) => id === reason)) throw refusal(404, 'Cancellation reason not found');
    return lab.appointments.cancel(order, 'home');
  });
  route('GET', appointmentPath, (order) => {
    const appointment = lab.appointments.of(order);
    // The wording is not documented; assumed.
    if (appointment === undefined || appointment.centre !== null) throw refusal(404, 'Appointment not found');
    return appointment;
  });
}

/** A booking names no address: somebody comes to the patient's. */
function homeOf({ patient_address: home }: Order): AppointmentAddress {
  return {
    first_line: home?.first_line ?? '',
    second_line: home?.second_line ?? null,
    city: home?.city ?? '',
    state: home?.state ?? '',
    zip_code: home?.zip ?? '',
    unit: null,
    access_notes: home?.access_notes ?? null,
  };
}

/* Patient service centres, and appointments there. Where nothing is documented, the words of a refusal are assumed. */

const visitPath = '/v3/order/:order_id/psc/appointment';

export const walkInReasons = [
  { id: 'ca9ce110-0000-4000-8000-000000000003', name: 'Other', is_refundable: true },
] as const;

/** How long the first answer to an idempotency key is kept, in real time. */
const keptMs = 14 * dayMs;
const mostSites = 30;
const mostCodes = 3;

const shortZip = z.string().regex(/^\d{5}$/);
const radius = z.enum(['10', '20', '25', '50', '100']);
const nearby = { radius: radius.default('25'), capabilities: queryList(z.string()) };

const areaQuery = z.object({
  zip_code: shortZip,
  radius: radius.default('25'),
  lab: optional(z.string()),
  labs: queryList(z.string()),
  lab_account_id: optional(uuid),
});
const sitesQuery = z.object({
  ...nearby,
  zip_code: shortZip,
  lab_id: queryInteger(0, Number.MAX_SAFE_INTEGER),
  lab_account_id: optional(uuid),
});
const slotsQuery = z.object({
  lab: z.string(),
  site_codes: queryList(z.string()),
  zip_code: optional(shortZip),
  radius: optional(radius),
  start_date: optional(date),
  allow_stale: optional(z.enum(['true', 'false'])),
});

/** The documentation spells the reason in both ways. */
const visitCancellation = z
  .object({
    cancellationReasonId: uuid.optional(),
    cancellation_reason_id: uuid.optional(),
    note: optional(z.string()),
  })
  .transform(({ cancellationReasonId, cancellation_reason_id }) => cancellationReasonId ?? cancellation_reason_id);

export function walkInRoutes(app: FastifyInstance, lab: Lab): void {
  siteRoutes(app, lab);
  const route = visitRoutes(app, lab);

  app.post('/v3/order/psc/appointment/availability', (request) => slots(lab, readQuery(slotsQuery, request.query)));

  app.get('/v3/order/psc/appointment/cancellation-reasons', () => walkInReasons);

  app.post(`${visitPath}/book`, (request) => {
    const { 'x-idempotency-key': key, 'x-idempotency-error': onError } = request.headers;
    const stored = typeof key === 'string' ? `psc ${key}` : undefined;
    const order = requireOrder(lab, request, unknownOrder);
    const body = readBody(bookingRequest, request.body);
    const work = () => appointmentBody(lab.appointments.bookAtCentre(order, body));
    return lab.idempotency.once(stored, onError !== 'no-cache', work, keptMs);
  });

  route('PATCH', `${visitPath}/reschedule`, (order, body) =>
    lab.appointments.reschedule(order, readBody(rescheduleRequest, body), 'centre'),
  );
  route('PATCH', `${visitPath}/cancel`, (order, body) => {
    const reason = readBody(visitCancellation, body);
    if (!walkInReasons.some(({ id }) => id === reason)) throw refusal(400, 'Unknown cancellation reason');
    return lab.appointments.cancel(order, 'centre');
  });
  route('GET', visitPath, (order) => {
    const active = lab.appointments.activeAtCentre(order);
    if (active === undefined) throw refusal(404, 'No active appointment found');
    return active;
  });
}

function siteRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/v3/order/area/info', (request) => {
    const { zip_code, radius: within, lab: slug, labs } = readQuery(areaQuery, request.query);
    const requested = [...(labs ?? []), ...(slug === null ? [] : [slug])];
    const hasLab = requested.length === 0 || requested.includes(inventedLab.slug);
    return { zip_code, ...coverageBody(centresNear(zip_code, within), within, hasLab) };
  });

  app.get('/v3/order/psc/info', (request) => {
    const { zip_code, lab_id, ...rest } = readQuery(sitesQuery, request.query);
    return sitesBody(lab_id === inventedLab.id ? centresNear(zip_code, rest.radius) : [], rest.capabilities);
  });

  app.get('/v3/order/:order_id/psc/info', (request) => {
    const { patient_address: home } = requireOrder(lab, request, unknownOrder);
    const { radius: within, capabilities } = readQuery(z.object(nearby), request.query);
    return sitesBody(centresNear((home?.zip ?? '').slice(0, 5), within), capabilities);
  });
}

function coverageBody(centres: readonly Centre[], within: string, hasLab: boolean): Json {
  const patient_service_centers = {
    within_radius: centres.length,
    radius: within,
    capabilities: [...new Set(centres.flatMap(capabilitiesOf))],
    appointment_with_service: centres.some(({ isBookable }) => isBookable),
  };
  const lab = { patient_service_centers, supported_bill_types: ['client_bill'], lab_id: inventedLab.id };
  return {
    phlebotomy: { is_served: true, providers: [{ name: 'invented_draws', service_types: ['appointment-ready'] }] },
    central_labs: hasLab ? { [inventedLab.slug]: lab } : {},
  };
}

function sitesBody(centres: readonly Centre[], capabilities: readonly string[] | null): Json {
  const able = centres.filter((each) =>
    (capabilities ?? []).every((requested) => capabilitiesOf(each).includes(requested)),
  );
  return {
    lab_id: inventedLab.id,
    slug: inventedLab.slug,
    patient_service_centers: able.slice(0, mostSites).map(siteBody),
  };
}

function slots(lab: Lab, asked: z.output<typeof slotsQuery>): Json {
  if (asked.lab !== inventedLab.slug) throw refusal(400, 'Scheduling is not supported for this lab.');
  const first = asked.start_date === null ? null : Date.parse(asked.start_date.slice(0, 10));
  const today = Math.floor(lab.clock.now() / dayMs) * dayMs;
  if (first !== null && first < today) throw refusal(400, 'start_date cannot be in the past.');
  const days = sitesAsked(asked).flatMap((each) =>
    lab.slots
      .offer(each.code, first, timesAtCentres)
      .filter(({ slots: free }) => free.length > 0)
      .map((day) => ({ ...day, location: locationBody(each) })),
  );
  if (days.length === 0) throw refusal(404, 'No slots found for the given parameters.');
  return { slots: daysBody(days), timezone: null };
}

function sitesAsked({ site_codes: codes, zip_code, radius: within }: z.output<typeof slotsQuery>): Centre[] {
  if (codes === null) {
    if (zip_code === null) throw refusal(400, 'site_codes or zip_code is required.');
    if (within === null) throw refusal(400, 'radius is required with zip_code.');
    return centresNear(zip_code, within)
      .filter(({ isBookable }) => isBookable)
      .slice(0, mostCodes);
  }
  if (codes.length > mostCodes) throw refusal(400, `At most ${mostCodes} site_codes are allowed.`);
  return codes.map((code) => {
    const found = centreWith(code);
    if (found === undefined || !found.isBookable) throw refusal(400, 'Unknown or inactive site code.');
    return found;
  });
}
