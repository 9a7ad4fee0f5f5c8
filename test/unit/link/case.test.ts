import { describe, expect, test } from 'vitest';
import { hearResult } from '../../../workflows/link/answers.js';
import { beginAgain, giveToken, hasUsableToken, note, openLink, type LinkCase } from '../../../workflows/link/case.js';
import { confirmAt, doubt, hearWebhook, oldestOwn } from '../../../workflows/link/claims.js';
import { hearConnection, hearNoAnswer } from '../../../workflows/link/connections.js';
import { end, endWait, remind } from '../../../workflows/link/ending.js';
import type { LinkReport } from '../../../workflows/link/messages.js';
import { asked, claimed, day, entries, handedOut, held, hour, minute, opened, second, start } from './cases.js';

const error = (errorType?: string): LinkReport => ({ state: 'error', ...(errorType !== undefined && { errorType }) });
const newConnection = new Date(start + 3 * minute).toISOString();

/** All consequences of hearing this, one after the other. */
function hearAll(kase: LinkCase, ...reports: LinkReport[]): void {
  for (const [index, report] of reports.entries()) hearResult(kase, report, start + (3 + index) * minute);
}

describe('a link that begins', () => {
  test('waits for the password from its start, without a token, and has nothing to tell', () => {
    expect(opened()).toMatchObject({
      userId: 'user-1',
      provider: 'invented_watch',
      phase: 'awaiting_password',
      startedAt: start,
      since: start,
      wrongCodes: 0,
      failedLogins: 0,
      attention: [],
      outbox: [],
      journal: [],
    });
    expect(opened()).not.toHaveProperty('token');
    expect(opened()).not.toHaveProperty('outcome');
  });

  test('goes on with what was carried over, and takes null for nothing', () => {
    const carried = asked();
    expect(openLink({ userId: 'user-1', provider: 'invented_watch', carried }, start + day)).toBe(carried);
    const sent = { userId: 'user-1', provider: 'invented_watch', carried: null, redirectUrl: null, policy: null };
    expect(openLink(sent as never, start)).toEqual(opened());
  });

  test('is plain JSON at every stage', () => {
    for (const kase of [opened(), handedOut(), asked(), claimed()]) {
      expect(JSON.parse(JSON.stringify(kase))).toEqual(kase);
    }
  });
});

describe('a token', () => {
  test('is not handed out in its last minute: the user has still to get to the page', () => {
    const kase = handedOut();
    expect(hasUsableToken(kase, start + 9 * minute - 1)).toBe(true);
    expect(hasUsableToken(kase, start + 9 * minute)).toBe(false);
    expect(hasUsableToken(opened(), start)).toBe(false);
  });

  test('of a short life is handed out until a tenth of it is left', () => {
    const kase = opened({ tokenLife: '100s' });
    giveToken(kase, { ...held, expiresAt: start + 100 * second }, start);
    expect(hasUsableToken(kase, start + 90 * second - 1)).toBe(true);
    expect(hasUsableToken(kase, start + 90 * second)).toBe(false);
  });

  test('is usable to its end for the code of a login that it carries', () => {
    const kase = asked();
    expect(hasUsableToken(kase, start + 10 * minute - 1)).toBe(true);
    expect(hasUsableToken(kase, start + 10 * minute)).toBe(false);
  });

  test('is counted when it is made', () => {
    const kase = opened();
    expect(kase.tokens).toBe(0);
    for (const tokens of [1, 2]) {
      giveToken(kase, { ...held, expiresAt: start + hour }, start);
      expect(kase.tokens).toBe(tokens);
    }
    expect(entries(kase)).toEqual(['link made', 'new link made']);
  });

  test('that is new means a new login: what was asked before no longer counts', () => {
    const kase = asked();
    giveToken(kase, { ...held, token: 'another', expiresAt: start + hour }, start + 20 * minute);
    expect(kase).toMatchObject({ phase: 'awaiting_password', since: start + 20 * minute, token: { token: 'another' } });
    expect(kase).not.toHaveProperty('mfa');
    expect(entries(kase)).toEqual(['link made', 'code asked by sms', 'new link made']);
  });

  test('that is asked for at once leaves the wait as the start began it; one that comes later begins it', () => {
    for (const [after, since] of [
      [59 * second, 0],
      [minute, minute],
      [hour, hour],
    ] as const) {
      const kase = opened();
      giveToken(kase, { ...held, expiresAt: start + day }, start + after);
      expect(kase.since).toBe(start + since);
    }
  });

  test('that is new follows the advice to start over, which is not shown any more; what went wrong still is', () => {
    const kase = asked();
    hearAll(kase, error('token_expired'));
    expect(kase).toMatchObject({ consequence: 'start_over', errorType: 'token_expired' });
    giveToken(kase, { ...held, expiresAt: start + hour }, start + 20 * minute);
    expect(kase).not.toHaveProperty('consequence');
    expect(kase.errorType).toBe('token_expired');
  });
});

