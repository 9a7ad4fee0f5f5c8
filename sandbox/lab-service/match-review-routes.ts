import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Lab } from './lab.js';
import { isOver, matchReviewBody, noReview, type MatchReview } from './match-reviews.js';
import { orderBody, type Json } from './order-body.js';
import { cursorPage, cursorQuery } from './org-access.js';
import { inventedLab } from './seed.js';
import { calendarDate } from './clock.js';
import { refusal, date, optional, pathText, queryInteger, readBody, readQuery, uuid } from './validation.js';

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

/** Results that match no order. */
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
    lab.matchReviews.decide(review, action, note);
    return answered(review);
  });
}

function isMeant(review: MatchReview, query: z.output<typeof listQuery>): boolean {
  const { status, decision_code } = review.event;
  const day = calendarDate(review.createdAt);
  return (
    (query.status === null ? !isOver(review) : status === query.status) &&
    (query.decision_code ?? decision_code) === decision_code &&
    (query.lab_slug ?? inventedLab.slug) === inventedLab.slug &&
    day >= (query.created_at_start ?? day) &&
    day <= (query.created_at_end ?? day)
  );
}

function requireReview(lab: Lab, request: FastifyRequest): MatchReview {
  const review = lab.matchReviews.reviews.get(pathText(request, 'raw_result_id').toLowerCase());
  if (review === undefined) throw refusal(404, noReview);
  return review;
}
