import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LinkReport } from '../../../protocol/link/link-report.js';
import { receiveResult, openLink, raise, type Link, end, endUnlessConnected } from '../../../workflows/link/link.js';
import { caseFileOf, codeAnswerOf, resultOf, stateOf } from '../../../workflows/link/view.js';
import { asked, claimed, handedOut, hour, looked, minute, opened, start } from './links.js';

const at = (span: number) => new Date(start + span).toISOString();
const fileOf = (link: Link) => caseFileOf(stateOf(link));
const error = (errorType: string): LinkReport => ({ state: 'error', errorType });
const asksForCode = { state: 'pending_provider_mfa' };

/** After this answer to a code. */
function answered(report: LinkReport, link: Link = asked()): Link {
  receiveResult(link, report, start + 2 * minute);
  return link;
}

/** Nobody did what the link waited for. */
function expired(waitedFor: 'password' | 'code' | 'link' = 'code'): Link {
  const link = asked();
  endUnlessConnected(link, { outcome: 'expired', waitedFor }, start + hour);
  return link;
}

function cancelled(): Link {
  const link = asked();
  end(link, 'cancelled', start + hour);
  return link;
}

/** Shown by the service two minutes after the start. */
const connected = () => looked(claimed(), 'new', 3 * minute, { createdAt: at(2 * minute) });

test('the state never has the token or its page in it, nor have an answer, a result or a case file', () => {
  for (const link of [opened(), handedOut(), asked(), claimed(), answered(error('x'))]) {
    const shown = JSON.stringify([stateOf(link), codeAnswerOf(link), resultOf(link)]);
    expect(shown + fileOf(link)).not.toMatch(/invented-token|https:/);
  }
  expect(fileOf(asked()), 'nor the hint').not.toMatch(/23/);
});

test('the case file says in words where the link is, what it waits for until when, what is wrong, and what happened', () => {
  const link = answered(error('incorrect_mfa_code'));
  raise(link, 'notifications_undelivered', start + 3 * minute);
  expect(fileOf(link).split('\n')).toEqual([
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

test.each([
  ['Waits for', 'the user to log in at the provider until 2026-03-02 10:00:00', handedOut()],
  ['Waits for', 'the service to show the connection', claimed()],
  ['Outcome', 'connected', connected()],
  ['Outcome', 'cancelled', cancelled()],
  ['Outcome', 'failed: `unsupported_region`', answered(error('unsupported_region'))],
  ['Outcome', 'expired: the user did not log in', expired('password')],
  ['Outcome', 'expired: the user did not enter the code', expired('code')],
  ['Outcome', 'expired: it took too long', expired('link')],
])('the case file says in words %s %s', (what, said, link) => {
  expect(fileOf(link)).toMatch(new RegExp(`^\\*\\*${what}\\*\\* ${said}(, attempts left: 5)?$`, 'm'));
});

test('the case file says in words hostile text in one line, which breaks no table or code span', () => {
  const evil = '|`\n<b>[x](javascript:1)**&#124;\\\u2028🙂](# x';
  const any = fc.oneof(fc.constant(evil), fc.string({ minLength: 1, maxLength: 64, unit: 'binary' }));
  fc.assert(
    fc.property(any, any, any, (state, errorType, method) => {
      const link = openLink({ userId: 'user-1', provider: 'invented_watch' }, start);
      const before = fileOf(link).split('\n').length;
      receiveResult(link, { ...asksForCode, providerMfa: { method, hint: state } }, start);
      receiveResult(link, { state }, start);
      receiveResult(link, error(errorType), start);
      const lines = fileOf(link).split('\n');
      expect(lines).toHaveLength(before + link.journal.length);
      for (const line of lines.filter((text) => text.startsWith('| 2'))) expect(line.split('|')).toHaveLength(4);
      expect(lines.filter((text) => text.startsWith('#'))).toHaveLength(1);
      expect(fileOf(link)).not.toMatch(/[<>[\]\\&]/);
    }),
  );
});
