import { describe, expect, test } from 'vitest';
import { hearResult, loseToken } from '../../../workflows/link/answers.js';
import { giveToken, type LinkCase } from '../../../workflows/link/case.js';
import { doubt } from '../../../workflows/link/claims.js';
import { hearConnection } from '../../../workflows/link/connections.js';
import { end, endUnlessConnected } from '../../../workflows/link/ending.js';
import type { LinkReport } from '../../../workflows/link/messages.js';
import { codeAnswerOf, resultOf, stateOf } from '../../../workflows/link/view.js';
import { asked, claimed, handedOut, held, hour, minute, opened, start } from './cases.js';

const at = (span: number) => new Date(start + span).toISOString();

/** After this answer to a code. */
function answered(report: LinkReport, kase: LinkCase = asked()): LinkCase {
  hearResult(kase, report, start + 2 * minute);
  return kase;
}

describe('the state', () => {
  test('says where the link stands, until when it waits, and how often the user may still try', () => {
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

  test('never has the token or its page in it', () => {
    for (const kase of [opened(), handedOut(), asked(), claimed(), answered({ state: 'error', errorType: 'x' })]) {
      expect(JSON.stringify([stateOf(kase), codeAnswerOf(kase), resultOf(kase)])).not.toMatch(/invented-token|https:/);
    }
  });

  test('waits for nothing any more once it has ended', () => {
    const kase = asked();
    endUnlessConnected(kase, { outcome: 'expired', waitedFor: 'code' }, start + hour);
    expect(stateOf(kase)).toMatchObject({ phase: 'expired', outcome: 'expired', waitedFor: 'code' });
    expect(stateOf(kase)).not.toHaveProperty('until');
    expect(stateOf(kase)).not.toHaveProperty('mfa');
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
    const kase = answered(report);
    expect(codeAnswerOf(kase)).toEqual({ attemptsLeft: 3, ...more, outcome, state: stateOf(kase) });
  });

  test('is confirming while a success may still show, whatever was heard since', () => {
    for (const errorType of ['incorrect_mfa_code', 'token_consumed', 'provider_api_error']) {
      const kase = answered({ state: 'error', errorType }, claimed());
      expect(codeAnswerOf(kase).outcome).toBe('confirming');
    }
  });

  test('is connected once that is shown', () => {
    const kase = answered({ state: 'success' });
    hearConnection(kase, { found: 'new', createdAt: at(2 * minute) }, kase.claim, start + 3 * minute);
    expect(codeAnswerOf(kase)).toMatchObject({ outcome: 'connected', state: { outcome: 'connected' } });
    expect(codeAnswerOf(kase)).not.toHaveProperty('errorType');
  });

  test('is a wrong code also where it was the last, with no attempt left', () => {
    const kase = answered({ state: 'error', errorType: 'incorrect_mfa_code' }, asked({ maxCodeAttempts: 1 }));
    expect(codeAnswerOf(kase)).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 0, state: { outcome: 'failed' } });
  });

  test('is unknown where it was lost, also after an earlier wrong code', () => {
    const kase = answered({ state: 'error', errorType: 'incorrect_mfa_code' });
    delete kase.consequence;
    kase.errorType = 'answer_lost';
    doubt(kase, start + 3 * minute);
    hearConnection(kase, { found: 'none' }, kase.claim, start + 3 * minute);
    expect(codeAnswerOf(kase)).toMatchObject({ outcome: 'unknown', errorType: 'answer_lost', attemptsLeft: 2 });
  });

  test('is to start over where the login is lost with its token', () => {
    const kase = answered({ state: 'error', errorType: 'invalid_token' });
    loseToken(kase);
    expect(codeAnswerOf(kase)).toMatchObject({ outcome: 'start_over', errorType: 'token_missing' });
  });

  test('has nothing of what was advised before a new token', () => {
    const kase = answered({ state: 'error', errorType: 'token_expired' });
    giveToken(kase, { ...held, expiresAt: start + hour }, start + 5 * minute);
    hearResult(kase, { state: 'pending_provider_mfa' }, start + 6 * minute);
    hearResult(kase, { state: 'pending_provider_mfa' }, start + 7 * minute);
    expect(codeAnswerOf(kase)).toMatchObject({ outcome: 'asked_again' });
  });
});

describe('the result', () => {
  test('names the connection’s own time', () => {
    const kase = claimed();
    hearConnection(kase, { found: 'new', createdAt: at(2 * minute) }, kase.claim, start + 3 * minute);
    expect(resultOf(kase)).toEqual({
      outcome: 'connected',
      userId: 'user-1',
      provider: 'invented_watch',
      startedAt: at(0),
      connectedAt: at(2 * minute),
      timeline: kase.journal,
    });
  });

  test('names what went wrong, or what the user did not do', () => {
    const failed = answered({ state: 'error', errorType: 'unsupported_region' });
    expect(resultOf(failed)).toMatchObject({ outcome: 'failed', errorType: 'unsupported_region' });
    const expired = asked();
    endUnlessConnected(expired, { outcome: 'expired', waitedFor: 'code' }, start + hour);
    expect(resultOf(expired)).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
    const cancelled = asked();
    end(cancelled, 'cancelled', start + hour);
    expect(Object.keys(resultOf(cancelled))).toEqual(['outcome', 'userId', 'provider', 'startedAt', 'timeline']);
  });
});
