import type { Delivery } from '../entity/outbox.js';
import { clear, raise } from './link.js';
import type { LinkRun } from './workflow.js';

/** What an undelivered notification means for the link. */
export function linkDelivery(run: LinkRun): Delivery {
  const { link } = run;
  return {
    delivered() {
      if (!link.attention.includes('notifications_undelivered')) return;
      clear(link, 'notifications_undelivered');
      run.heard = true;
    },
    undelivered() {
      raise(link, 'notifications_undelivered');
      run.heard = true;
    },
  };
}
