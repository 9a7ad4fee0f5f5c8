import { describe, expect, test } from 'vitest';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LinkReport } from '../../../protocol/link/link-report.js';
import { atOnce } from '../../../workflows/entity/loop-timer.js';
import { connectionQueryOf, deadlinesOf, waitingUntil } from '../../../workflows/link/deadlines.js';
import {
  receiveResult,
  giveToken,
  hasUsableToken,
  openLink,
  type Link,
  confirmAt,
  doubt,
  receiveWebhook,
  recordConnection,
  recordNoAnswer,
  end,
  endWait,
  raise,
  endUnlessConnected,
  consequenceOf,
  mayBeConnected,
} from '../../../workflows/link/link.js';
import * as links from './links.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import { caseFileOf, codeAnswerOf, resultOf, stateOf } from '../../../workflows/link/view.js';
import { linkErrorTypes } from '../../../service/link/link.js';
import { defaultLinkPolicy } from '../../../protocol/link/policy.js';
import { projectFolder } from '../../rig/processes.js';

const { asked, claimed, entries, handedOut, held, looked, opened, openedForAny } = links;
const { day, hour, minute, second, start } = links;

const error = (errorType?: string): LinkReport => ({ state: 'error', ...(errorType !== undefined && { errorType }) });
const newConnection = new Date(start + 3 * minute).toISOString();

/** All consequences of receiving this, one after the other. */
function receiveAll(link: Link, ...reports: LinkReport[]): void {
  for (const [index, report] of reports.entries()) receiveResult(link, report, start + (3 + index) * minute);
}

test('a link that starts goes on with what was carried over, and takes null for nothing', () => {
  const carried = asked();
  const input = { userId: 'user-1', provider: 'invented_watch' };
  expect(openLink({ ...input, carried }, start + day)).toEqual(carried);
  const sent = { ...input, carried: null, redirectUrl: null, policy: resolvePolicy('link') };
  expect(openLink(sent as never, start)).toEqual(opened());
});

describe('a token', () => {
  test('a token with a short life is handed out until a tenth of it is left', () => {
    const link = opened({ tokenLife: '100s' });
    giveToken(link, { ...held, expiresAt: start + 100 * second }, start);
    expect(hasUsableToken(link, start + 90 * second - 1)).toBe(true);
    expect(hasUsableToken(link, start + 90 * second)).toBe(false);
  });

  test('is usable to its end for the code of a login that it carries', () => {
    expect(hasUsableToken(asked(), start + 10 * minute - 1)).toBe(true);
    expect(hasUsableToken(asked(), start + 10 * minute)).toBe(false);
  });

  test('a token that is new means a new login: what was asked before no longer counts', () => {
    const link = asked();
    giveToken(link, { ...held, token: 'another', expiresAt: start + hour }, start + 20 * minute);
    expect(link).toMatchObject({ phase: 'awaiting_password', since: start + 20 * minute, token: { token: 'another' } });
    expect(link).not.toHaveProperty('mfa');
    expect(entries(link)).toEqual(['link made', 'code asked by sms', 'new link made']);
  });

  test.each([
    [59, 0],
    [60, 60],
  ])('a token that is requested %i s after the start lets the wait begin after %i s', (after, since) => {
    const link = opened();
    giveToken(link, { ...held, expiresAt: start + day }, start + after * second);
    expect(link.since).toBe(start + since * second);
  });

  test.each<[LinkReport, number]>([
    [{ state: 'pending_provider_mfa' }, 0],
    [error('provider_credential_error'), 20],
  ])('that is new within a minute restarts the wait of a login that has begun or failed: %j', (...given) => {
    const [report, after] = given;
    const link = handedOut();
    receiveResult(link, report, start + after * second);
    giveToken(link, { ...held, expiresAt: start + hour }, start + 40 * second);
    expect(link).toMatchObject({ phase: 'awaiting_password', since: start + 40 * second });
  });

  test('a token that is new follows the advice to start over, which is no longer shown; what went wrong still is', () => {
    const link = asked();
    receiveAll(link, error('token_expired'));
    expect(link).toMatchObject({ consequence: 'start_over', errorType: 'token_expired' });
    giveToken(link, { ...held, expiresAt: start + hour }, start + 20 * minute);
    expect(link).not.toHaveProperty('consequence');
    expect(link.errorType).toBe('token_expired');
  });
});

