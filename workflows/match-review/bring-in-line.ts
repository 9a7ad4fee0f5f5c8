import { announceNews, clear, raise } from './announcements.js';
import { stands, type Review } from './review.js';

/** Brings everything in line with what is known now: questions and announcements. */
export function bringInLine(review: Review): void {
  const now = Date.now();
  const { phase, since } = review.stage;
  announceNews(review, now);
  if (stands(review, 'decision_needed')) raise(review, 'decision_needed', now);
  clear(review, ({ reason }) => !stands(review, reason), now);
  review.met = review.met.filter((key) => key.startsWith(`${phase}/${since}/`));
}
