import { announceNews, clear, raise } from './announcements.js';
import type { Review } from './review.js';

/** Brings everything in line with what is known now: questions and announcements. */
export function bringInLine(review: Review): void {
  const now = Date.now();
  const { phase, since } = review.stage;
  const isOpen = review.ending === undefined;
  announceNews(review, now);
  if (isOpen && phase === 'awaiting_decision') raise(review, 'decision_needed', now);
  else clear(review, ['decision_needed'], now);
  if (!isOpen || phase !== 'with_service') clear(review, ['service_review_overdue'], now);
  review.met = review.met.filter((key) => key.startsWith(`${phase}/${since}/`));
}
