import { describe, expect, test } from 'vitest';
import type { LinkPolicy } from '../../../protocol/link/policy.js';
import { inTurn, Life, silent, unavailable, type Answers } from '../life.js';
import { life, opening, provider, token, userId } from './links.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* The lives of links, from the token to the end: what the product is notified of, and when the service is asked. */

const policy = resolvePolicy('link');
const final = (type: string) => ({ failure: { type } });
const found = (createdAt: string) => ({ found: 'new', createdAt, notifies: true });
const connection = found('2026-03-01T10:00:01.000Z');
const connects = { findConnection: connection };
const endOf = ({ run }: Life) => (run.end as { result?: object } | undefined)?.result;
const callsOf = ({ calls }: Life, activity: string) => calls.filter((call) => call.endsWith(` ${activity}`));

const asksForCode = { state: 'pending_provider_mfa', providerMfa: { method: 'sms', hint: '***23' } };
const success = { state: 'success' };
const error = (errorType: string) => ({ state: 'error', errorType });

const request = (link: Life, given: object = {}) => link.update('requestLink', given);
const requestNext = (link: Life) => request(link, { newLink: { policy } });
const reportResult = (link: Life, result: unknown) => link.update('reportLinkResult', result);
const submit = (link: Life, code: unknown = '123456') => link.update('submitMfaCode', { code });

/** A link whose code is awaited. */
async function asked(given: LinkPolicy = {}, answers: Answers = {}): Promise<Life> {
  const link = await life(given, answers);
  await reportResult(link, asksForCode);
  return link;
}

test('a link that nobody uses ends after the password’s day, once the service was asked for a connection', async () => {
  const { calls, events, announced } = await (await life()).until(1000);
  expect(calls).toEqual(['0h createLinkToken', '24h findConnection']);
  expect(events).toEqual(['24h link.ended expired', '24h completed']);
  expect(announced).toEqual([
    {
      id: `${userId}/${provider}/2026-03-01T10:00:00.000Z/ended`,
      at: '2026-03-02T10:00:00.000Z',
      source: `link-provider/${userId}/${provider}`,
      type: 'link.ended',
      subject: userId,
      data: { userId, provider, outcome: 'expired', waitedFor: 'password' },
    },
  ]);
});

test('a link that nobody uses ends a day later if the service is silent, which is asked at growing intervals of at most 15 minutes', async () => {
  const { calls, events } = await (await life({}, { findConnection: unavailable })).until(1000);
  expect(events).toEqual(['48.034h link.ended expired', '48.034h completed']);
  const reads = calls.slice(1).map((call) => Number.parseFloat(call));
  expect(reads.slice(0, 4)).toEqual([24, 24.001, 24.002, 24.004]);
  const pauses = reads.slice(1).map((at, index) => at - (reads[index] ?? 0));
  expect(Math.max(...pauses)).toBeCloseTo(0.25, 2);
});

test('a link that waits for a code has one reminder, which says until when, and ends', async () => {
  const { events, announced } = await (await asked()).until(1000);
  expect(events).toEqual(['0.083h link.code_reminder', '1h link.ended expired', '1h completed']);
  expect(announced[0]).toMatchObject({
    id: `${userId}/${provider}/2026-03-01T10:00:00.000Z/code_reminder`,
    at: '2026-03-01T10:05:00.000Z',
    data: { until: '2026-03-01T11:00:00.000Z' },
  });
  expect(announced[1]?.data).toMatchObject({ waitedFor: 'code' });
});

