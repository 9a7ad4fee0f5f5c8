import { timeOf } from '../entity/loop-timer.js';
import { announceNews, announceReplacements } from './announcements.js';
import { raiseCriticalResults, remindOfCriticalResults } from './critical-results.js';
import { askAboutLateArrivals, askAboutWords, clearAnswered } from './questions.js';
import type { KitOrderRun } from './run.js';
import { show } from './view.js';

/** Brings everything that others see in line with what is known: questions, alarms, notifications, and the case file. */
export function publish(run: KitOrderRun): void {
  const { chain } = run;
  const now = Date.now();
  clearAnswered(chain, now);
  askAboutLateArrivals(chain, now);
  raiseCriticalResults(run, now);
  remindOfCriticalResults(chain, timeOf(chain));
  askAboutWords(chain, now);
  announceNews(chain);
  announceReplacements(chain, now);
  show(chain);
}
