import { describe, expect, test } from 'vitest';
import type { LinkPolicy } from '../../../protocol/link/policy.js';
import { atOnce } from '../../../workflows/entity/alarm.js';
import { deadlinesOf, waitingUntil } from '../../../workflows/link/deadlines.js';
import { connectionQueryOf } from '../../../workflows/link/reading.js';
import {
  receiveResult,
  receiveWebhook,
  recordConnection,
  recordNoAnswer,
  end,
  endWait,
  remind,
} from '../../../workflows/link/link.js';
import { asked, claimed, day, handedOut, hour, minute, opened, openedForAny, second, start } from './links.js';

/** Name and distance from the start, the earliest first. */
const named = (link: Parameters<typeof deadlinesOf>[0]) =>
  deadlinesOf(link).map(({ name, at }) => [name, at - start] as const);

describe('a link waits', () => {
  test('a link waits at first for the password, with the end of everything behind it', () => {
    for (const link of [opened(), handedOut()]) {
      expect(named(link)).toEqual([
        ['password', day],
        ['link', 3 * day],
      ]);
      expect(waitingUntil(link)).toBe(start + day);
    }
  });

  test('a link waits for a code from the question on, with a reminder that does not end the wait', () => {
    const link = asked();
    expect(named(link)).toEqual([
      ['code reminder', 6 * minute],
      ['code', minute + hour],
      ['link', 3 * day],
    ]);
    expect(waitingUntil(link)).toBe(start + minute + hour);
  });

  test('a link waits with one reminder, even if the code is asked for again', () => {
    const link = asked();
    remind(link, start + hour, start + 6 * minute);
    receiveResult(link, { state: 'pending_provider_mfa' }, start + 7 * minute);
    expect(named(link)).toEqual([
      ['code', 7 * minute + hour],
      ['link', 3 * day],
    ]);
  });

  test.each<LinkPolicy>([{ codeReminder: '1h' }, { codeReminder: '2h', codeWait: '2h' }, { codeReminder: '1d' }])(
    'a link waits without a reminder that would come too late: %j',
    (policy) => {
      expect(named(asked(policy)).map(([name]) => name)).not.toContain('code reminder');
    },
  );

  test('a link waits for a success to show, with only the end of everything behind it', () => {
    const link = claimed();
    expect(deadlinesOf(link)).toEqual([
      { name: 'confirmation', at: atOnce },
      { name: 'link', at: start + 3 * day },
    ]);
    recordConnection(link, { found: 'none' }, link.claim, start + 2 * minute);
    expect(named(link)[0]).toEqual(['confirmation', 2 * minute + 2 * second]);
  });

  test('a link waits for a webhook’s connection beside what was awaited anyway', () => {
    const link = asked();
    receiveWebhook(link, start + 2 * minute);
    expect(named(link).map(([name]) => name)).toEqual(['confirmation', 'code reminder', 'code', 'link']);
    expect(waitingUntil(link)).toBe(start + minute + hour);
  });

  test('a link waits never longer than the end of everything', () => {
    const link = asked({ totalWait: '30m' });
    expect(waitingUntil(link)).toBe(start + 30 * minute);
  });

  test('a link waits for the service’s answer alone once a wait is over', () => {
    const link = asked();
    endWait(link, 'code', start + 2 * hour);
    expect(deadlinesOf(link)).toEqual([{ name: 'confirmation', at: atOnce }]);
    expect(waitingUntil(link)).toBeUndefined();
    recordNoAnswer(link, link.claim, start + 3 * hour);
    expect(named(link)).toEqual([['confirmation', 3 * hour + 2 * second]]);
  });

  test('a link waits for nothing once it has ended', () => {
    const link = claimed();
    end(link, 'failed', start + hour);
    expect(deadlinesOf(link)).toEqual([]);
    expect(waitingUntil(link)).toBeUndefined();
  });
});

test('the service is asked for a connection with the provider, or for a new one of those that the user could choose', () => {
  const filterOnProviders = ['oura', 'fitbit'];
  const since = start - minute;
  expect(connectionQueryOf({ ...opened(), filterOnProviders })).toEqual({
    ...{ userId: 'user-1', sourceSlug: 'invented_watch', since },
  });
  expect(connectionQueryOf(openedForAny())).toEqual({ userId: 'user-1', since });
  const connectionsBefore = [{ slug: 'oura', createdAt: '2026-01-01T00:00:00.000Z' }];
  expect(connectionQueryOf({ ...openedForAny(), filterOnProviders, connectionsBefore })).toEqual({
    ...{ userId: 'user-1', oneOf: filterOnProviders, except: connectionsBefore, since },
  });
});