describe('a link that is requested', () => {
  test('again gets the token that it has, until its user would have less than a minute; then a new one', async () => {
    const link = await life({ tokenLife: '1h' });
    const until = (expiresAt: string) => ({ value: { linkToken: 'token', linkWebUrl: token.linkWebUrl, expiresAt } });
    expect(await request(link)).toMatchObject(until('2026-03-01T11:00:00.000Z'));
    await link.until(59 / 60 - 1 / 3600);
    await request(link);
    expect(link.calls).toEqual(['0h createLinkToken']);
    await link.until(59 / 60);
    expect(await request(link)).toMatchObject(until('2026-03-01T11:59:00.000Z'));
    expect(link.calls).toHaveLength(2);
  });

  test('names its provider and its page to the service, and first asks for the connections before it, once', async () => {
    const createLinkToken = inTurn(
      { ...token, connections: [{ slug: 'fitbit' }] },
      { ...token, connections: undefined },
    );
    const answers = { createLinkToken, findConnection: { found: 'none', notifies: true } };
    const page = {
      ...{ redirectUrl: 'https://product.example/', filterOnProviders: ['oura', 'fitbit'] },
      ...{ onError: 'redirect', onClose: 'redirect' },
    };
    expect((await life()).argumentsOf('createLinkToken')).toEqual([{ userId, provider, readsConnections: true }]);
    const any = await new Life(opening(`link-provider/${userId}/any`), answers).start({ userId, ...page, policy });
    await request(any);
    await any.until(23);
    await request(any);
    expect(any.argumentsOf('createLinkToken')).toEqual([
      { userId, readsConnections: true, ...page },
      { userId, ...page },
    ]);
    expect(await submit(any)).toEqual({ name: 'submitMfaCode', refused: 'InvalidCommand' });
    await any.signal('connectionReported');
    const query = { userId, oneOf: ['oura', 'fitbit'], before: [{ slug: 'fitbit' }] };
    expect(any.argumentsOf('findConnection')).toEqual([query]);
    any.answers['findConnection'] = { ...found('2026-03-02T10:00:00.000Z'), slug: 'fitbit' };
    await any.signal('connectionReported');
    expect(endOf(any)).toMatchObject({ provider: 'any', chosenProvider: 'fitbit', outcome: 'connected' });
  });

  test('ends if the service refuses its user or its provider; one that has had a token goes on', async () => {
    const link = await life({}, { createLinkToken: final('LinkRefused') });
    expect(link.run.replies).toEqual([{ name: 'requestLink', refused: 'LinkRefused' }]);
    // Whether there is a product to notify is not known yet.
    expect(link.calls).toEqual(['0h createLinkToken', '0h handOverNotifications']);
    expect(link.events).toEqual(['0h completed']);
    expect(endOf(link)).toMatchObject({ outcome: 'failed', errorType: 'link_refused' });
    const had = await life({ tokenLife: '1h' });
    await had.until(2);
    await had.given({ createLinkToken: final('LinkRefused') });
    expect(await request(had)).toEqual({ name: 'requestLink', refused: 'LinkRefused' });
    expect(had.run.end).toBeUndefined();
    const other = await life({}, { createLinkToken: final('Unauthorized') });
    expect(other.run.replies).toEqual([{ name: 'requestLink', refused: 'Unauthorized' }]);
    await (await other.given(connects)).signal('connectionReported');
    expect(other.events).toEqual(['0h link.ended connected', '0h completed']);
  });

  test('again after its end, while the product is notified, is refused, or begins a new one with other options', async () => {
    const link = await life({}, { notify: silent });
    await link.update('cancel');
    expect(await request(link)).toEqual({ name: 'requestLink', refused: 'LinkEnded' });
    expect(await link.update('cancel')).toMatchObject({ value: { outcome: 'cancelled' } });
    await link.signal('connectionReported');
    const begun = await request(link, { newLink: { policy: resolvePolicy('link', { tokenLife: '20m' }) } });
    expect(begun).toMatchObject({ value: { expiresAt: '2026-03-01T10:20:00.000Z' } });
    expect(link.calls).toEqual(['0h createLinkToken', '0h createLinkToken']);
    // A caller that joins it changes nothing, but its policy must be right.
    await link.given({ resolvePolicy: final('PolicyInvalid') });
    for (const newLink of [{ policy }, {}]) expect(await request(link, { newLink })).toEqual(begun);
    const wrong = { newLink: { policy: { tokenLife: 'soon' } } };
    expect(await request(link, wrong)).toEqual({ name: 'requestLink', refused: 'PolicyInvalid' });
  });

  test('by a caller that joined a link which ended before its turn is refused, and begins no other one', async () => {
    const link = await life({}, { findConnection: silent });
    await link.until(1);
    await link.signal('connectionReported');
    await requestNext(link);
    await link.given({ findConnection: found('2026-03-01T11:00:00.000Z') });
    expect(link.run.replies.at(-1)).toEqual({ name: 'requestLink', refused: 'LinkEnded' });
    expect(callsOf(link, 'createLinkToken')).toHaveLength(1);
  });

  const redirectUrl = 'app:/back';
  test.each<[object, boolean]>([
    [{ redirectUrl, onError: 'redirect', onClose: null, filterOnProviders: ['oura'] }, true],
    [{ redirectUrl: null, onError: null, filterOnProviders: null }, true],
    [{ redirectUrl: 'back' }, false],
    [{ redirectUrl: 'https://a b' }, false],
    [{ redirectUrl: ' https://a' }, false],
    [{ redirectUrl: 5 }, false],
    [{ redirectUrl: ['https://a'] }, false],
    [{ filterOnProviders: [] }, false],
    [{ filterOnProviders: 'oura' }, false],
    [{ filterOnProviders: ['oura', 5] }, false],
    [{ onError: 'close' }, false],
    [{ onClose: 'close' }, false],
  ])('with the options %j is accepted or refused, at its start and later: %j', async (options, isRight) => {
    const link = await life();
    const reply = await request(link, { newLink: options });
    expect(reply?.refused).toBe(isRight ? undefined : 'InvalidCommand');
    const started = new Life(opening(`link-provider/${userId}/any`), link.answers);
    await started.start({ userId, policy, ...options });
    expect(started.events).toEqual(isRight ? [] : ['0h failed: InvalidCommand']);
  });

  test.each<[string, unknown]>([
    ['link-provider/user-1/oura', undefined],
    ['link-provider/user-1/oura', { userId: 'user-2', provider: 'oura' }],
    ['link-provider/user-1/oura', { userId: 'user-1', provider: 'fitbit' }],
    ['link-provider//oura', { provider: 'oura' }],
  ])('is refused if its ID, %s, is not that of its input, %j', async (workflowId, input) => {
    const link = await new Life(opening(workflowId), {}).start(input);
    expect(link.events).toEqual(['0h failed: InvalidCommand']);
  });

  test('with a policy that cannot be followed fails, and so do the commands that wait for it', async () => {
    const link = new Life(opening(), { resolvePolicy: final('PolicyInvalid') });
    const command = { name: 'requestLink', argument: {} };
    await link.run.start({ userId, provider, policy: { tokenLife: 'soon' } }, [], command);
    await link.settle();
    expect(link.run.replies).toEqual([{ name: 'requestLink', refused: 'PolicyInvalid' }]);
    expect(link.events).toEqual(['0h failed: PolicyInvalid']);
  });
});

