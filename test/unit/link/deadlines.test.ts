import { describe, expect, test } from 'vitest';
import { atOnce } from '../../../workflows/entity/loop-timer.js';
import { deadlinesOf, waitingUntil, connectionQueryOf } from '../../../workflows/link/deadlines.js';
import {
  receiveResult,
  receiveWebhook,
  recordNoAnswer,
  end,
  endWait,
  remind,
  type Link,
} from '../../../workflows/link/link.js';
import { asked, claimed, handedOut, hour, looked, minute, opened, openedForAny, start } from './links.js';

/** `6m code reminder`: what is due how many minutes after the start, the earliest first. */
const inBrief = (link: Link) => {
  const when = (at: number) => (at === atOnce ? 'at once' : `${Math.round(((at - start) / minute) * 100) / 100}m`);
  return deadlinesOf(link)
    .map(({ name, at }) => `${when(at)} ${name}`)
    .join(', ');
};
const untilOf = (link: Link) => ((waitingUntil(link) ?? Number.NaN) - start) / minute;

/** After that happened to it. */
function after(link: Link, happen: (link: Link) => void): Link {
  happen(link);
  return link;
}

const reminded = after(asked(), (link) => {
  remind(link, start + hour, start + 6 * minute);
  receiveResult(link, { state: 'pending_provider_mfa' }, start + 7 * minute);
});
const reported = after(asked(), (link) => receiveWebhook(link, start + 2 * minute));
const over = after(asked(), (link) => endWait(link, 'code', start + 2 * hour));
const unanswered = after(structuredClone(over), (link) => recordNoAnswer(link, link.claim, start + 3 * hour));
const ended = after(claimed(), (link) => end(link, 'failed', start + hour));

describe('a link waits', () => {
  test.each<[string, Link, string, number]>([
    ['at first for the password', opened(), '1440m password, 4320m link', 1440],
    ['for the password with a token, too', handedOut(), '1440m password, 4320m link', 1440],
    ['for a code, with a reminder', asked(), '6m code reminder, 61m code, 4320m link', 61],
    ['with one reminder, though the code is asked for again', reminded, '67m code, 4320m link', 67],
    ['for a success to show', claimed(), 'at once confirmation, 4320m link', 4320],
    ['for it again', looked(claimed(), 'none', 2 * minute), '2.03m confirmation, 4320m link', 4320],
    ['for a webhook’s connection, too', reported, 'at once confirmation, 6m code reminder, 61m code, 4320m link', 61],
    ['never longer than the end of all', asked({ totalWait: '30m' }), '6m code reminder, 30m link, 61m code', 30],
    ['for the service’s answer alone once a wait is over', over, 'at once confirmation', NaN],
    ['for that answer again', unanswered, '180.03m confirmation', NaN],
    ['for nothing once it has ended', ended, '', NaN],
  ])('%s', (_what, link, due, until) => {
    expect(inBrief(link)).toBe(due);
    expect(untilOf(link)).toBe(until);
  });

  test.each([{ codeReminder: '1h' }, { codeReminder: '2h', codeWait: '2h' }, { codeReminder: '1d' }] as const)(
    'without a reminder that would come too late: %j',
    (policy) => expect(inBrief(asked(policy))).not.toContain('code reminder'),
  );
});

test('the service is asked for a connection with the provider, or for a new one of those that the user could choose', () => {
  const filterOnProviders = ['oura', 'fitbit'];
  expect(connectionQueryOf({ ...opened(), filterOnProviders })).toEqual({
    ...{ userId: 'user-1', sourceSlug: 'invented_watch' },
  });
  expect(connectionQueryOf(openedForAny())).toEqual({ userId: 'user-1' });
  const connectionsBefore = [{ slug: 'oura', createdAt: '2026-01-01T00:00:00.000Z' }];
  expect(connectionQueryOf({ ...openedForAny(), filterOnProviders, connectionsBefore })).toEqual({
    ...{ userId: 'user-1', oneOf: filterOnProviders, before: connectionsBefore },
  });
});
