import type { Telling } from '../outbox.js';
import { linkProviderId } from './address.js';
import { clear, raise } from './case.js';
import type { LinkNotification } from './notifications.js';
import type { LinkRun } from './run.js';

/** How a link's notifications go out. */
export function linkTelling(run: LinkRun): Telling<LinkNotification> {
  const { kase } = run;
  return {
    asNotification({ id, at, type, data }) {
      const { userId, provider } = kase;
      return {
        id,
        at,
        source: linkProviderId(userId, provider),
        type: `link.${type}`,
        subject: userId,
        data: { userId, provider, ...data },
      };
    },
    wordsFor: ({ type, data }) => ('outcome' in data ? data.outcome : type.replaceAll('_', ' ')),
    delivered() {
      if (!kase.attention.includes('notifications_undelivered')) return;
      clear(kase, 'notifications_undelivered');
      run.heard = true;
    },
    undelivered() {
      raise(kase, 'notifications_undelivered');
      run.heard = true;
    },
  };
}