test('two callers who request the next link at once get the same one, whose creation holds up no notification of the end', async () => {
  const link = await asked({}, { notify: silent });
  await link.until(0.1);
  await link.update('cancel');
  await link.given({ createLinkToken: silent });
  for (let caller = 0; caller < 2; caller += 1) await requestNext(link);
  await link.given({ notify: undefined });
  expect(link.events).toEqual(['0.1h link.code_reminder', '0.1h link.ended cancelled']);
  expect(link.run.calls).toMatchObject([{ call: { name: 'createLinkToken' } }]);
  await link.given({ createLinkToken: { ...token, linkToken: 'next' } });
  expect(link.run.replies.slice(3)).toMatchObject(Array(2).fill({ value: { linkToken: 'next' } }));
  expect(callsOf(link, 'createLinkToken')).toHaveLength(2);
});

test('operators and callers see where a link stands', async () => {
  const link = await life();
  expect(link.run.shown.attributes).toMatchObject({ LabPhase: 'awaiting_password' });
  await reportResult(link, asksForCode);
  expect(link.run.shown.attributes).toMatchObject({ LabPhase: 'awaiting_code' });
  expect(link.run.shown.details).toContain('### Awaiting code');
  const state = { userId, provider, phase: 'awaiting_code', mfa: { method: 'sms' } };
  expect(await link.run.query('state')).toMatchObject(state);
});

