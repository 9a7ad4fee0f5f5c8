import { z } from 'zod';
import { answerAbout } from '../http/answers.js';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import * as fields from '../fields.js';
import { orderSchema, type Order } from '../order/order.js';
import { listByCursor } from '../http/paging.js';
import { checkedRequest, conditionSchema } from '../validation.js';

/*
 * Results that the service could not match with an order by itself, and that somebody has to review (docs/internals/lab-service.md,
 * "Unmatched results"). A closed beta. Only `id` is required; every list of values is open.
 */

const candidateSchema = z.looseObject({
  /** `provenance_order`, `order_option`, or one not known yet. */
  candidate_type: fields.text,
  order_id: fields.referredId,
  order_transaction_id: fields.text,
  last_status: fields.text,
  /** `high`, `medium`, `low`, or one not known yet. */
  confidence_level: fields.text,
  confidence_score: fields.number,
  /** For instance `sample_id_match`, `demographic_mismatch`. */
  reasons: fields.list(z.string()),
});

const matchReviewSchema = z.looseObject({
  /** The id of the raw result. */
  id: fields.id,
  /** `pending_customer_review`, `pending_ops_review`, `resolved`, `matched`, or one not known yet. */
  status: fields.text,
  /** Why it was not matched, for instance `match_cancelled`, `no_match`. */
  decision_code: fields.text,
  sub_reason_codes: fields.list(z.string()),
  /** Free text. */
  reason: fields.text,
  /** As the laboratory names the patient. */
  patient: fields.part(
    z.looseObject({ first_name: fields.text, last_name: fields.text, dob: fields.text, gender: fields.text }),
  ),
  lab: fields.part(z.looseObject({ id: fields.text, name: fields.text, slug: fields.text })),
  markers: fields.list(z.looseObject({ provider_id: fields.text, name: fields.text })),
  interpretation: fields.text,
  /** `final`, `partial`, or one not known yet. */
  result_status: fields.text,
  note: fields.text,
  /** `accept`, `reject`, `unsure`, or ones not known yet. */
  allowed_actions: fields.list(z.string()),
  /** The orders that the result may belong to, by user. */
  candidate_groups: fields.list(
    z.looseObject({ user_id: fields.referredId, candidates: fields.list(candidateSchema) }),
  ),
  resolution_action: fields.text,
  resolved_user_id: fields.referredId,
  resolved_order_id: fields.referredId,
  created_at: fields.timestamp,
  updated_at: fields.timestamp,
  reviewed_at: fields.timestamp,
});

export type MatchReview = z.output<typeof matchReviewSchema>;

const pageSchema = z.looseObject({ data: fields.answeredList(matchReviewSchema), next_cursor: fields.text });

const note = z.string().min(1).optional();

const acceptRequestSchema = z.strictObject({
  order_id: z.string().min(1).optional(),
  user_id: z.string().min(1).optional(),
  note,
});

const resolveRequestSchema = z.strictObject({ action: z.enum(['reject', 'unsure']), note });

type AcceptRequest = z.input<typeof acceptRequestSchema>;
type ResolveRequest = z.input<typeof resolveRequestSchema>;

/** Narrows the list. Without `status` it has only what still waits for a decision. */
export const matchReviewSearchSchema = z.strictObject({
  /** `pending_customer_review`, `pending_ops_review`, `resolved`; the list grows. */
  status: conditionSchema,
  decisionCode: conditionSchema,
  labSlug: conditionSchema,
  /** Received on this day or later, YYYY-MM-DD in UTC. */
  from: conditionSchema,
  /** Received on this day or earlier, YYYY-MM-DD in UTC. */
  to: conditionSchema,
  /** A name or birth date: personal data, which travels in the address of the request. */
  searchInput: conditionSchema,
});

export type MatchReviewSearch = z.input<typeof matchReviewSearchSchema>;

interface PageOptions extends CallOptions {
  /** Entries per page; default 50, the documented default. */
  pageSize?: number;
}

/** Results that wait for a review. Every call rejects with a `ServiceError`. */
export interface MatchReviews {
  /** Page by page as they are consumed; the options hold for each page's call. */
  list(filter?: MatchReviewSearch, options?: PageOptions): AsyncGenerator<MatchReview, void, undefined>;
  get(rawResultId: string, options?: CallOptions): Promise<MatchReview>;
  /**
   * Gives the result to an order; the answered one may be new. **Not idempotent**: after `AnswerLost` or
   * `ServiceUnavailable`, read first.
   */
  accept(rawResultId: string, request?: AcceptRequest, options?: CallOptions): Promise<Order>;
  /** Rejects the result, or leaves the decision to the service's staff. **Not idempotent.** */
  resolve(rawResultId: string, request: ResolveRequest, options?: CallOptions): Promise<MatchReview>;
}

const path = '/v3/unmatched_result/{raw_result_id}';

export function createMatchReviews(transport: Transport): MatchReviews {
  return {
    list: (filter, options) => listReviews(transport, filter, options),
    get: (id, options) => transport.get(path, { raw_result_id: id }, reviewWith(id), options),
    accept: async (id, request = {}, options) => {
      const call = { method: 'POST', path: `${path}/accept` } as const;
      const body = checkedRequest(call, acceptRequestSchema, request);
      return transport.request({ ...call, params: { raw_result_id: id }, body, options, answer: orderSchema });
    },
    resolve: async (id, request, options) => {
      const call = { method: 'POST', path: `${path}/resolve`, params: { raw_result_id: id }, options } as const;
      const body = checkedRequest(call, resolveRequestSchema, request);
      return transport.request({ ...call, body, answer: reviewWith(id) });
    },
  };
}

function reviewWith(rawResultId: string): z.ZodType<MatchReview> {
  return answerAbout(rawResultId, matchReviewSchema, ({ id }) => id);
}

function listReviews(
  transport: Transport,
  filter: MatchReviewSearch = {},
  options: PageOptions = {},
): AsyncGenerator<MatchReview, void, undefined> {
  const query = {
    status: filter.status,
    decision_code: filter.decisionCode,
    lab_slug: filter.labSlug,
    created_at_start: filter.from,
    created_at_end: filter.to,
    search_input: filter.searchInput,
    limit: options.pageSize ?? 50,
  };
  const call = { path: '/v3/unmatched_result', query, options, answer: pageSchema };
  return listByCursor(transport, call, ({ data }) => data.items);
}