const byMail = { method: 'email', hint: 't***@example.com' };
const byPhone = { hint: 'look at your phone' };
test.each<[LinkReport, object, string]>([
  [{ state: 'pending_provider_mfa', providerMfa: byPhone }, byPhone, 'code asked'],
  [{ state: 'pending_provider_mfa' }, {}, 'code asked'],
  [error('incorrect_mfa_code'), {}, 'error incorrect_mfa_code'],
])(
  'a code is awaited from the report of the password step on that asks for one, or says that one was wrong: %j',
  (...given) => {
    const [report, mfa, said] = given;
    const link = handedOut();
    receiveResult(link, report, start + minute);
    expect(link).toMatchObject({ phase: 'awaiting_code', since: start + minute, mfa });
    expect(entries(link).at(-1)).toBe(said);
  },
);

test('a code that is requested once more is awaited again, with the new hint, and is not an error', () => {
  const link = asked();
  receiveAll(link, error('incorrect_mfa_code'), { state: 'pending_provider_mfa', providerMfa: byMail });
  expect(link).toMatchObject({ phase: 'awaiting_code', since: start + 4 * minute, mfa: byMail, wrongCodes: 1 });
  for (const none of ['errorType', 'consequence']) expect(link).not.toHaveProperty(none);
});

const ofTheToken = ['invalid_token', 'token_expired', 'token_not_validated', 'token_consumed', 'token_of_next_year'];
test.each(ofTheToken)('failed logins are not counted if the token was at fault: %s', (errorType) => {
  const link = handedOut({ maxPasswordAttempts: 1 });
  receiveAll(link, error(errorType), error(errorType), error(errorType));
  expect(link).toMatchObject({ phase: 'awaiting_password', failedLogins: 0 });
  expect(link).not.toHaveProperty('token');
});

test('an unknown state ends the link once it has come as often as logins may fail, and the service shows nothing', () => {
  const link = asked({ maxPasswordAttempts: 1 });
  receiveAll(link, { state: 'state_of_next_year' });
  expect(link.outcome).toBeUndefined();
  looked(link, 'older', 3 * minute);
  expect(link).toMatchObject({ outcome: 'failed', errorType: 'state_of_next_year' });
});

test('an unknown state that is pending costs neither the login nor its token, but the user is read', () => {
  const link = asked({ maxPasswordAttempts: 1 });
  receiveAll(link, { state: 'pending_provider_approval' });
  expect(link.claim).toMatchObject({ by: 'doubt' });
  looked(link, 'none', 3 * minute);
  const login = { phase: 'awaiting_code', token: held, failedLogins: 0, errorType: 'pending_provider_approval' };
  expect(link).toMatchObject(login);
  expect(link).not.toHaveProperty('consequence');
});

describe('a success', () => {
  test('is read for at once and then at growing intervals, until its time is over', () => {
    const link = claimed();
    const claimedAt = start + 2 * minute;
    const reads: number[] = [];
    while (link.claim) {
      const at = Math.max(confirmAt(link) ?? 0, claimedAt);
      reads.push((at - claimedAt) / second);
      looked(link, 'none', at - start);
    }
    expect(reads).toEqual([0, 2, 4, 8, 16, 32, 64, 120]);
    expect(link).toMatchObject({ phase: 'awaiting_password', since: claimedAt + 2 * minute });
    expect(link.attention).toMatchObject([{ reason: 'connection_unconfirmed' }]);
    expect(link).not.toHaveProperty('token');
  });

  test('whose connection keeps its date counts as a renewal once its time is over, if the provider is known; a doubt or a webhook does not', () => {
    const link = claimed();
    looked(link, 'older', 4 * minute - 1, { createdAt: newConnection });
    expect(link).toMatchObject({ phase: 'confirming', claim: { by: 'success', reads: 1 } });
    looked(link, 'older', 4 * minute, { createdAt: newConnection });
    expect(link).toMatchObject({ outcome: 'connected', attention: [] });
    expect(link).not.toHaveProperty('connectedAt');
    const duplicate = asked();
    receiveAll(duplicate, error('duplicate_connection'));
    expect(looked(duplicate, 'older', hour).outcome).toBe('failed');
    const any = openedForAny();
    receiveAll(any, { state: 'success' });
    expect(looked(any, 'older', hour).attention).toMatchObject([{ reason: 'connection_unconfirmed' }]);
  });

  test('is not undone by a question for a code that comes late, or comes twice', () => {
    const link = claimed();
    receiveResult(link, { state: 'pending_provider_mfa', providerMfa: { method: 'email' } }, start + 3 * minute);
    expect(link).toMatchObject({ phase: 'confirming', claim: { by: 'success' } });
    expect(link).not.toHaveProperty('mfa');
    expect(entries(link).at(-1)).toBe('code asked by email');
  });

  test('a success that is dropped does not take a later login away', () => {
    const link = claimed();
    receiveResult(link, error('provider_credential_error'), start + 3 * minute);
    looked(link, 'older', 5 * minute);
    expect(link).toMatchObject({ phase: 'awaiting_password', since: start + 3 * minute, token: held });
    expect(link.attention).toMatchObject([{ reason: 'connection_unconfirmed' }]);
  });

  test('clears the attention, and what went wrong before', () => {
    const link = asked();
    receiveAll(link, error('incorrect_mfa_code'));
    raise(link, 'connection_unconfirmed', start);
    raise(link, 'notifications_undelivered', start);
    looked(link, 'new', 9 * minute);
    expect(link.attention).toMatchObject([{ reason: 'notifications_undelivered' }]);
    const gone = ['errorType', 'consequence', 'connectedAt', 'mfa', 'token', 'claim'];
    for (const each of gone) expect(link).not.toHaveProperty(each);
  });
});