describe('a report of the password step', () => {
  test('is read in the service’s own names', async () => {
    const link = await life();
    const provider_mfa = { method: 'sms', hint: '***23' };
    const reply = await reportResult(link, { state: 'pending_provider_mfa', provider_mfa, token: 'x' });
    expect(reply).toMatchObject({ value: { phase: 'awaiting_code', mfa: provider_mfa } });
  });

  test('that leaves no room for a connection asks the service for none; any other does, and is answered after that', async () => {
    const link = await life();
    await reportResult(link, error('provider_credential_error'));
    expect(link.calls).toHaveLength(1);
    await reportResult(link, { state: 'of_tomorrow' });
    expect(link.calls).toEqual(['0h createLinkToken', '0h findConnection']);
    await link.given(connects);
    expect(await reportResult(link, success)).toMatchObject({ value: { phase: 'connected' } });
  });

  test('after the end, while the product is notified, is answered if the link is connected, and refused if not', async () => {
    const connected = await life({}, { notify: silent, ...connects });
    await connected.signal('connectionReported');
    expect(await reportResult(connected, success)).toMatchObject({ value: { phase: 'connected' } });
    const answer = await submit(connected);
    expect(answer).toMatchObject({ value: { outcome: 'connected' } });
    expect(answer?.value).not.toHaveProperty('errorType');
    expect(await request(connected)).toEqual({ name: 'requestLink', refused: 'LinkEnded' });
    expect(connected.calls).toHaveLength(2);
    const cancelled = await life({}, { notify: silent });
    await cancelled.update('cancel');
    expect(await reportResult(cancelled, success)).toMatchObject({ refused: 'LinkEnded' });
    expect(await submit(cancelled)).toMatchObject({ refused: 'LinkEnded' });
    await cancelled.update('cancel');
    await request(cancelled);
    await cancelled.signal('connectionReported');
    expect(cancelled.run.refusals).toEqual(Array(3).fill({ fields: [], reason: 'cancelled' }));
    // None of them is in the history, but the cancellation that is repeated.
    expect(cancelled.run.accepted).toEqual(['requestLink', 'cancel', 'cancel']);
    expect(JSON.stringify(await cancelled.run.query('state'))).not.toContain('webhook');
  });

  test.each([
    ['connected', connection, { value: { phase: 'connected' } }],
    ['cancelled', { found: 'none' }, { refused: 'LinkEnded' }],
  ])('that waited while the link ended as %s is answered with that, or refused', async (end, shown, reply) => {
    const link = await life({}, { notify: silent, findConnection: silent });
    await link.signal('connectionReported');
    if (end === 'cancelled') await link.update('cancel');
    await reportResult(link, error('user_cancelled'));
    await link.given({ findConnection: shown });
    expect(link.run.replies.at(-1)).toMatchObject(reply);
  });

  test('that ends the link while the service does not answer leaves it about to end, and commands are refused meanwhile', async () => {
    const link = await life({}, { findConnection: unavailable });
    await reportResult(link, error('duplicate_connection'));
    expect(await request(link)).toEqual({ name: 'requestLink', refused: 'ServiceUnavailable' });
    await link.given({ findConnection: { found: 'none' } });
    expect(await request(link)).toEqual({ name: 'requestLink', refused: 'LinkEnded' });
    expect(endOf(link)).toMatchObject({ outcome: 'failed', errorType: 'duplicate_connection' });
  });
});

test.each([undefined, null, 5, 'text', [], {}, { state: '' }])(
  'a command of a backend in another language without a usable argument, %j, is refused, and the link from one is the link',
  async (odd) => {
    const link = await asked();
    expect(await link.update('submitMfaCode', odd)).toEqual({ name: 'submitMfaCode', refused: 'InvalidCode' });
    expect(await reportResult(link, odd)).toEqual({ name: 'reportLinkResult', refused: 'InvalidCommand' });
    expect(await link.update('requestLink', odd)).toMatchObject({ value: { linkToken: 'token' } });
    for (const code of [123_456, '  '])
      expect(await submit(link, code)).toEqual({ name: 'submitMfaCode', refused: 'InvalidCode' });
    expect(link.run.accepted).not.toContain('submitMfaCode');
    expect(await link.update('cancel', { anything: 1 })).toMatchObject({ value: { outcome: 'cancelled' } });
  },
);

