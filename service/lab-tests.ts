import { z } from 'zod';
import type { Transport } from './http/http.js';
import type { CallOptions } from './http/calls.js';
import * as fields from './fields.js';
import { labTestSchema } from './order/order.js';
import { conditionSchema, conditionsSchema } from './validation.js';
import { listByCursor, numberedPages } from './http/paging.js';

export const labAccountSchema = z.looseObject({
  id: fields.id,
  lab: fields.text,
  org_id: fields.text,
  /** `active`, `pending`, `suspended`, `ready_to_launch`, or one not known yet. */
  status: fields.text,
  /** `order_delegated`, `result_delegated`, `fully_delegated`, `not_delegated`, or one not known yet. */
  delegated_flow: fields.text,
  provider_account_id: fields.text,
  account_name: fields.text,
  /** Put with an order's own comment on the requisition. */
  default_clinical_notes: fields.text,
});

export type LabAccount = z.output<typeof labAccountSchema>;

/** The list of a team's accounts, and of an organisation's. The schema lets `data` be absent, but not something else be in its place. */
export const labAccountsSchema = z
  .looseObject({ data: fields.answeredList(labAccountSchema).nullish() })
  .refine((answer) => answer.data !== undefined || Object.keys(answer).length === 0, 'has no list of accounts')
  .transform((answer): LabAccount[] => answer.data?.items ?? []);

