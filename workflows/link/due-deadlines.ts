import type { LinkCase } from './case.js';
import { readConnection } from './confirmation.js';
import { endWait, remind } from './ending.js';
import { deadlinesOf, waitingUntil, type LinkDeadline } from './deadlines.js';

/** Acts on what is due. */
export async function meetDeadlines(kase: LinkCase): Promise<void> {
  for (;;) {
    const due = deadlinesOf(kase).find(({ at }) => at <= Date.now());
    if (!due) return;
    await meet(kase, due);
  }
}

async function meet(kase: LinkCase, { name }: LinkDeadline): Promise<void> {
  switch (name) {
    case 'confirmation':
      return readConnection(kase);
    case 'code reminder':
      return remind(kase, waitingUntil(kase) ?? Date.now(), Date.now());
    case 'password':
    case 'code':
    case 'token':
    case 'link':
      endWait(kase, name, Date.now());
      return readConnection(kase);
    default:
      return name satisfies never;
  }
}
