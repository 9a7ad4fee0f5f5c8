import { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import { bookingRequest, rescheduleRequest } from './appointment-routes.js';
import { appointmentBody, daysBody, type Appointment } from './appointments.js';
import type { Lab } from './lab.js';
import { requireOrder } from './order-routes.js';
import type { Json } from './order-body.js';
import { inventedLab } from './seed.js';
import {
  capabilitiesOf,
  centresNear,
  centreWith,
  locationBody,
  siteBody,
  type Centre,
  timesAtCentres,
} from './slots.js';
import { dayMs } from './clock.js';
import { refusal, date, optional, queryInteger, queryList, readBody, readQuery, uuid } from './validation.js';

/* Patient service centres, and appointments there. Where nothing is documented, the words of a refusal are assumed. */

const appointmentPath = '/v3/order/:order_id/psc/appointment';

export const walkInReasons = [
  { id: 'ca9ce110-0000-4000-8000-000000000003', name: 'Other', is_refundable: true },
] as const;

/** How long the first answer to an idempotency key is kept, in real time. */
const keptMs = 14 * dayMs;
const mostSites = 30;
const mostCodes = 3;

const zip = z.string().regex(/^\d{5}$/);
const radius = z.enum(['10', '20', '25', '50', '100']);
const nearby = { radius: radius.default('25'), capabilities: queryList(z.string()) };

const areaQuery = z.object({
  zip_code: zip,
  radius: radius.default('25'),
  lab: optional(z.string()),
  labs: queryList(z.string()),
  lab_account_id: optional(uuid),
});
const sitesQuery = z.object({
  ...nearby,
  zip_code: zip,
  lab_id: queryInteger(0, Number.MAX_SAFE_INTEGER),
  lab_account_id: optional(uuid),
});
const slotsQuery = z.object({
  lab: z.string(),
  site_codes: queryList(z.string()),
  zip_code: optional(zip),
  radius: optional(radius),
  start_date: optional(date),
  allow_stale: optional(z.enum(['true', 'false'])),
});

/** The documentation spells the reason in both ways. */
const cancellationRequest = z
  .object({
    cancellationReasonId: uuid.optional(),
    cancellation_reason_id: uuid.optional(),
    note: optional(z.string()),
  })
  .transform(({ cancellationReasonId, cancellation_reason_id }) => cancellationReasonId ?? cancellation_reason_id);

const unknownOrder = "This order doesn't exist.";

export function walkInRoutes(app: FastifyInstance, lab: Lab): void {
  siteRoutes(app, lab);
  const answered = (appointment: Appointment): Json => appointmentBody(appointment);

  app.post('/v3/order/psc/appointment/availability', (request) => slots(lab, readQuery(slotsQuery, request.query)));

  app.get('/v3/order/psc/appointment/cancellation-reasons', () => walkInReasons);

  app.post(`${appointmentPath}/book`, (request) => {
    const { 'x-idempotency-key': key, 'x-idempotency-error': onError } = request.headers;
    const stored = typeof key === 'string' ? `psc ${key}` : undefined;
    const order = requireOrder(lab, request, unknownOrder);
    const body = readBody(bookingRequest, request.body);
    const work = () => answered(lab.appointments.bookAtCentre(order, body));
    return lab.idempotency.once(stored, onError !== 'no-cache', work, keptMs);
  });

  app.patch(`${appointmentPath}/reschedule`, (request) => {
    const order = requireOrder(lab, request, unknownOrder);
    return answered(lab.appointments.reschedule(order, readBody(rescheduleRequest, request.body), 'centre'));
  });

  app.patch(`${appointmentPath}/cancel`, (request) => {
    const order = requireOrder(lab, request, unknownOrder);
    const reason = readBody(cancellationRequest, request.body);
    if (!walkInReasons.some(({ id }) => id === reason)) throw refusal(400, 'Unknown cancellation reason');
    return answered(lab.appointments.cancel(order, 'centre'));
  });

  app.get(appointmentPath, (request) => {
    const active = lab.appointments.activeAtCentre(requireOrder(lab, request, unknownOrder));
    if (active === undefined) throw refusal(404, 'No active appointment found');
    return answered(active);
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