describe('a code', () => {
  const answering = (report: object) => ({ completeMfa: { report } });
  const succeeds = answering(success);
  const wrong = answering(error('incorrect_mfa_code'));
  const lost = { completeMfa: final('AnswerLost') };
  const older = { found: 'older', createdAt: '2026-02-01T10:00:00.000Z' };
  const namesOlder = { completeMfa: { report: success, connection: older } };

  /** `wrong_code 2`, `unknown answer_lost`: the outcome, with the attempts left or the type of the error; or the refusal. */
  function inBrief(reply: { refused?: string; value?: unknown } | undefined): string {
    const { outcome = '', attemptsLeft, errorType } = (reply?.value ?? {}) as Record<string, string | number>;
    const more = outcome === 'wrong_code' ? attemptsLeft : errorType;
    return reply?.refused ?? [outcome, more].filter((each) => each !== undefined).join(' ');
  }

  const notHandedOn = ['LinkRefused', 'ServiceUnreachable', 'TooManyRequests', 'FeatureNotEnabled', 'Unauthorized'];

  /* What the service answers, one after the other, and what a code comes to each time. With all calls for them. */
  test.each<[string, Answers[], string, string]>([
    ['with success is answered once its connection is read', [{ ...succeeds, ...connects }], 'connected', 'code, read'],
    [
      'whose success does not show yet is confirmed later; no other code is handed on before',
      [succeeds, {}, connects],
      'confirming, confirming, connected',
      'code, read, read, read',
    ],
    ['whose connection the service names as an older one is confirmed later', [namesOlder], 'confirming', 'code'],
    [
      'whose answer is lost may have worked: the user is read, and asked for another if it has not',
      [lost, wrong, { ...lost, ...connects }],
      'unknown answer_lost, wrong_code 2, connected',
      'code, read, code, code, read',
    ],
    ['whose answer is lost is not wrong', [wrong, lost], 'wrong_code 2, unknown answer_lost', 'code, code, read'],
    [
      'whose answer is lost while the user cannot be read is refused, and looked into before the next one',
      [{ ...lost, findConnection: unavailable }, connects],
      'AnswerLost, connected',
      'code, read, read',
    ],
    [
      'whose error may hide a connection is not an end as long as the service does not say so',
      [{ ...answering(error('duplicate_connection')), findConnection: unavailable }, connects],
      'ServiceUnavailable, connected',
      'code, read, read',
    ],
    [
      'is asked for again if the provider has another question, or wants the password again',
      [answering(asksForCode), answering(error('provider_api_error'))],
      'asked_again, ask_credentials_again provider_api_error',
      'code, code',
    ],
    ...notHandedOn.map((type): [string, Answers[], string, string] => [
      `that was certainly not handed on (${type}) is refused, and may be sent again`,
      [{ completeMfa: final(type) }, wrong],
      `${type}, wrong_code 2`,
      'code, code',
    ]),
  ])('%s', async (_what, steps, outcomes, calls) => {
    const link = await asked();
    const replies: string[] = [];
    for (const answers of steps) replies.push(inBrief(await submit(await link.given(answers))));
    expect(replies.join(', ')).toBe(outcomes);
    const names: Record<string, string> = { '0h completeMfa': 'code', '0h findConnection': 'read' };
    expect(link.calls.slice(1).map((call) => names[call])).toEqual(calls.split(', '));
  });

  test.each([
    ['LinkRefused', 'start_over token_expired'],
    ['Unauthorized', 'Unauthorized'],
  ])('that is refused (%s) when the token’s time is over comes to %s', async (type, outcome) => {
    const link = await asked({ tokenLife: '10m' }, { completeMfa: final(type) });
    await link.until(10 / 60);
    expect(inBrief(await submit(link))).toBe(outcome);
  });

  test('for a login whose token is lost starts over without a call', async () => {
    const link = await life();
    await reportResult(link, error('invalid_token'));
    expect(inBrief(await submit(link))).toBe('start_over token_missing');
    expect(link.calls).toEqual(['0h createLinkToken']);
  });

  // proves 310
  test('that is wrong for the last time ends the link, and its caller gets that answer', async () => {
    const link = await asked({ maxCodeAttempts: 1 }, wrong);
    expect(inBrief(await submit(link))).toBe('wrong_code 0');
    expect(endOf(link)).toMatchObject({ outcome: 'failed', errorType: 'incorrect_mfa_code' });
  });

  test('is sent as the person typed it, without blanks around it, with what tells the link’s own connection', async () => {
    const link = await asked({}, { completeMfa: { report: success, connection } });
    const reply = await submit(link, ' 12-34 56 ');
    expect(reply).toMatchObject({ value: { outcome: 'connected', state: { phase: 'connected' } } });
    const query = { userId, sourceSlug: 'oura', before: [] };
    const handedOn = { ...query, provider, linkToken: 'token', code: '12-34 56' };
    expect(link.argumentsOf('completeMfa')).toEqual([handedOn]);
    expect(link.calls).toEqual(['0h createLinkToken', '0h completeMfa']);
    expect(endOf(link)).toMatchObject({ outcome: 'connected', connectedAt: connection.createdAt });
  });

  /** Two codes at once, of which the first has no answer yet. */
  async function twoAtOnce(answers: Answers = {}): Promise<Life> {
    const link = await asked({}, { completeMfa: silent, ...answers });
    await submit(link, '111111');
    await submit(link, '222222');
    return link;
  }

  test('is handed on once though another one was answered while it waited', async () => {
    const link = await twoAtOnce();
    const [first] = link.run.calls;
    await link.run.answer(first?.seq ?? 0, 'completeMfa', { value: wrong.completeMfa });
    await submit(link, '222222');
    await link.given(wrong);
    expect(callsOf(link, 'completeMfa')).toHaveLength(1);
    expect(link.run.replies.slice(-2).map(inBrief)).toEqual(['wrong_code 1', 'wrong_code 1']);
  });

  test.each<[string, Answers, number]>([
    ['a wrong one', wrong, 2],
    ['one with a lost answer, which may not have been used', lost, 2],
    ['one after which the password is asked for', answering(error('provider_credential_error')), 1],
  ])('that waited for %s is handed on only if there may be use for it', async (_what, answers, handedOn) => {
    const link = await (await twoAtOnce()).given(answers);
    expect(callsOf(link, 'completeMfa')).toHaveLength(handedOn);
    expect(link.run.replies).toHaveLength(4);
  });

  test('that waited for one that ended the link is not handed on', async () => {
    const link = await twoAtOnce({ notify: silent });
    await link.given(answering(error('unsupported_region')));
    expect(link.run.replies.slice(2).map(inBrief)).toEqual(['LinkFailed', 'LinkEnded']);
  });
});

