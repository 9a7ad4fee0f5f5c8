import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  receiveResult,
  openLink,
  raise,
  recordConnection,
  end,
  endUnlessConnected,
} from '../../../workflows/link/link.js';
import { caseFileOf, stateOf } from '../../../workflows/link/view.js';
import { asked, claimed, handedOut, hour, minute, start } from './links.js';

const fileOf = (link: ReturnType<typeof asked>) => caseFileOf(stateOf(link));
const linesOf = (link: ReturnType<typeof asked>) => fileOf(link).split('\n');

describe('the case file says in words', () => {
  test('the case file says in words where the link is, what it waits for until when, what is wrong, and what happened', () => {
    const link = asked();
    receiveResult(link, { state: 'error', errorType: 'incorrect_mfa_code' }, start + 2 * minute);
    raise(link, 'notifications_undelivered', start + 3 * minute);
    expect(linesOf(link)).toEqual([
      '### Awaiting code',
      '',
      'Provider `invented_watch`, user `user-1`',
      '',
      '**Waits for** the code sent by sms until 2026-03-01 11:02:00, attempts left: 2',
      '',
      '**Attention** notifications undelivered since 2026-03-01 10:03:00',
      '',
      '| When (UTC) | What happened |',
      '| --- | --- |',
      '| 2026-03-01 10:00:00 | Link made |',
      '| 2026-03-01 10:01:00 | Code asked by sms |',
      '| 2026-03-01 10:02:00 | Error incorrect mfa code |',
      '| 2026-03-01 10:03:00 | Attention raised: notifications undelivered |',
    ]);
  });

  test('the case file says in words that the user must log in', () => {
    expect(fileOf(handedOut())).toContain('**Waits for** the user to log in at the provider until 2026-03-02 10:00:00');
  });

  test('the case file says in words that the service must show the connection', () => {
    expect(fileOf(claimed())).toContain('**Waits for** the service to show the connection\n');
  });

  test('how it ended', () => {
    const connected = claimed();
    recordConnection(connected, { found: 'new' }, connected.claim, start + hour);
    expect(fileOf(connected)).toContain('**Outcome** connected\n');
    const cancelled = asked();
    end(cancelled, 'cancelled', start + hour);
    expect(fileOf(cancelled)).toContain('**Outcome** cancelled\n');
    const failed = asked();
    receiveResult(failed, { state: 'error', errorType: 'unsupported_region' }, start + hour);
    expect(fileOf(failed)).toContain('**Outcome** failed: `unsupported_region`\n');
  });

  test.each([
    ['password', 'the user did not log in'],
    ['code', 'the user did not enter the code'],
    ['link', 'it took too long'],
  ] as const)('the case file says in words which wait was in vain: %s', (waitedFor, said) => {
    const link = asked();
    endUnlessConnected(link, { outcome: 'expired', waitedFor }, start + hour);
    expect(fileOf(link)).toContain(`**Outcome** expired: ${said}\n`);
  });
});

test('the hint, the token and its page are not shown', () => {
  expect(fileOf(asked())).not.toMatch(/23|token|https/);
});

test('hostile text breaks no table, code span or line', () => {
  const evil = ['|', '`', '\n', '<b>', '[x](javascript:1)', '**', '&#124;', '\\', '\u2028', '🙂', '](', '# x'].join('');
  const any = fc.oneof(fc.constant(evil), fc.string({ minLength: 1, maxLength: 64, unit: 'binary' }));
  fc.assert(
    fc.property(any, any, any, (state, errorType, method) => {
      const link = openLink({ userId: 'user-1', provider: 'invented_watch' }, start);
      const before = fileOf(link).split('\n').length;
      receiveResult(link, { state: 'pending_provider_mfa', providerMfa: { method, hint: state } }, start);
      receiveResult(link, { state }, start);
      receiveResult(link, { state: 'error', errorType }, start);
      const lines = linesOf(link);
      expect(lines).toHaveLength(before + link.journal.length);
      for (const line of lines.filter((text) => text.startsWith('| 2'))) expect(line.split('|')).toHaveLength(4);
      expect(lines.filter((text) => text.startsWith('#'))).toHaveLength(1);
      expect(fileOf(link)).not.toMatch(/[<>[\]\\&]/);
    }),
  );
});
