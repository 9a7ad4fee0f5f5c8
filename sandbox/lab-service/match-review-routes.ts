import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Lab } from './lab.js';
import { matchReviewBody } from './match-review-body.js';
import { decisionCodes, type MatchReview } from './match-reviews.js';
import { orderBody, type Json } from './order-body.js';
import { cursorPage, cursorQuery } from './org-access.js';
import { refusal, type ServiceProblem } from './problems.js';
import { inventedLab } from './seed.js';
import { newId, type Order } from './state.js';
import { calendarDate } from './time.js';
import { date, optional, pathText, queryInteger, readBody, readQuery, uuid } from './validation.js';

const listQuery = z.object({
  limit: queryInteger(1, 100).default(50),
  status: optional(z.string()),
  decision_code: optional(z.string()),
  lab_slug: optional(z.string()),
  created_at_start: optional(date),
  created_at_end: optional(date),
  search_input: optional(z.string()),
  ...cursorQuery,
});

const acceptBody = z.object({ order_id: optional(uuid), user_id: optional(uuid), note: optional(z.string()) });

const resolveBody = z.object({ action: z.enum(['reject', 'unsure']), note: optional(z.string()) });

/** The names of roles are not documented; here `target` is a candidate, and so is any other. */
const simulationBody = z.object({
  case: z.enum(decisionCodes),
  order_source: z.enum(['managed', 'provided']),
  orders: optional(z.record(z.string(), uuid)),
  result_status: optional(z.enum(['final', 'partial'])),
  interpretation: optional(z.enum(['normal', 'abnormal', 'critical', 'unknown'])),
  lab_test_id: optional(uuid),
  wrong_lab_test_id: optional(uuid),
});

/** Results that match no order, and the simulator that makes some. */
export function matchReviewRoutes(app: FastifyInstance, lab: Lab): void {
  app.addHook('preHandler', async ({ url }) => {
    if (lab.settings.matchReviews || !url.startsWith('/v3/unmatched_result')) return;
    // The wording is not documented; assumed.
    throw refusal(400, 'The unmatched result queue is not enabled for this team.');
  });
  const answered = (review: MatchReview): Json => matchReviewBody(review);
  const path = '/v3/unmatched_result/:raw_result_id';

  app.get('/v3/unmatched_result', (request) => {
    const query = readQuery(listQuery, request.query);
    const found = [...lab.matchReviews.reviews.values()].filter((review) => isMeant(review, query)).toReversed();
    const { items, next } = cursorPage(found, query, query.limit);
    return { data: items.map(answered), next_cursor: next, total: found.length };
  });

  app.get(path, (request) => answered(requireReview(lab, request)));

  app.post(`${path}/accept`, (request) => {
    const order = lab.matchReviews.accept(requireReview(lab, request), readBody(acceptBody, request.body));
    return orderBody(order, lab.state, lab.settings, 'answer');
  });

  app.post(`${path}/resolve`, (request) => {
    const review = requireReview(lab, request);
    const { action, note } = readBody(resolveBody, request.body);
    if (action === 'reject') lab.matchReviews.reject(review, note);
    else lab.matchReviews.markUnsure(review, note);
    return answered(review);
  });
  simulatorRoutes(app, lab);
}

type ListQuery = z.output<typeof listQuery>;

function isMeant({ status, decisionCode, createdAt }: MatchReview, query: ListQuery): boolean {
  const day = calendarDate(createdAt);
  return (
    (query.status === null ? status !== 'resolved' && status !== 'matched' : status === query.status) &&
    (query.decision_code ?? decisionCode) === decisionCode &&
    (query.lab_slug ?? inventedLab.slug) === inventedLab.slug &&
    day >= (query.created_at_start ?? day) &&
    day <= (query.created_at_end ?? day)
  );
}

/** In the sandbox environment only. A run ends at once here. */
function simulatorRoutes(app: FastifyInstance, lab: Lab): void {
  const runs = new Map<string, { run_id: string; status: string }>();
  // The form of this answer is not documented; assumed.
  app.get('/v3/unmatched_result_test/case', () => ({ data: decisionCodes.map((name) => ({ case: name })) }));

  app.post('/v3/unmatched_result_test', (request, reply) => {
    const { 'x-idempotency-key': key } = request.headers;
    if (typeof key !== 'string' || key === '' || key.length > 255) {
      throw refusal(422, 'X-Idempotency-Key of 1 to 255 characters is required');
    }
    const body = readBody(simulationBody, request.body);
    const run = lab.idempotency.once(`${key}/unmatched_result_test`, false, () => {
      lab.matchReviews.create({
        decisionCode: body.case,
        candidates: candidatesOf(lab, body),
        ...(body.result_status !== null && { resultStatus: body.result_status }),
        ...(body.interpretation !== null && { interpretation: body.interpretation }),
      });
      return { run_id: newId(), status: 'queued', request: JSON.stringify(body) };
    }) as { run_id: string; status: string; request: string };
    if (run.request !== JSON.stringify(body)) throw refusal(409, 'The key was used for another request');
    const { run_id } = run;
    runs.set(run_id, { run_id, status: 'succeeded' });
    return reply.code(202).send({ run_id, status: run.status });
  });

  app.get('/v3/unmatched_result_test/:run_id', (request) => {
    const run = runs.get(pathText(request, 'run_id'));
    if (run === undefined) throw refusal(404, 'Run not found');
    return run;
  });
}

function candidatesOf(lab: Lab, { case: name, order_source, orders }: z.output<typeof simulationBody>): Order[] {
  if (order_source === 'managed') return lab.matchReviews.candidatesFor(name);
  return Object.values(orders ?? {}).map((id) => {
    const order = lab.state.orders.get(id);
    if (order === undefined) throw refusal(422, 'An order does not exist.');
    return order;
  });
}

/** The wording is not documented; assumed. */
function unknown(): ServiceProblem {
  return refusal(404, 'Unmatched result not found or no longer reviewable.');
}

function requireReview(lab: Lab, request: FastifyRequest): MatchReview {
  const review = lab.matchReviews.reviews.get(pathText(request, 'raw_result_id').toLowerCase());
  if (review === undefined) throw unknown();
  return review;
}
