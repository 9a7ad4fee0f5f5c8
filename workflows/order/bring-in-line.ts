import { announceNews, announceReplacements, askAboutWords, clear, clearAnswered, raise } from './announcements.js';
import { lateArrivals } from './chain.js';
import { raiseCriticalResults, remindOfCriticalResults } from './critical-results.js';
import { show } from './view.js';
import type { KitOrderRun } from './run.js';

/** Brings everything in line with what is known now: announcements, questions, and what operators see. */
export function bringInLine(run: KitOrderRun): void {
  const { chain } = run;
  const now = Date.now();
  clearAnswered(chain, now);
  const late = lateArrivals(chain).map(({ orderId }) => orderId);
  clear(chain, ({ reason, orderId }) => reason === 'late_arrival' && !late.includes(orderId), now);
  for (const orderId of late) {
    raise(chain, { key: `${orderId}/late_arrival`, reason: 'late_arrival', orderId }, now);
  }
  raiseCriticalResults(run, now);
  remindOfCriticalResults(chain, now);
  askAboutWords(chain, now);
  announceNews(chain);
  announceReplacements(chain, now);
  show(run);
}
