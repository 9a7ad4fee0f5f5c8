import { describe, expect, test } from 'vitest';
import type { LinkReport } from '../../../protocol/link/messages.js';
import {
  receiveResult,
  loseToken,
  giveToken,
  type Link,
  doubt,
  recordConnection,
  end,
  endUnlessConnected,
} from '../../../workflows/link/link.js';
import { codeAnswerOf, resultOf, stateOf } from '../../../workflows/link/view.js';
import { asked, claimed, handedOut, held, hour, minute, opened, start } from './links.js';

const at = (span: number) => new Date(start + span).toISOString();

/** After this answer to a code. */
function answered(report: LinkReport, link: Link = asked()): Link {
  receiveResult(link, report, start + 2 * minute);
  return link;
}

describe('the state', () => {
  test('shows where the link stands, until when it waits, and how often the user may still try', () => {
    expect(stateOf(asked())).toEqual({
      userId: 'user-1',
      provider: 'invented_watch',
      phase: 'awaiting_code',
      startedAt: at(0),
      until: at(minute + hour),
      mfa: { method: 'sms', hint: '***23' },
      codeAttemptsLeft: 3,
      passwordAttemptsLeft: 5,
      attention: [],
      timeline: [
        { at: at(0), what: 'link made' },
        { at: at(minute), what: 'code asked by sms' },
      ],
    });
  });

  test('the state never has the token or its page in it', () => {
    for (const link of [opened(), handedOut(), asked(), claimed(), answered({ state: 'error', errorType: 'x' })]) {
      expect(JSON.stringify([stateOf(link), codeAnswerOf(link), resultOf(link)])).not.toMatch(/invented-token|https:/);
    }
  });

  test('waits for nothing any more once it has ended', () => {
    const link = asked();
    endUnlessConnected(link, { outcome: 'expired', waitedFor: 'code' }, start + hour);
    expect(stateOf(link)).toMatchObject({ phase: 'expired', outcome: 'expired', waitedFor: 'code' });
    expect(stateOf(link)).not.toHaveProperty('until');
    expect(stateOf(link)).not.toHaveProperty('mfa');
  });
});

describe('the answer to a code', () => {
  test.each<[string, LinkReport, object]>([
    [
      'wrong_code',
      { state: 'error', errorType: 'incorrect_mfa_code' },
      { attemptsLeft: 2, errorType: 'incorrect_mfa_code' },
    ],
    ['asked_again', { state: 'pending_provider_mfa' }, { attemptsLeft: 3 }],
    ['confirming', { state: 'success' }, {}],
    ['ask_credentials_again', { state: 'error', errorType: 'provider_api_error' }, { errorType: 'provider_api_error' }],
    ['start_over', { state: 'error', errorType: 'token_expired' }, { errorType: 'token_expired' }],
    ['start_over', { state: 'error', errorType: 'error_of_next_year' }, { errorType: 'error_of_next_year' }],
    ['start_over', { state: 'error' }, { errorType: 'unrecognised' }],
    ['start_over', { state: 'state_of_next_year' }, { errorType: 'state_of_next_year' }],
  ])('is %s after %j', (outcome, report, more) => {
    const link = answered(report);
    expect(codeAnswerOf(link)).toEqual({ attemptsLeft: 3, ...more, outcome, state: stateOf(link) });
  });

  test('is confirming while a success may still show, whatever was received since', () => {
    for (const errorType of ['incorrect_mfa_code', 'token_consumed', 'provider_api_error']) {
      const link = answered({ state: 'error', errorType }, claimed());
      expect(codeAnswerOf(link).outcome).toBe('confirming');
    }
  });

  test('is connected once the service shows that', () => {
    const link = answered({ state: 'success' });
    recordConnection(link, { found: 'new', createdAt: at(2 * minute) }, link.claim, start + 3 * minute);
    expect(codeAnswerOf(link)).toMatchObject({ outcome: 'connected', state: { outcome: 'connected' } });
    expect(codeAnswerOf(link)).not.toHaveProperty('errorType');
  });

  test('is a wrong code even if it was the last, with no attempt left', () => {
    const link = answered({ state: 'error', errorType: 'incorrect_mfa_code' }, asked({ maxCodeAttempts: 1 }));
    expect(codeAnswerOf(link)).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 0, state: { outcome: 'failed' } });
  });

  test('is unknown if the service’s answer was lost, even after an earlier wrong code', () => {
    const link = answered({ state: 'error', errorType: 'incorrect_mfa_code' });
    delete link.consequence;
    link.errorType = 'answer_lost';
    doubt(link, start + 3 * minute);
    recordConnection(link, { found: 'none' }, link.claim, start + 3 * minute);
    expect(codeAnswerOf(link)).toMatchObject({ outcome: 'unknown', errorType: 'answer_lost', attemptsLeft: 2 });
  });

  test('is start_over if the login is lost with its token', () => {
    const link = answered({ state: 'error', errorType: 'invalid_token' });
    loseToken(link);
    expect(codeAnswerOf(link)).toMatchObject({ outcome: 'start_over', errorType: 'token_missing' });
  });

  test('has nothing of what was advised before a new token', () => {
    const link = answered({ state: 'error', errorType: 'token_expired' });
    giveToken(link, { ...held, expiresAt: start + hour }, start + 5 * minute);
    receiveResult(link, { state: 'pending_provider_mfa' }, start + 6 * minute);
    receiveResult(link, { state: 'pending_provider_mfa' }, start + 7 * minute);
    expect(codeAnswerOf(link)).toMatchObject({ outcome: 'asked_again' });
  });
});

describe('the result', () => {
  test('names the connection’s own time', () => {
    const link = claimed();
    recordConnection(link, { found: 'new', createdAt: at(2 * minute) }, link.claim, start + 3 * minute);
    expect(resultOf(link)).toEqual({ ...stateOf(link), connectedAt: at(2 * minute) });
    expect(resultOf(link)).toMatchObject({ outcome: 'connected', phase: 'connected', timeline: link.journal });
  });

  test('names what went wrong, or what the user did not do', () => {
    const failed = answered({ state: 'error', errorType: 'unsupported_region' });
    expect(resultOf(failed)).toMatchObject({ outcome: 'failed', errorType: 'unsupported_region' });
    const expired = asked();
    endUnlessConnected(expired, { outcome: 'expired', waitedFor: 'code' }, start + hour);
    expect(resultOf(expired)).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
    const cancelled = asked();
    end(cancelled, 'cancelled', start + hour);
    // What was asked for, such as the end of a telephone number, is not kept.
    expect(resultOf(cancelled)).toEqual(stateOf(cancelled));
    expect(resultOf(cancelled)).not.toHaveProperty('mfa');
  });
});