const nothingNew = ['none', 'older'] as const;
test.each(nothingNew)('a webhook is followed by reads while nothing new shows, then forgotten: %s', (found) => {
  const link = asked();
  receiveWebhook(link, start + 4 * minute);
  expect(link).toMatchObject({ phase: 'awaiting_code', claim: { by: 'webhook', reads: 0 } });
  looked(link, found, 4 * minute);
  expect(link.claim).toMatchObject({ by: 'webhook', reads: 1 });
  looked(link, found, 6 * minute);
  expect(link).not.toHaveProperty('claim');
  expect(link).toMatchObject({ phase: 'awaiting_code', token: held, attention: [] });
});

test.each([...nothingNew, undefined])('a webhook that comes during a read, %s, is settled by the next', (found) => {
  const link = asked();
  doubt(link, start + 3 * minute);
  const { claim } = link;
  receiveWebhook(link, start + 4 * minute);
  if (found) recordConnection(link, { found }, claim, start + 4 * minute);
  else recordNoAnswer(link, claim, start + 4 * minute);
  expect(link.claim).toEqual({ by: 'webhook', at: start + 4 * minute, reads: 0 });
  expect(confirmAt(link)).toBe(atOnce);
});

test('a webhook starts the reads for a reported success at once, and does not make it less certain', () => {
  const link = claimed();
  looked(link, 'none', 3 * minute);
  receiveWebhook(link, start + 3 * minute);
  expect(link.claim).toEqual({ by: 'success', at: start + 3 * minute, reads: 0 });
  expect(confirmAt(link)).toBe(atOnce);
});

test('a wait that is over does not end while the service cannot be read, except after a day of that', () => {
  const link = asked();
  const over = start + 2 * hour;
  endWait(link, 'code', over);
  recordNoAnswer(link, link.claim, over + day - 1);
  expect(link.outcome).toBeUndefined();
  recordNoAnswer(link, link.claim, over + day);
  expect(link).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
});

describe('an error that ends the link', () => {
  const atTheEnd = start + 5 * minute;

  const inDoubt = asked();
  doubt(inDoubt, start + 4 * minute);
  const reported = asked();
  receiveWebhook(reported, start + 4 * minute);
  const all = Object.entries({ webhook: reported, success: claimed(), doubt: inDoubt });
  const errors = ['user_cancelled', 'unsupported_region', 'duplicate_connection'];

  const doubtful = all.flatMap(([by, link]) => errors.map((errorType) => [by, errorType, link] as const));
  test.each(doubtful)('is settled by a read if a connection may have been made: %s, %s', (by, errorType, before) => {
    const link = structuredClone(before);
    receiveResult(link, error(errorType), atTheEnd);
    expect(link).toMatchObject({ claim: { by }, ending: { since: atTheEnd } });
    expect(link.outcome).toBeUndefined();
    expect(looked(structuredClone(link), 'new', 5 * minute).outcome).toBe('connected');
    looked(link, 'none', 10 * minute);
    expect(link).toMatchObject({ outcome: errorType === 'user_cancelled' ? 'cancelled' : 'failed', errorType });
  });
});

