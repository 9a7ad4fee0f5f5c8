import { z } from 'zod';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import * as fields from '../fields.js';
import { checkedRequest } from '../validation.js';
import {
  type CentresFilter,
  type CoverageFilter,
  type OrderCentresFilter,
  centresFilterSchema,
  coverageFilterSchema,
  orderCentresFilterSchema,
} from './walk-ins.js';
import { omitNullish } from '../json-object.js';

/*
 * Patient service centres: a laboratory's own sites, to which a person goes (docs/internals/lab-service.md, "Service centres"). As
 * in the order, a field of the wrong type counts as absent, and enumerations are open.
 */

/** Some guides name the service types `tier`. */
const providerSchema = z
  .looseObject({ name: fields.text, service_types: fields.list(z.string()), tier: fields.list(z.string()) })
  .transform(({ tier, ...provider }) => ({ ...provider, service_types: provider.service_types ?? tier }));

const nearby = { within_radius: fields.number, radius: fields.text, capabilities: fields.list(z.string()) };

/** Some guides write the fields of the patient service centres beside the laboratory's own. */
const coveredLabSchema = z
  .looseObject({
    lab_id: fields.number,
    supported_bill_types: fields.list(z.string()),
    patient_service_centers: fields.part(z.looseObject(nearby)),
    ...nearby,
  })
  .transform(({ within_radius, radius, capabilities, ...lab }) => ({
    ...lab,
    patient_service_centers:
      lab.patient_service_centers ??
      (within_radius === undefined ? undefined : { within_radius, radius, capabilities }),
  }));

const coverageSchema = z.looseObject({
  zip_code: fields.text,
  phlebotomy: fields.part(
    z.looseObject({
      is_served: fields.flag,
      providers: fields.list(providerSchema),
    }),
  ),
  /** By the laboratory's slug. */
  central_labs: fields.record(coveredLabSchema),
});

export type Coverage = z.output<typeof coverageSchema>;

const centreSchema = z.looseObject({
  /** The code by which slots are asked for; without it the site cannot be booked here. */
  site_code: fields.text,
  metadata: fields.part(
    z.looseObject({
      name: fields.text,
      first_line: fields.text,
      second_line: fields.text,
      city: fields.text,
      state: fields.text,
      zip_code: fields.text,
      phone_number: fields.text,
      website: fields.text,
    }),
  ),
  /** Miles. */
  distance: fields.number,
  location: fields.part(z.looseObject({ lng: fields.number, lat: fields.number })),
  supported_bill_types: fields.list(z.string()),
  /** `stat`, `appointment_scheduling_with_lab`, one that begins with `appointment_scheduling_via_`; the list grows. */
  capabilities: fields.list(z.string()),
});

export type Centre = z.output<typeof centreSchema>;

const centresSchema = z
  .looseObject({
    lab_id: fields.number,
    slug: fields.text,
    patient_service_centers: fields.answeredList(centreSchema).nullish(),
  })
  .refine(
    ({ lab_id: labId, slug, patient_service_centers: sites }) => sites !== undefined || (labId ?? slug) != null,
    'has no list of sites',
  )
  .transform(({ lab_id: labId, slug, patient_service_centers: sites }) =>
    omitNullish({ labId, lab: slug, centres: sites?.items ?? [] }),
  );

/** The sites of one laboratory, at most 30. */
export type Centres = z.output<typeof centresSchema>;

/** Service centres. Every call rejects with a `ServiceError`. */
export interface CentreDirectory {
  /** The coverage of a zip code: whether blood is drawn at home there, and which laboratories have service centres nearby. */
  coverage(filter: CoverageFilter, options?: CallOptions): Promise<Coverage>;
  near(filter: CentresFilter, options?: CallOptions): Promise<Centres>;
  /** Near the patient of an order, of its laboratory. */
  forOrder(orderId: string, filter?: OrderCentresFilter, options?: CallOptions): Promise<Centres>;
}

export function createCentreDirectory(transport: Transport): CentreDirectory {
  return {
    coverage: async (filter, options) => {
      const call = { method: 'GET', path: '/v3/order/area/info' } as const;
      const { zipCode, radius, lab, labs, labAccountId } = checkedRequest(call, coverageFilterSchema, filter);
      const query = { zip_code: zipCode, radius, lab, labs, lab_account_id: labAccountId };
      return transport.request({ ...call, query, options, answer: coverageSchema });
    },
    near: async (filter, options) => {
      const call = { method: 'GET', path: '/v3/order/psc/info' } as const;
      const { zipCode, labId, labAccountId, ...rest } = checkedRequest(call, centresFilterSchema, filter);
      const query = { zip_code: zipCode, lab_id: labId, lab_account_id: labAccountId, ...rest };
      return transport.request({ ...call, query, options, answer: centresSchema });
    },
    forOrder: async (orderId, filter = {}, options) => {
      const call = { method: 'GET', path: '/v3/order/{order_id}/psc/info' } as const;
      const query = checkedRequest(call, orderCentresFilterSchema, filter);
      return transport.request({ ...call, params: { order_id: orderId }, query, options, answer: centresSchema });
    },
  };
}

/** True if the service takes appointments at this site; others are walked into, or booked with the laboratory. */
export function isBookable({ capabilities }: Centre): boolean {
  return (capabilities ?? []).some((capability) => capability.startsWith('appointment_scheduling_via_'));
}