describe('a code that is asked for', () => {
  test.each([
    [{ method: 'sms', hint: '***23' }, 'code asked by sms'],
    [{ method: 'carrier_pigeon' }, 'code asked by carrier_pigeon'],
    [{ hint: 'look at your phone' }, 'code asked'],
    [undefined, 'code asked'],
  ])('%j is waited for from then on', (providerMfa, said) => {
    const kase = handedOut();
    hearResult(kase, { state: 'pending_provider_mfa', ...(providerMfa && { providerMfa }) }, start + minute);
    expect(kase).toMatchObject({ phase: 'awaiting_code', since: start + minute, mfa: providerMfa ?? {} });
    expect(entries(kase).at(-1)).toBe(said);
  });

  test('once more is waited for anew, with the new hint, and is no error', () => {
    const kase = asked();
    hearAll(kase, error('incorrect_mfa_code'), {
      state: 'pending_provider_mfa',
      providerMfa: { method: 'email', hint: 't***@example.com' },
    });
    expect(kase).toMatchObject({ phase: 'awaiting_code', since: start + 4 * minute, mfa: { method: 'email' } });
    expect(kase).not.toHaveProperty('errorType');
    expect(kase).not.toHaveProperty('consequence');
    expect(kase.wrongCodes).toBe(1);
  });
});

describe('wrong codes', () => {
  test('are asked again, with the time and the question as they are, until the last one', () => {
    const kase = asked({ maxCodeAttempts: 2 });
    hearAll(kase, error('incorrect_mfa_code'));
    expect(kase).toMatchObject({ phase: 'awaiting_code', wrongCodes: 1, since: start + 3 * minute });
    expect(kase.mfa).toEqual({ method: 'sms', hint: '***23' });
    hearAll(kase, error('incorrect_mfa_code'));
    expect(kase).toMatchObject({ outcome: 'failed', wrongCodes: 2, errorType: 'incorrect_mfa_code' });
  });

  test('are counted over all logins of the link', () => {
    const kase = asked({ maxCodeAttempts: 2 });
    hearAll(kase, error('incorrect_mfa_code'), error('token_expired'));
    giveToken(kase, { ...held, expiresAt: start + hour }, start + 10 * minute);
    hearAll(kase, { state: 'pending_provider_mfa' }, error('incorrect_mfa_code'));
    expect(kase.outcome).toBe('failed');
  });

  test('that the password step reports are waited for too', () => {
    const kase = handedOut();
    hearAll(kase, error('incorrect_mfa_code'));
    expect(kase).toMatchObject({ phase: 'awaiting_code', mfa: {} });
  });
});

describe('failed logins', () => {
  test('end the link at the limit', () => {
    const kase = handedOut({ maxPasswordAttempts: 2 });
    hearAll(kase, error('provider_credential_error'));
    expect(kase).toMatchObject({ phase: 'awaiting_password', failedLogins: 1, token: held });
    hearAll(kase, error('provider_api_error'));
    expect(kase).toMatchObject({ outcome: 'failed', errorType: 'provider_api_error' });
  });

  test.each(['invalid_token', 'token_expired', 'token_not_validated', 'token_consumed', 'token_of_next_year'])(
    'are not counted where the token was at fault: %s',
    (errorType) => {
      const kase = handedOut({ maxPasswordAttempts: 1 });
      hearAll(kase, error(errorType), error(errorType), error(errorType));
      expect(kase).toMatchObject({ phase: 'awaiting_password', failedLogins: 0 });
      expect(kase).not.toHaveProperty('token');
    },
  );

  test.each(['error_of_next_year', undefined, 'constructor', '__proto__', 'invalid_token_2'])(
    'of a type that nobody knows are counted, and bring no token that may be spoilt: %s',
    (errorType) => {
      const kase = handedOut({ maxPasswordAttempts: 2 });
      hearAll(kase, error(errorType));
      expect(kase).toMatchObject({
        failedLogins: 1,
        consequence: 'start_over',
        errorType: errorType ?? 'unrecognised',
      });
      expect(kase).not.toHaveProperty('token');
      hearAll(kase, error(errorType));
      expect(kase.outcome).toBe('failed');
    },
  );
});