/** Integers; one that is written as a text is read as its number. */
const numberedIdSchema = z.union([
  z.number(),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);

const questionSchema = z.looseObject({
  id: numberedIdSchema,
  required: fields.flag,
  code: fields.text,
  value: fields.text,
  /** `choice`, `text`, `numeric`, `multi_choice`, or one not known yet. */
  type: fields.text,
  sequence: fields.number,
  constraint: fields.text,
  default: fields.text,
  answers: fields.list(z.looseObject({ id: numberedIdSchema, code: fields.text, value: fields.text })),
});

/**
 * A value that a lab can measure. Only `id` is required; the rest comes from docs/internals/lab-service.md and may be missing.
 */
const markerSchema = z.looseObject({
  id: numberedIdSchema,
  name: fields.text,
  slug: fields.text,
  description: fields.text,
  lab_id: numberedIdSchema.nullish().catch(undefined),
  provider_id: fields.text,
  /** `biomarker`, `panel`, or one not known yet. */
  type: fields.text,
  unit: fields.text,
  price: fields.value,
  a_la_carte_enabled: fields.flag,
  is_orderable: fields.flag,
  common_tat_days: fields.number,
  worst_case_tat_days: fields.number,
  /** Questions that an order of this marker has to answer. */
  aoe: fields.part(z.looseObject({ questions: fields.list(questionSchema) })),
  expected_results: fields.list(z.looseObject({ id: numberedIdSchema, name: fields.text, slug: fields.text })),
});

export type Marker = z.output<typeof markerSchema>;

/** A marker as far as the answers of an order need it. */
export const askingMarkerSchema = markerSchema.pick({ id: true, aoe: true });

/** The test that an order names. Only `id` is required. */
const catalogueTestSchema = labTestSchema.extend({
  id: fields.id,
  /** `active` can be ordered; `pending_approval`, `inactive`, or one not known yet. */
  status: fields.text,
  /** Deprecated in favour of `status`. */
  is_active: fields.flag,
  price: fields.number,
  lab: fields.part(
    z.looseObject({ id: numberedIdSchema.nullish().catch(undefined), slug: fields.text, name: fields.text }),
  ),
  markers: fields.list(markerSchema),
  /** True if the service made it for an order of single markers. */
  auto_generated: fields.flag,
  is_delegated: fields.flag,
});

export type LabTest = z.output<typeof catalogueTestSchema>;

const labTestPageSchema = z.looseObject({ data: fields.answeredList(catalogueTestSchema), next_cursor: fields.text });

const numbersSchema = z
  .array(z.int('must be a whole number'), 'must be a non-empty list of numbers')
  .min(1, 'must not be empty')
  .readonly()
  .exactOptional();

/** Narrows the list (docs/internals/lab-service.md). */
export const labTestFilterSchema = z.strictObject({
  /** A part of the name, in any case. */
  name: conditionSchema,
  /** `active`, `pending_approval`, `inactive`; the list grows. */
  status: conditionSchema,
  /** Collection method, for instance `testkit`. */
  method: conditionSchema,
  labSlug: conditionSchema,
  labAccountId: conditionSchema,
  /** Ids of markers, which differ between environments; all of them. */
  markerIds: numbersSchema,
  /** The laboratory's codes of markers, the same in every environment; all of them. */
  providerIds: conditionsSchema,
  /** `manual` (by the team; the default), `auto` (by the service, for orders of single markers) or `all`. */
  madeBy: conditionSchema,
  /** `price`, `created_at`, `updated_at`; the list grows. */
  orderKey: conditionSchema,
  /** `desc`: the greatest or latest first. */
  orderDirection: z.enum(['asc', 'desc']).exactOptional(),
});

export type LabTestFilter = z.input<typeof labTestFilterSchema>;

const markerPageSchema = z.looseObject({
  markers: fields.answeredList(markerSchema),
  total: fields.number,
  size: fields.number,
});

/** Narrows the list; the specification documents only `labSlug`, the rest is docs/internals/lab-service.md's. */
export const markerFilterSchema = z.strictObject({
  labSlug: conditionSchema,
  labIds: numbersSchema,
  /** A part of the name. */
  name: conditionSchema,
  /** Only markers that can be ordered one by one, or only those that cannot. */
  aLaCarteEnabled: z.boolean('must be true or false').exactOptional(),
  labAccountId: conditionSchema,
});

export type MarkerFilter = z.input<typeof markerFilterSchema>;

interface PageOptions extends CallOptions {
  /** Entries per page, 1 to 100; default 50, the documented default. */
  pageSize?: number;
}

export const labAccountFilterSchema = z.strictObject({
  labAccountId: conditionSchema,
  /** `active`, `pending`, `suspended`, `ready_to_launch`; the list grows. */
  status: conditionSchema,
});

export type LabAccountFilter = z.input<typeof labAccountFilterSchema>;

/** Lab tests and the accounts that order them. Every call rejects with a `ServiceError`. */
export interface LabTests {
  /** The team's lab tests, page by page as they are consumed; the options hold for each page's call. */
  list(filter?: LabTestFilter, options?: PageOptions): AsyncGenerator<LabTest, void, undefined>;
  get(labTestId: string, options?: CallOptions): Promise<LabTest>;
  /** All markers, page by page as they are consumed; the options hold for each page's call. */
  listMarkers(filter?: MarkerFilter, options?: PageOptions): AsyncGenerator<Marker, void, undefined>;
  listLabAccounts(filter?: LabAccountFilter, options?: CallOptions): Promise<LabAccount[]>;
}

export function createLabTests(transport: Transport): LabTests {
  return {
    list: (filter, options) => listLabTests(transport, filter, options),
    get: (labTestId, options) =>
      transport.get('/v3/lab_tests/{lab_test_id}', { lab_test_id: labTestId }, catalogueTestSchema, options),
    listMarkers: (filter, options) => listMarkers(transport, filter, options),
    listLabAccounts: (filter = {}, options) =>
      transport.get('/v3/lab_test/lab_account', {}, labAccountsSchema, options, {
        query: { lab_account_id: filter.labAccountId, status: filter.status },
      }),
  };
}

function listLabTests(
  transport: Transport,
  filter: LabTestFilter = {},
  options: PageOptions = {},
): AsyncGenerator<LabTest, void, undefined> {
  const query = {
    name: filter.name,
    status: filter.status,
    collection_method: filter.method,
    lab_slug: filter.labSlug,
    lab_account_id: filter.labAccountId,
    marker_ids: filter.markerIds?.map(String),
    provider_ids: filter.providerIds,
    generation_method: filter.madeBy,
    order_key: filter.orderKey,
    order_direction: filter.orderDirection,
    lab_test_limit: options.pageSize ?? 50,
  };
  const call = { path: '/v3/lab_test', query, options, answer: labTestPageSchema };
  return listByCursor(transport, call, ({ data }) => data.items);
}

function listMarkers(
  transport: Transport,
  filter: MarkerFilter = {},
  options: PageOptions = {},
): AsyncGenerator<Marker, void, undefined> {
  const size = options.pageSize ?? 50;
  const query = {
    lab_slug: filter.labSlug,
    lab_id: filter.labIds?.map(String),
    name: filter.name,
    a_la_carte_enabled: filter.aLaCarteEnabled,
    lab_account_id: filter.labAccountId,
    size,
  };
  const read = async (page: number) => {
    const { markers, ...counts } = await transport.get('/v3/lab_tests/markers', {}, markerPageSchema, options, {
      query: { ...query, page },
    });
    return { ...markers, total: counts.total, size: counts.size };
  };
  return numberedPages(read, size, ({ id }) => String(id));
}

/** True if orders of this account need a physician (specification, "Lab account"); an unknown flow does not count. */
export function needsPhysician(account: Pick<LabAccount, 'delegated_flow'>): boolean {
  return ['order_delegated', 'fully_delegated'].includes(account.delegated_flow?.toLowerCase() ?? '');
}
