import { z } from 'zod';
import { dateSchema, requiredTextSchema } from '../order/requests.js';

/* The requests of the calls about service centres and appointments there (docs/internals/lab-service.md, "Service centres"). */

/** The distances that the service searches in, in miles. */
const radii = [10, 20, 25, 50, 100] as const;

/** Sent as a text, and always: the service refuses a zip code without it. */
const radiusSchema = z
  .literal(radii, 'must be 10, 20, 25, 50 or 100 (miles)')
  .default(25)
  .transform((radius) => String(radius));

/** Five digits are sent; the four that may follow them are cut off. */
const zipSchema = z
  .string()
  .regex(/^\d{5}(-\d{4})?$/, 'must be five digits, or five, a hyphen and four')
  .transform((zip) => zip.slice(0, 5));

const listSchema = z.array(requiredTextSchema).min(1, 'must not be empty');

export const coverageFilterSchema = z.strictObject({
  zipCode: zipSchema,
  radius: radiusSchema,
  lab: requiredTextSchema.optional(),
  labs: listSchema.optional(),
  labAccountId: requiredTextSchema.optional(),
});

const nearAnOrder = { radius: radiusSchema, capabilities: listSchema.optional() };

export const orderCentresFilterSchema = z.strictObject(nearAnOrder);

export const centresFilterSchema = z.strictObject({
  ...nearAnOrder,
  zipCode: zipSchema,
  labId: z.int('must be a whole number'),
  labAccountId: requiredTextSchema.optional(),
});

export const mostSites = 3;

export const walkInSlotsFilterSchema = z
  .strictObject({
    lab: requiredTextSchema,
    siteCodes: listSchema.max(mostSites, `must contain at most ${mostSites} sites`).optional(),
    zipCode: zipSchema.optional(),
    radius: radiusSchema,
    startDate: dateSchema.optional(),
    allowStale: z.boolean().optional(),
  })
  .refine(({ siteCodes, zipCode }) => (siteCodes === undefined) !== (zipCode === undefined), {
    error: 'must be given if siteCodes is absent, and must be absent otherwise',
    path: ['zipCode'],
  });

export const walkInCancellationSchema = z.strictObject({
  cancellationReasonId: requiredTextSchema,
  note: z.string().nullish(),
});

export type CoverageFilter = z.input<typeof coverageFilterSchema>;
export type CentresFilter = z.input<typeof centresFilterSchema>;
export type OrderCentresFilter = z.input<typeof orderCentresFilterSchema>;
export type WalkInSlotsFilter = z.input<typeof walkInSlotsFilterSchema>;
export type WalkInCancellation = z.output<typeof walkInCancellationSchema>;