test('an expired token ends the link where the policy says so, and only an expired one', () => {
  const kase = handedOut({ onTokenExpiry: 'end' });
  hearAll(kase, error('invalid_token'));
  expect(kase.outcome).toBeUndefined();
  hearAll(kase, error('token_expired'));
  expect(kase).toMatchObject({ outcome: 'expired', waitedFor: 'token', errorType: 'token_expired' });
});

describe('an unknown state', () => {
  test('is treated as an error that nobody knows, and has the service asked for its truth first', () => {
    const kase = asked();
    hearAll(kase, { state: 'state_of_next_year' });
    expect(kase).toMatchObject({
      phase: 'awaiting_password',
      errorType: 'state_of_next_year',
      consequence: 'start_over',
      failedLogins: 1,
      claim: { by: 'doubt' },
    });
    expect(kase).not.toHaveProperty('token');
    hearConnection(kase, { found: 'none' }, kase.claim, start + 3 * minute);
    expect(kase).not.toHaveProperty('claim');
    expect(kase.outcome).toBeUndefined();
  });

  test('behind which there is a connection is connected', () => {
    const kase = asked();
    hearAll(kase, { state: 'state_of_next_year' });
    hearConnection(kase, { found: 'new' }, kase.claim, start + 3 * minute);
    expect(kase.outcome).toBe('connected');
    expect(kase).not.toHaveProperty('errorType');
  });

  test('ends the link once it has come as often as logins may fail, and the service shows nothing', () => {
    const kase = asked({ maxPasswordAttempts: 1 });
    hearAll(kase, { state: 'state_of_next_year' });
    expect(kase.outcome).toBeUndefined();
    hearConnection(kase, { found: 'older' }, kase.claim, start + 3 * minute);
    expect(kase).toMatchObject({ outcome: 'failed', errorType: 'state_of_next_year' });
  });
});

