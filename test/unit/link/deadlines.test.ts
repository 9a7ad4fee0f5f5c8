import { describe, expect, test } from 'vitest';
import { hearResult } from '../../../workflows/link/answers.js';
import { hearWebhook } from '../../../workflows/link/claims.js';
import { hearConnection } from '../../../workflows/link/connections.js';
import { end, endWait, remind } from '../../../workflows/link/ending.js';
import { deadlinesOf, waitingUntil } from '../../../workflows/link/deadlines.js';
import type { LinkPolicy } from '../../../workflows/link/policy.js';
import { asked, claimed, day, handedOut, hour, minute, opened, second, start } from './cases.js';

/** Name and distance from the start, the earliest first. */
const named = (kase: Parameters<typeof deadlinesOf>[0]) =>
  deadlinesOf(kase).map(({ name, at }) => [name, at - start] as const);

describe('what a link waits for until when', () => {
  test('at first the password, and the end of all', () => {
    for (const kase of [opened(), handedOut()]) {
      expect(named(kase)).toEqual([
        ['password', day],
        ['link', 3 * day],
      ]);
      expect(waitingUntil(kase)).toBe(start + day);
    }
  });

  test('for a code, from the question on, with a reminder that is no end', () => {
    const kase = asked();
    expect(named(kase)).toEqual([
      ['code reminder', 6 * minute],
      ['code', minute + hour],
      ['link', 3 * day],
    ]);
    expect(waitingUntil(kase)).toBe(start + minute + hour);
  });

  test('reminded once, also when it is asked again', () => {
    const kase = asked();
    remind(kase, start + hour, start + 6 * minute);
    hearResult(kase, { state: 'pending_provider_mfa' }, start + 7 * minute);
    expect(named(kase)).toEqual([
      ['code', 7 * minute + hour],
      ['link', 3 * day],
    ]);
  });

  test.each<LinkPolicy>([{ codeReminder: '1h' }, { codeReminder: '2h', codeWait: '2h' }, { codeReminder: '1d' }])(
    'without a reminder that would come too late: %j',
    (policy) => {
      expect(named(asked(policy)).map(([name]) => name)).not.toContain('code reminder');
    },
  );

  test('for the token where the policy ends with it, but not once a success was reported', () => {
    const policy = { onTokenExpiry: 'end' } as const;
    expect(named(handedOut(policy))[0]).toEqual(['token', 10 * minute]);
    expect(waitingUntil(handedOut(policy))).toBe(start + 10 * minute);
    expect(named(asked(policy)).map(([name]) => name)).toContain('token');
    expect(named(claimed(policy)).map(([name]) => name)).not.toContain('token');
    expect(named(opened(policy)).map(([name]) => name)).not.toContain('token');
  });

  test('for a success to show, beside nothing but the end of all', () => {
    const kase = claimed();
    expect(named(kase)).toEqual([
      ['confirmation', 2 * minute],
      ['link', 3 * day],
    ]);
    hearConnection(kase, { found: 'none' }, kase.claim, start + 2 * minute);
    expect(named(kase)[0]).toEqual(['confirmation', 2 * minute + 2 * second]);
  });

  test('for a webhook’s connection beside what was waited for anyway', () => {
    const kase = asked();
    hearWebhook(kase, start + 2 * minute);
    expect(named(kase).map(([name]) => name)).toEqual(['confirmation', 'code reminder', 'code', 'link']);
    expect(waitingUntil(kase)).toBe(start + minute + hour);
  });

  test('is never longer than the end of all', () => {
    const kase = asked({ totalWait: '30m' });
    expect(waitingUntil(kase)).toBe(start + 30 * minute);
  });

  test('for the service’s answer alone once a wait is over', () => {
    const kase = asked();
    endWait(kase, 'code', start + 2 * hour);
    expect(named(kase)).toEqual([['confirmation', 2 * hour]]);
    expect(waitingUntil(kase)).toBeUndefined();
  });

  test('and for nothing once it has ended', () => {
    const kase = claimed();
    end(kase, 'failed', start + hour);
    expect(deadlinesOf(kase)).toEqual([]);
    expect(waitingUntil(kase)).toBeUndefined();
  });
});