test('a link that is cancelled through Temporal ends as one that was cancelled, but a success that was reported counts', async () => {
  const link = await life();
  await link.cancel();
  expect(link.events).toEqual(['0h link.ended cancelled', '0h completed']);
  const claimed = await life();
  await reportResult(claimed, success);
  await claimed.given(connects);
  await claimed.cancel();
  expect(claimed.events).toEqual(['0h link.ended connected', '0h completed']);
  const reported = await life();
  await reported.signal('connectionReported');
  await reported.run.cancel();
  expect(callsOf(await reported.settle(), 'findConnection')).toHaveLength(1);
});

test('a link that is cancelled through Temporal while a code is on its way: what the service makes of it counts', async () => {
  const link = await asked({}, { completeMfa: silent });
  await submit(link);
  await link.run.cancel();
  await link.given({ completeMfa: { report: success, connection } });
  expect(link.run.replies.at(-1)).toMatchObject({ value: { outcome: 'connected' } });
  expect(link.events).toEqual(['0h link.ended connected', '0h completed']);
});

test('a link that is cancelled through Temporal and begun again goes on in a new run, which can be cancelled, too', async () => {
  const link = await life({}, { notify: silent });
  await link.cancel();
  await requestNext(link);
  expect(link.events).toEqual(['0h continued']);
  const { input } = link.run.end as { input: { carried: object } };
  expect(input).toMatchObject({ userId, provider, carried: { phase: 'awaiting_password', tokens: 1 } });
});