test('a link for which the user chooses the provider notes questions for a code, and waits for none', () => {
  const link = openedForAny();
  const question = { state: 'pending_provider_mfa', providerMfa: { method: 'sms' } };
  receiveAll(link, question, error('incorrect_mfa_code'));
  expect(link).toMatchObject({ phase: 'awaiting_password', since: start, wrongCodes: 1 });
  expect(link).not.toHaveProperty('mfa');
  expect(entries(link)).toEqual(['code asked by sms', 'error incorrect_mfa_code']);
});

test('an end keeps no secret, is notified once, and names why', () => {
  const link = asked();
  receiveAll(link, error('incorrect_mfa_code'));
  endWait(link, 'code', start + hour);
  looked(link, 'none', hour);
  expect(link).toMatchObject({ outcome: 'expired', phase: 'expired', waitedFor: 'code' });
  expect(JSON.stringify(link)).not.toContain('invented-token');
  expect(link.outbox).toMatchObject([{ type: 'link.ended', data: { outcome: 'expired', waitedFor: 'code' } }]);
  // A mishap on the way is not why the user did not come back, and what was asked for, such as the end of a telephone number, is not kept.
  for (const gone of ['errorType', 'consequence', 'mfa']) expect(link).not.toHaveProperty(gone);
});

test('an end names the provider that the user chose, and the error that it ends with', () => {
  const connected = looked(openedForAny(), 'new', 0, { slug: 'oura' });
  const named = looked(opened(), 'new', 0, { slug: 'oura' });
  const unnamed = looked(openedForAny(), 'new', 0);
  const refused = asked();
  receiveAll(refused, error('unsupported_region'));
  const any = { userId: 'user-1', provider: connected.provider, outcome: 'connected' };
  const watch = { userId: 'user-1', provider: 'invented_watch' };
  expect([connected, named, unnamed, refused].map(({ outbox: [ended] }) => ended?.data)).toEqual([
    { ...any, chosenProvider: 'oura' },
    { ...watch, outcome: 'connected' },
    any,
    { ...watch, outcome: 'failed', errorType: 'unsupported_region' },
  ]);
});

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

const at = (span: number) => new Date(start + span).toISOString();
const fileOf = (link: Link) => caseFileOf(stateOf(link));
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
  const link = opened();
  const before = fileOf(link).split('\n').length;
  const reports = [{ ...asksForCode, providerMfa: { method: evil, hint: evil } }, { state: evil }, error(evil)];
  for (const each of reports) receiveResult(link, each, start);
  const lines = fileOf(link).split('\n');
  expect(lines).toHaveLength(before + link.journal.length);
  for (const line of lines.filter((text) => text.startsWith('| 2'))) expect(line.split('|')).toHaveLength(4);
  expect(lines.filter((text) => text.startsWith('#'))).toHaveLength(1);
  expect(fileOf(link)).not.toMatch(/[<>[\]\\&]/);
});

const pageOf = (name: string) => readFile(join(projectFolder, `docs/internals/${name}.md`), 'utf8');
const assumptions = await pageOf('assumptions');
const [, page = ''] = /^## Links\n([^]+?)\n## /m.exec(await pageOf('lab-service')) ?? [];

/** The rows of the table of consequences, by the error type that each is about. */
function documented(): Record<string, { consequence: string; why: string }> {
  const rows = page.matchAll(/^\| (`\w+`|any other) +\| `(\w+)` +\| (.+) \|$/gm);
  return Object.fromEntries(
    [...rows].map(([, type = '', consequence = '', why = '']) => [type.replaceAll('`', ''), { consequence, why }]),
  );
}

test('every error type of the specification has the documented consequence, and any other has the one of "any other"', () => {
  const { 'any other': other, ...known } = documented();
  expect(Object.keys(known)).toEqual(expect.arrayContaining([...linkErrorTypes]));
  expect(Object.keys(known)).toHaveLength(linkErrorTypes.length);
  for (const type of linkErrorTypes) expect(known[type]?.consequence, type).toBe(consequenceOf(type));
  const others = ['error_of_next_year', undefined, '', 'constructor', 'toString', '__proto__', 'INVALID_TOKEN'];
  for (const type of others) expect(other?.consequence, type).toBe(consequenceOf(type));
});

test('the user is read first after those error types for which the table says so', () => {
  for (const [type, { why }] of Object.entries(documented())) {
    expect(why.includes('the user is read first'), type).toBe(mayBeConnected(type));
  }
});

test('every setting of the policy is in the table of what is assumed, except the one about the product', () => {
  const { notificationDeadline: _, ...assuming } = defaultLinkPolicy;
  for (const name of Object.keys(assuming)) expect(assumptions).toMatch(new RegExp(`\`${name}\\b`));
});