describe('a success', () => {
  test('is believed once the service shows the connection', () => {
    const kase = claimed();
    expect(kase).toMatchObject({ phase: 'confirming', claim: { by: 'success', reads: 0 } });
    expect(kase).not.toHaveProperty('mfa');
    hearConnection(kase, { found: 'new', createdAt: newConnection }, kase.claim, start + 3 * minute);
    expect(kase).toMatchObject({ outcome: 'connected', connectedAt: newConnection });
  });

  test('is looked for at once and then at widening distance, until its time is over', () => {
    const kase = claimed();
    const claimedAt = start + 2 * minute;
    const looks: number[] = [];
    while (kase.claim) {
      const at = confirmAt(kase) ?? 0;
      looks.push((at - claimedAt) / second);
      hearConnection(kase, { found: 'none' }, kase.claim, at);
    }
    expect(looks).toEqual([0, 2, 4, 8, 16, 32, 64, 120]);
    expect(kase).toMatchObject({ phase: 'awaiting_password', since: claimedAt + 2 * minute });
    expect(kase.attention).toEqual(['connection_unconfirmed']);
    expect(kase).not.toHaveProperty('token');
  });

  test('that an older connection could explain is looked for as patiently', () => {
    const kase = claimed();
    hearConnection(kase, { found: 'older', createdAt: '2020-01-01T00:00:00.000Z' }, kase.claim, start + 2 * minute);
    expect(kase).toMatchObject({ phase: 'confirming', claim: { reads: 1 } });
    expect(kase).not.toHaveProperty('connectedAt');
  });

  test('that cannot be looked up loses no time: the outage is no evidence', () => {
    const kase = claimed();
    hearNoAnswer(kase, kase.claim, start + 10 * minute);
    expect(kase.claim).toEqual({ by: 'success', at: start + 10 * minute, reads: 1, unanswered: true });
    expect(confirmAt(kase)).toBe(start + 10 * minute + 2 * second);
    hearConnection(kase, { found: 'none' }, kase.claim, start + 11 * minute);
    expect(kase.phase).toBe('confirming');
  });

  test('is looked for ever more rarely in a long outage, and as usual after it', () => {
    const kase = claimed();
    const pauses: number[] = [];
    for (let looks = 0; looks < 12; looks += 1) {
      const at = confirmAt(kase) ?? 0;
      hearNoAnswer(kase, kase.claim, at);
      pauses.push(((confirmAt(kase) ?? 0) - at) / second);
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
    hearConnection(kase, { found: 'none' }, kase.claim, (kase.claim?.at ?? 0) + second);
    expect(kase.claim).not.toHaveProperty('unanswered');
    expect((confirmAt(kase) ?? 0) - (kase.claim?.at ?? 0)).toBe(2 * minute);
  });

  test('is not undone by a question for a code that comes late, or comes twice', () => {
    const kase = claimed();
    hearResult(kase, { state: 'pending_provider_mfa', providerMfa: { method: 'email' } }, start + 3 * minute);
    expect(kase).toMatchObject({ phase: 'confirming', claim: { by: 'success' } });
    expect(kase).not.toHaveProperty('mfa');
    expect(entries(kase).at(-1)).toBe('code asked by email');
  });

  test('that is dropped does not take a later login away', () => {
    const kase = claimed();
    hearResult(kase, error('provider_credential_error'), start + 3 * minute);
    hearConnection(kase, { found: 'none' }, kase.claim, start + 5 * minute);
    expect(kase).toMatchObject({ phase: 'awaiting_password', since: start + 3 * minute, token: held });
    expect(kase.attention).toEqual(['connection_unconfirmed']);
  });

  test('clears what was asked of a person, and what went wrong before', () => {
    const kase = asked();
    hearAll(kase, error('incorrect_mfa_code'));
    kase.attention = ['connection_unconfirmed', 'notifications_undelivered'];
    hearConnection(kase, { found: 'new' }, kase.claim, start + 9 * minute);
    expect(kase.attention).toEqual(['notifications_undelivered']);
    for (const gone of ['errorType', 'consequence', 'connectedAt', 'mfa', 'token', 'claim']) {
      expect(kase).not.toHaveProperty(gone);
    }
  });
});

describe('a webhook', () => {
  test.each(['none', 'older'] as const)(
    'is looked after for a while where the service shows nothing new, and then forgotten without further ado: %s',
    (found) => {
      const kase = asked();
      hearWebhook(kase, start + 4 * minute);
      expect(kase).toMatchObject({ phase: 'awaiting_code', claim: { by: 'webhook', reads: 0 } });
      hearConnection(kase, { found }, kase.claim, start + 4 * minute);
      expect(kase.claim).toMatchObject({ by: 'webhook', reads: 1 });
      hearConnection(kase, { found }, kase.claim, start + 6 * minute);
      expect(kase).not.toHaveProperty('claim');
      expect(kase).toMatchObject({ phase: 'awaiting_code', token: held, attention: [] });
    },
  );

  test.each(['none', 'older', undefined] as const)(
    'that comes during a look is not taken for what was looked into, and is read next: %s',
    (found) => {
      const kase = asked();
      doubt(kase, start + 3 * minute);
      const looked = kase.claim;
      hearWebhook(kase, start + 4 * minute);
      if (found) hearConnection(kase, { found }, looked, start + 4 * minute);
      else hearNoAnswer(kase, looked, start + 4 * minute);
      expect(kase.claim).toEqual({ by: 'webhook', at: start + 4 * minute, reads: 0 });
      expect(confirmAt(kase)).toBe(start + 4 * minute);
    },
  );

  test('has a reported success looked for at once, from then on, and does not make it less certain', () => {
    const kase = claimed();
    hearConnection(kase, { found: 'none' }, kase.claim, start + 3 * minute);
    hearWebhook(kase, start + 3 * minute);
    expect(kase.claim).toEqual({ by: 'success', at: start + 3 * minute, reads: 0 });
    expect(confirmAt(kase)).toBe(start + 3 * minute);
  });

  test('takes the place of a doubt', () => {
    const kase = asked();
    doubt(kase, start + 3 * minute);
    hearWebhook(kase, start + 4 * minute);
    expect(kase.claim).toMatchObject({ by: 'webhook' });
  });
});

describe('a doubt', () => {
  test('is gone once the service shows no new connection', () => {
    for (const found of ['none', 'older'] as const) {
      const kase = asked();
      doubt(kase, start + 3 * minute);
      hearConnection(kase, { found }, kase.claim, start + 3 * minute);
      expect(kase).not.toHaveProperty('claim');
      expect(kase).toMatchObject({ phase: 'awaiting_code', token: held });
    }
  });

  test('stands while the service cannot be asked', () => {
    const kase = asked();
    doubt(kase, start + 3 * minute);
    hearNoAnswer(kase, kase.claim, start + 5 * minute);
    expect(kase.claim).toEqual({ by: 'doubt', at: start + 5 * minute, reads: 1, unanswered: true });
  });

  test('does not weaken a reported success, nor what a webhook told', () => {
    const told = asked();
    hearWebhook(told, start + 2 * minute);
    for (const kase of [claimed(), told]) {
      const before = structuredClone(kase.claim);
      doubt(kase, start + 3 * minute);
      expect(kase.claim).toEqual(before);
    }
  });
});

describe('a wait that is over', () => {
  const over = start + 2 * hour;

  test.each(['none', 'older'] as const)('ends the link once the service has said so: %s', (found) => {
    const kase = asked();
    endWait(kase, 'code', over);
    expect(kase.outcome).toBeUndefined();
    hearConnection(kase, { found }, kase.claim, over);
    expect(kase).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
    expect(kase).not.toHaveProperty('ending');
  });

  test('ends connected where the user connected unheard', () => {
    const kase = asked();
    endWait(kase, 'code', over);
    hearConnection(kase, { found: 'new', createdAt: newConnection }, kase.claim, over);
    expect(kase).toMatchObject({ outcome: 'connected' });
    expect(kase).not.toHaveProperty('waitedFor');
  });

  test('does not end while the service cannot be asked, except after a day of that', () => {
    const kase = asked();
    endWait(kase, 'code', over);
    hearNoAnswer(kase, kase.claim, over + day - 1);
    expect(kase.outcome).toBeUndefined();
    hearNoAnswer(kase, kase.claim, over + day);
    expect(kase).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
  });

  test('stays the one that was over first, whatever the user still does', () => {
    const kase = asked();
    endWait(kase, 'code', over);
    hearNoAnswer(kase, kase.claim, over + minute);
    hearResult(kase, { state: 'pending_provider_mfa' }, over + 2 * minute);
    endWait(kase, 'link', over + 3 * minute);
    hearWebhook(kase, over + 4 * minute);
    hearConnection(kase, { found: 'none' }, kase.claim, over + 7 * minute);
    expect(kase).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
  });

  test('leaves a reported success, and what a webhook told, its time to show', () => {
    const told = asked();
    hearWebhook(told, start + 2 * minute);
    for (const kase of [claimed(), told]) {
      endWait(kase, 'link', start + 3 * minute);
      hearConnection(kase, { found: 'none' }, kase.claim, start + 3 * minute);
      expect(kase.outcome).toBeUndefined();
      hearConnection(kase, { found: 'none' }, kase.claim, start + 4 * minute);
      expect(kase).toMatchObject({ outcome: 'expired', waitedFor: 'link' });
    }
  });
});

describe('an error that ends the link', () => {
  const atTheEnd = start + 5 * minute;

  test.each([
    ['user_cancelled', 'cancelled'],
    ['unsupported_region', 'failed'],
  ])('ends it at once where nothing speaks for a connection: %s', (errorType, outcome) => {
    const kase = asked();
    hearResult(kase, error(errorType), atTheEnd);
    expect(kase).toMatchObject({ outcome, errorType });
  });

  test.each<[string, () => LinkCase]>([
    [
      'webhook',
      () => {
        const kase = asked();
        hearWebhook(kase, start + 4 * minute);
        return kase;
      },
    ],
    ['success', () => claimed()],
    [
      'doubt',
      () => {
        const kase = asked();
        doubt(kase, start + 4 * minute);
        return kase;
      },
    ],
  ])('has the service asked first where one may have been made: %s', (by, make) => {
    for (const errorType of ['user_cancelled', 'unsupported_region', 'duplicate_connection']) {
      const kase = make();
      hearResult(kase, error(errorType), atTheEnd);
      expect(kase).toMatchObject({ claim: { by }, ending: { since: atTheEnd } });
      expect(kase.outcome).toBeUndefined();
      const connected = structuredClone(kase);
      hearConnection(connected, { found: 'new' }, connected.claim, atTheEnd);
      expect(connected.outcome).toBe('connected');
      hearConnection(kase, { found: 'none' }, kase.claim, atTheEnd + 5 * minute);
      expect(kase).toMatchObject({ outcome: errorType === 'user_cancelled' ? 'cancelled' : 'failed', errorType });
    }
  });

  test.each(['token_consumed', 'duplicate_connection'])('may hide a connection itself: %s', (errorType) => {
    const kase = asked();
    hearResult(kase, error(errorType), atTheEnd);
    expect(kase).toMatchObject({ claim: { by: 'doubt' } });
    expect(kase.outcome).toBeUndefined();
  });

  test('ends it by what is known here once the service has not answered for a day', () => {
    const kase = asked();
    hearResult(kase, error('duplicate_connection'), atTheEnd);
    hearNoAnswer(kase, kase.claim, atTheEnd + day - 1);
    expect(kase.outcome).toBeUndefined();
    hearNoAnswer(kase, kase.claim, atTheEnd + day);
    expect(kase).toMatchObject({ outcome: 'failed', errorType: 'duplicate_connection' });
  });
});

test('what the service shows changes nothing where nothing is looked for, unless it is the connection', () => {
  const kase = asked();
  const before = structuredClone(kase);
  for (const found of ['none', 'older'] as const) hearConnection(kase, { found }, kase.claim, start + hour);
  hearNoAnswer(kase, kase.claim, start + hour);
  expect(kase).toEqual(before);
  hearConnection(kase, { found: 'new', createdAt: newConnection }, kase.claim, start + hour);
  expect(kase.outcome).toBe('connected');
});

test('a new connection is one of the start or later, less the tolerance; by policy a success takes any', () => {
  for (const afterSuccess of [true, false]) {
    expect(oldestOwn(opened(), afterSuccess)).toBe(start - minute);
    expect(oldestOwn(opened({ clockTolerance: '5s' }), afterSuccess)).toBe(start - 5 * second);
  }
  expect(oldestOwn(opened({ confirmedBy: 'any' }), true)).toBe(0);
  expect(oldestOwn(opened({ confirmedBy: 'any' }), false)).toBe(start - minute);
});

describe('an end', () => {
  test('keeps no secret, is told once, and names why', () => {
    const kase = asked();
    hearAll(kase, error('incorrect_mfa_code'));
    endWait(kase, 'code', start + hour);
    hearConnection(kase, { found: 'none' }, kase.claim, start + hour);
    expect(kase).toMatchObject({ outcome: 'expired', phase: 'expired', waitedFor: 'code' });
    expect(JSON.stringify(kase)).not.toContain('invented-token');
    expect(kase.outbox).toEqual([
      {
        id: `user-1/invented_watch/${new Date(start).toISOString()}/ended`,
        at: new Date(start + hour).toISOString(),
        type: 'ended',
        data: { outcome: 'expired', waitedFor: 'code' },
      },
    ]);
    // A mishap on the way is not why the user did not come back.
    for (const gone of ['errorType', 'consequence']) expect(kase).not.toHaveProperty(gone);
  });

  test('is not told where the worker has no target, and waits to be told while that is not known', () => {
    const bare = handedOut();
    bare.notifies = false;
    end(bare, 'cancelled', start);
    expect(bare.outbox).toEqual([]);
    const early = opened();
    end(early, 'cancelled', start);
    expect(early.outbox).toHaveLength(1);
  });
});

test('a reminder is told with the end of the wait, and once', () => {
  const kase = asked();
  remind(kase, start + hour, start + 6 * minute);
  expect(kase.reminded).toBe(true);
  expect(kase.outbox).toMatchObject([{ type: 'code_reminder', data: { until: new Date(start + hour).toISOString() } }]);
});

describe('a link that begins again', () => {
  test('knows nothing of the one before but what is still to be told', () => {
    const kase = asked({ maxCodeAttempts: 1 });
    hearAll(kase, error('incorrect_mfa_code'));
    const untold = kase.outbox;
    const later = start + day;
    beginAgain(kase, { policy: { codeWait: '2h' }, redirectUrl: 'https://example.com/back' }, later);
    const fresh = openLink(
      {
        userId: 'user-1',
        provider: 'invented_watch',
        policy: { codeWait: '2h' },
        redirectUrl: 'https://example.com/back',
      },
      later,
    );
    expect(kase).toEqual({ ...fresh, outbox: untold, notifies: true });
  });

  test('is told of under ids of its own', () => {
    const kase = handedOut();
    end(kase, 'cancelled', start + minute);
    beginAgain(kase, {}, start + hour);
    end(kase, 'cancelled', start + 2 * hour);
    expect(new Set(kase.outbox.map(({ id }) => id)).size).toBe(2);
  });
});

test('the journal keeps the last hundred entries', () => {
  const kase = opened();
  for (let n = 0; n < 150; n += 1) note(kase, `entry ${n}`, start + n);
  expect(entries(kase)).toHaveLength(100);
  expect(entries(kase).at(0)).toBe('entry 50');
});
