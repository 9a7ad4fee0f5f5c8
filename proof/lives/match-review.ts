import { kitOrderId, matchReviewId } from '../../protocol/ids.js';
import { outcomeOf } from '../../protocol/match-review/lifecycle.js';
import type { MatchReviewResult } from '../../protocol/match-review/messages.js';
import type { ResolvedMatchReviewPolicy } from '../../protocol/match-review/policy.js';
import { matchReviewStart } from '../../protocol/starts.js';
import { matchReviewReportOf } from '../../service/match-review/snapshot.js';
import { day, hour, minute, second } from './life.js';
import { Past, type Request, type ServiceAnswer } from './service.js';
import { claims, resultOf, webhook, type Stage, type World } from './stage.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

const rawResultId = '00000000-0000-4000-8000-00000000000e';
const orderId = '00000000-0000-4000-8000-00000000000a';
const workflowId = matchReviewId(rawResultId);

interface Review {
  status: string;
  allowed_actions: string[];
  resolution_action?: string;
  resolved_order_id?: string;
}

const waiting: Review = { status: 'pending_customer_review', allowed_actions: ['accept', 'reject', 'unsure'] };

/** One result that waits for a review: decided here, by the service's staff, or by somebody at its dashboard. */
export class MatchReviewWorld implements World {
  readonly spans = { disturbed: 12 * day, calm: 30 * day };
  private readonly stage: Stage;
  private readonly policy: ResolvedMatchReviewPolicy;
  private review: Review = waiting;
  private readonly past: Past<{ review: Review }>;
  private readonly isShownWhenOver: boolean;
  /** What the service has carried out for the product. */
  private readonly decided: string[] = [];

  constructor(stage: Stage) {
    const { life } = stage;
    this.stage = stage;
    this.past = new Past(life, { review: waiting });
    this.isShownWhenOver = life.happens(0.5);
    this.policy = resolvePolicy('match review', {
      ...resolvePolicy('match review'),
      ...{ decisionReminders: [life.span(minute, 3 * day)], serviceReviewDeadline: life.span(hour, 7 * day) },
      ...{ firstPoll: life.span(10 * minute, 2 * hour), longestPoll: 12 * hour },
    });
  }

  private become(review: Review): void {
    const { life, server } = this.stage;
    this.review = review;
    this.past.changed({ review });
    life.tell(`  the service: the review is ${review.status} ${review.resolution_action ?? ''}`);
    const report = matchReviewReportOf({ id: rawResultId, ...review });
    webhook(this.stage, `the review ${review.status}`, () =>
      server.signalOrStart(matchReviewStart(report, this.policy), 'matchReviewReported', report),
    );
  }

  private get isOver(): boolean {
    return !['pending_customer_review', 'pending_ops_review'].includes(this.review.status);
  }

  handle({ method, path, params, body }: Request): ServiceAnswer {
    if (path === '/v3/order/{order_id}') return { status: 200, body: orderBody(params['order_id'] ?? '') };
    if (method === 'GET') {
      const { review } = this.past.seen(5 * second);
      const isOver = !['pending_customer_review', 'pending_ops_review'].includes(review.status);
      return isOver && !this.isShownWhenOver ? gone : { status: 200, body: { id: rawResultId, ...review } };
    }
    const action = path.endsWith('/accept') ? 'accept' : (body as { action: string }).action;
    if (!this.review.allowed_actions.includes(action))
      return { status: 400, body: { detail: 'This action is not allowed.' } };
    this.decided.push(action);
    if (action === 'unsure') this.become({ status: 'pending_ops_review', allowed_actions: [] });
    else this.resolve(action);
    if (action === 'accept') return { status: 200, body: orderBody(orderId) };
    return { status: 200, body: { id: rawResultId, ...this.review } };
  }

  private resolve(action: string): void {
    const order = action === 'accept' ? { resolved_order_id: orderId } : {};
    this.become({ status: 'resolved', allowed_actions: [], resolution_action: `${action}ed`, ...order });
  }

  begin(): void {
    const { life, server } = this.stage;
    this.become(waiting);
    const soon = () => life.span(life.oneOf([second, minute, hour]), 10 * day);
    for (let count = life.between(0, 4); count > 0; count -= 1) {
      const [name, argument] = life.oneOf<[string, object]>([
        ['accept', {}],
        ['accept', { orderId }],
        ['reject', {}],
        ['markUnsure', {}],
      ]);
      life.after(soon(), () => void server.update(workflowId, name, argument));
    }
    if (life.happens(0.4)) life.after(soon(), () => this.elsewhere());
    if (life.happens(0.05)) life.after(soon(), () => server.cancel(workflowId));
  }

  private elsewhere(): void {
    const { life } = this.stage;
    if (this.isOver) return;
    if (life.happens(0.3)) this.become({ status: 'pending_ops_review', allowed_actions: [] });
    else this.resolve(life.oneOf(['accept', 'reject']));
  }

  calmDown(): void {
    if (!this.isOver) this.resolve('reject');
  }

  check(): void {
    const { life, server } = this.stage;
    for (const { name, refused, value } of server.replies) {
      if (refused !== undefined || value === undefined || name === 'resend') continue;
      const action = name === 'markUnsure' ? 'unsure' : name;
      const { resolution_action: by = '', status } = this.review;
      // Somebody else may have decided the same.
      const isSo = this.decided.includes(action) || by.startsWith(action) || action === 'unsure';
      if (!isSo) life.broken(claims.reflected, `${action}, and it is ${status} ${by}`);
    }
    if (this.decided.filter((action) => action !== 'unsure').length > 1)
      life.broken('never two decisions for one review', this.decided.join(', '));
    const { outcome, resolvedOrderId } = resultOf<MatchReviewResult>(server.latest(workflowId));
    // The order of a review that was given up is left to its own webhooks.
    if (resolvedOrderId !== undefined && outcome !== 'abandoned' && !server.latest(kitOrderId(resolvedOrderId)))
      life.broken(claims.handedOver, 'nobody follows the order');
    const actual = outcomeOf(matchReviewReportOf({ id: rawResultId, ...this.review }));
    const isVague = ['gone', 'resolved', 'abandoned', undefined].includes(outcome);
    if (!isVague && outcome !== actual) life.broken(claims.endsAreTrue, `${outcome}, and it is ${actual}`);
  }
}

const gone: ServiceAnswer = { status: 404, body: { detail: 'Unmatched result not found' } };

function orderBody(id: string) {
  return {
    ...{ id, user_id: '00000000-0000-4000-8000-000000000001', status: 'sample_with_lab', origin: 'initial' },
    events: [{ id: 1, created_at: '2024-03-01T09:00:00.000Z', status: 'sample_with_lab.testkit.delivered_to_lab' }],
    created_at: '2024-03-01T09:00:00.000Z',
  };
}
