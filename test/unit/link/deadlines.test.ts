import { describe, expect, test } from 'vitest';
import { atOnce } from '../../../workflows/entity/loop-timer.js';
import { deadlinesOf, waitingUntil, connectionQueryOf } from '../../../workflows/link/deadlines.js';
import { receiveWebhook, end, type Link } from '../../../workflows/link/link.js';
import { asked, claimed, hour, minute, opened, openedForAny, start } from './links.js';

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

const reported = after(asked(), (link) => receiveWebhook(link, start + 2 * minute));
const ended = after(claimed(), (link) => end(link, 'failed', start + hour));

describe('a link waits', () => {
  test.each<[string, Link, string, number]>([
    ['for a webhook’s connection, too', reported, 'at once confirmation, 6m code reminder, 61m code, 4320m link', 61],
    ['never longer than the end of all', asked({ totalWait: '30m' }), '6m code reminder, 30m link, 61m code', 30],
    ['for nothing once it has ended', ended, '', NaN],
  ])('%s', (_what, link, due, until) => {
    expect(inBrief(link)).toBe(due);
    expect(untilOf(link)).toBe(until);
  });

  test('without a reminder that would come too late', () => {
    expect(inBrief(asked({ codeReminder: '1h' }))).not.toContain('code reminder');
  });
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
