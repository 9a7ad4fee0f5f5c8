import { describe, expect, test } from 'vitest';
import type { LinkPolicy } from '../../../protocol/link/policy.js';
import { linkProvider } from '../../../workflows/link/workflow.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { start } from './links.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The lives of links, from the token to the end: what the product is notified of, and when the service is asked. */

const userId = '00000000-0000-4000-8000-000000000001';
const provider = 'oura';

/** A link that was handed out at the start. */
async function life(policy: LinkPolicy = {}, answers: Answers = {}): Promise<Life> {
  const opening = { workflow: linkProvider, type: 'linkProvider', workflowId: `link-provider/${userId}/${provider}` };
  const begun = new Life(
    { ...opening, now: start },
    {
      createLinkToken: { linkToken: 'token', linkWebUrl: 'https://link.example/token', notifies: true },
      findConnection: { found: 'none', notifies: true },
      ...answers,
    },
  );
  await begun.start({ userId, provider, policy: resolvePolicy('link', policy) });
  await begun.update('requestLink', {});
  return begun;
}

const found = (createdAt: string) => ({ found: 'new', createdAt, notifies: true });
const endOf = ({ run }: Life) => (run.end as { result?: object } | undefined)?.result;

describe('a link that nobody uses', () => {
  test('ends after the password’s day, once the service was asked for a connection', async () => {
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

  test('ends a day later if the service is silent, which is asked at growing intervals of at most 15 minutes', async () => {
    const { calls, events } = await (await life({}, { findConnection: unavailable })).until(1000);
    expect(events).toEqual(['48.034h link.ended expired', '48.034h completed']);
    const reads = calls.slice(1).map((call) => Number.parseFloat(call));
    expect(reads.slice(0, 4)).toEqual([24, 24.001, 24.002, 24.004]);
    const pauses = reads.slice(1).map((at, index) => at - (reads[index] ?? 0));
    expect(Math.max(...pauses)).toBeCloseTo(0.25, 2);
  });

  test('ends in the same way without a token, if the service could not make one', async () => {
    const { events } = await (await life({}, { createLinkToken: unavailable })).until(1000);
    expect(events).toEqual(['24h link.ended expired', '24h completed']);
  });

  test('ends with its longest time', async () => {
    const ofAll = await (await life({ totalWait: '5h' })).until(1000);
    expect(ofAll.announced[0]?.data).toMatchObject({ outcome: 'expired', waitedFor: 'link' });
  });
});

test('a link that waits for a code has one reminder, which says until when, and ends', async () => {
  const link = await life();
  await link.update('reportLinkResult', { state: 'pending_provider_mfa', providerMfa: { method: 'sms' } });
  const { events, announced } = await link.until(1000);
  expect(events).toEqual(['0.083h link.code_reminder', '1h link.ended expired', '1h completed']);
  expect(announced[0]).toMatchObject({
    id: `${userId}/${provider}/2026-03-01T10:00:00.000Z/code_reminder`,
    at: '2026-03-01T10:05:00.000Z',
    data: { until: '2026-03-01T11:00:00.000Z' },
  });
  expect(announced[1]?.data).toMatchObject({ waitedFor: 'code' });
});

describe('a reported success', () => {
  test('is looked for at growing intervals for two minutes; then the user begins again', async () => {
    const link = await life();
    await link.update('reportLinkResult', { state: 'success' });
    const { calls } = await link.until(1);
    expect(calls.map((call) => Math.round(Number.parseFloat(call) * 3600)).slice(1)).toEqual([
      ...[0, 4, 4, 7, 14, 32, 65, 119],
    ]);
    expect(link.events).toEqual([]);
    expect((await link.until(25)).events).toEqual(['24.033h link.ended expired', '24.033h completed']);
  });

  test('is confirmed by the connection that the service shows', async () => {
    const link = await life(
      {},
      { findConnection: (now: number) => (now > start ? found('2026-03-01T10:00:01.000Z') : { found: 'none' }) },
    );
    await link.update('reportLinkResult', { state: 'success' });
    const { events } = await link.until(1);
    expect(events).toEqual(['0.001h link.ended connected', '0.001h completed']);
    expect(endOf(link)).toMatchObject({ outcome: 'connected', connectedAt: '2026-03-01T10:00:01.000Z' });
  });
});

test('a webhook’s connection is looked for like a success, and a link without one goes on', async () => {
  const link = await life();
  await link.until(1);
  await link.signal('connectionReported');
  await link.until(2);
  expect(link.calls.length).toBe(9);
  expect(link.events).toEqual([]);
  link.answers['findConnection'] = found('2026-03-01T11:00:00.000Z');
  await link.signal('connectionReported');
  expect(link.events).toEqual(['2h link.ended connected', '2h completed']);
});

const asksForCode = { state: 'pending_provider_mfa', providerMfa: { method: 'sms', hint: '***23' } };
const final = (type: string) => ({ failure: { type } });
const secondsOf = (calls: readonly string[]) =>
  calls.map((call) => `${Math.round(Number.parseFloat(call) * 3600)}s ${call.replace(/^\S+ /, '')}`);

/** A link whose code is awaited. */
async function asked(policy: LinkPolicy = {}, answers: Answers = {}): Promise<Life> {
  const link = await life(policy, answers);
  await link.update('reportLinkResult', asksForCode);
  return link;
}

const request = (link: Life, given: object = {}) => link.update('requestLink', given);
const submit = (link: Life, code: unknown = '123456') => link.update('submitMfaCode', { code });

describe('a link that is requested', () => {
  test('again gets the token that it has, until its user would have less than a minute; then a new one', async () => {
    const link = await life({ tokenLife: '1h' });
    const until = (at: string) => ({
      value: { linkToken: 'token', linkWebUrl: 'https://link.example/token', expiresAt: at },
    });
    expect(await request(link)).toMatchObject(until('2026-03-01T11:00:00.000Z'));
    await link.until(59 / 60 - 1 / 3600);
    await request(link);
    expect(link.calls).toEqual(['0h createLinkToken']);
    await link.until(59 / 60);
    expect(await request(link)).toMatchObject(until('2026-03-01T11:59:00.000Z'));
    expect(link.calls).toHaveLength(2);
  });

  test('names its provider and its page to the service, and asks for the connections before it only if the user chooses', async () => {
    const made: unknown[] = [];
    const sought: unknown[] = [];
    const answers: Answers = {
      createLinkToken: (_now: number, link: unknown) => {
        made.push(link);
        const connections = made.length === 2 ? [{ slug: 'fitbit' }] : undefined;
        return {
          linkToken: 'token',
          linkWebUrl: 'https://link.example/token',
          notifies: true,
          ...(connections && { connections }),
        };
      },
      findConnection: (_now: number, query: unknown) => {
        sought.push(query);
        return { found: 'none', notifies: true };
      },
    };
    const page = {
      redirectUrl: 'https://product.example/',
      filterOnProviders: ['oura', 'fitbit'],
      onError: 'redirect',
      onClose: 'redirect',
    };
    await life({}, answers);
    const workflowId = `link-provider/${userId}/any`;
    const any = new Life({ workflow: linkProvider, type: 'linkProvider', workflowId, now: start }, answers);
    await any.start({ userId, ...page, policy: resolvePolicy('link') });
    await request(any);
    await any.until(23);
    await request(any);
    expect(made).toEqual([
      { userId, provider },
      { userId, readsConnections: true, ...page },
      { userId, ...page },
    ]);
    expect(await submit(any)).toEqual({ name: 'submitMfaCode', refused: 'InvalidCommand' });
    await any.signal('connectionReported');
    const since = start - 60_000;
    expect(sought).toEqual([{ userId, oneOf: ['oura', 'fitbit'], except: [{ slug: 'fitbit' }], since }]);
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
    had.answers['createLinkToken'] = final('LinkRefused');
    expect(await request(had)).toEqual({ name: 'requestLink', refused: 'LinkRefused' });
    expect(had.run.end).toBeUndefined();
    const other = await life({}, { createLinkToken: final('Unauthorized') });
    expect(other.run.replies).toEqual([{ name: 'requestLink', refused: 'Unauthorized' }]);
    expect(other.run.end).toBeUndefined();
  });

  test('again after its end, while the product is notified, is refused, or begins a new one with other options', async () => {
    const link = await life({}, { notify: silent });
    await link.update('cancel');
    expect(await request(link)).toEqual({ name: 'requestLink', refused: 'LinkEnded' });
    expect(await link.update('cancel')).toMatchObject({ value: { outcome: 'cancelled' } });
    await link.signal('connectionReported');
    const policy = resolvePolicy('link', { tokenLife: '20m' });
    const begun = await request(link, { newLink: { policy } });
    expect(begun).toMatchObject({ value: { expiresAt: '2026-03-01T10:20:00.000Z' } });
    expect(secondsOf(link.calls)).toEqual(['0s createLinkToken', '0s createLinkToken']);
    // A caller that joins it changes nothing, but its policy must be right.
    link.answers['resolvePolicy'] = final('PolicyInvalid');
    expect(await request(link, { newLink: { policy: resolvePolicy('link') } })).toEqual(begun);
    expect(await request(link, { newLink: {} })).toEqual(begun);
    expect(await request(link, { newLink: { policy: { tokenLife: 'soon' } } })).toEqual({
      name: 'requestLink',
      refused: 'PolicyInvalid',
    });
  });

  test('by a caller that joined a link which ended before its turn is refused, and begins no other one', async () => {
    const link = await life({}, { findConnection: silent });
    await link.until(1);
    await link.signal('connectionReported');
    await request(link, { newLink: { policy: resolvePolicy('link') } });
    await link.given({ findConnection: found('2026-03-01T11:00:00.000Z') });
    expect(link.run.replies.at(-1)).toEqual({ name: 'requestLink', refused: 'LinkEnded' });
    expect(link.calls.filter((call) => call.includes('Token'))).toHaveLength(1);
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
    const opening = { workflow: linkProvider, type: 'linkProvider', workflowId: `link-provider/${userId}/any` };
    const started = new Life({ ...opening, now: start }, link.answers);
    await started.start({ userId, policy: resolvePolicy('link'), ...options });
    expect(started.events).toEqual(isRight ? [] : ['0h failed: InvalidCommand']);
  });

  test.each<[string, unknown]>([
    ['link-provider/user-1/oura', undefined],
    ['link-provider/user-1/oura', { userId: 'user-2', provider: 'oura' }],
    ['link-provider/user-1/oura', { userId: 'user-1', provider: 'fitbit' }],
    ['link-provider//oura', { provider: 'oura' }],
  ])('is refused if its ID, %s, is not that of its input, %j', async (workflowId, input) => {
    const link = new Life({ workflow: linkProvider, type: 'linkProvider', workflowId, now: start }, {});
    await link.start(input);
    expect(link.events).toEqual(['0h failed: InvalidCommand']);
  });

  test('with a policy that cannot be followed fails, and so do the commands that wait for it', async () => {
    const opening = { workflow: linkProvider, type: 'linkProvider', workflowId: `link-provider/${userId}/${provider}` };
    const link = new Life({ ...opening, now: start }, { resolvePolicy: final('PolicyInvalid') });
    await link.run.start({ userId, provider, policy: { tokenLife: 'soon' } }, [], {
      name: 'requestLink',
      argument: {},
    });
    await link.settle();
    expect(link.run.replies).toEqual([{ name: 'requestLink', refused: 'PolicyInvalid' }]);
    expect(link.events).toEqual(['0h failed: PolicyInvalid']);
  });
});

test('two callers who request the next link at once get the same one', async () => {
  const link = await life({}, { notify: silent });
  await link.update('cancel');
  link.answers['createLinkToken'] = silent;
  for (let caller = 0; caller < 2; caller += 1) await request(link, { newLink: { policy: resolvePolicy('link') } });
  await link.given({ createLinkToken: { linkToken: 'next', linkWebUrl: 'https://link.example/next', notifies: true } });
  expect(link.run.replies.slice(2)).toMatchObject(Array(2).fill({ value: { linkToken: 'next' } }));
  expect(link.calls.filter((call) => call.includes('Token'))).toHaveLength(2);
});

test('the creation of a link after the end of another one holds up no notification of that end', async () => {
  const link = await life({}, { notify: silent });
  await link.update('reportLinkResult', asksForCode);
  await link.until(0.1);
  await link.update('cancel');
  link.answers['createLinkToken'] = silent;
  await request(link, { newLink: { policy: resolvePolicy('link') } });
  delete link.answers['notify'];
  await link.settle();
  expect(link.events).toEqual(['0.1h link.code_reminder', '0.1h link.ended cancelled']);
  expect(link.run.calls).toMatchObject([{ call: { name: 'createLinkToken' } }]);
});

test('operators and callers see where a link stands', async () => {
  const link = await life();
  expect(link.run.shown.attributes).toMatchObject({ LabPhase: 'awaiting_password' });
  await link.update('reportLinkResult', asksForCode);
  expect(link.run.shown.attributes).toMatchObject({ LabPhase: 'awaiting_code' });
  expect(link.run.shown.details).toContain('### Awaiting code');
  expect(await link.run.query('state')).toMatchObject({
    userId,
    provider,
    phase: 'awaiting_code',
    mfa: { method: 'sms' },
  });
});

describe('a report of the password step', () => {
  test('is answered once the service was asked for the connection', async () => {
    const link = await life({}, { findConnection: found('2026-03-01T10:00:00.000Z') });
    expect(await link.update('reportLinkResult', { state: 'success' })).toMatchObject({
      value: { phase: 'connected' },
    });
  });

  test('is read in the service’s own names, and refused without a state', async () => {
    const link = await life();
    const provider_mfa = { method: 'sms', hint: '***23' };
    expect(
      await link.update('reportLinkResult', { state: 'pending_provider_mfa', provider_mfa, token: 'x' }),
    ).toMatchObject({
      value: { phase: 'awaiting_code', mfa: provider_mfa },
    });
    for (const wrong of [{}, { state: '' }, null]) {
      expect(await link.update('reportLinkResult', wrong)).toEqual({
        name: 'reportLinkResult',
        refused: 'InvalidCommand',
      });
    }
  });

  test('that leaves no room for a connection asks the service for none; any other does', async () => {
    const link = await life();
    await link.update('reportLinkResult', { state: 'error', errorType: 'provider_credential_error' });
    expect(link.calls).toHaveLength(1);
    await link.update('reportLinkResult', { state: 'of_tomorrow' });
    expect(link.calls).toEqual(['0h createLinkToken', '0h findConnection']);
  });

  test('after the end, while the product is notified, is answered if the link is connected, and refused if not', async () => {
    const connected = await life({}, { notify: silent, findConnection: found('2026-03-01T10:00:00.000Z') });
    await connected.signal('connectionReported');
    expect(await connected.update('reportLinkResult', { state: 'success' })).toMatchObject({
      value: { phase: 'connected' },
    });
    const answer = await submit(connected);
    expect(answer).toMatchObject({ value: { outcome: 'connected' } });
    expect(answer?.value).not.toHaveProperty('errorType');
    expect(await request(connected)).toEqual({ name: 'requestLink', refused: 'LinkEnded' });
    expect(connected.calls).toHaveLength(2);
    const cancelled = await life({}, { notify: silent });
    await cancelled.update('cancel');
    expect(await cancelled.update('reportLinkResult', { state: 'success' })).toMatchObject({ refused: 'LinkEnded' });
    expect(await submit(cancelled)).toMatchObject({ refused: 'LinkEnded' });
    await cancelled.update('cancel');
    await request(cancelled);
    await cancelled.signal('connectionReported');
    expect(cancelled.run.refusals).toEqual(Array(3).fill({ fields: [], reason: 'cancelled' }));
    // None of them is in the history, but the cancellation that is repeated.
    expect(cancelled.run.accepted).toEqual(['requestLink', 'cancel', 'cancel']);
    expect(JSON.stringify(await cancelled.run.query('state'))).not.toContain('webhook');
  });

  test('that waited while the link ended is refused; if it ended connected, it is answered with that', async () => {
    for (const isConnected of [true, false]) {
      const link = await life({}, { notify: silent, findConnection: silent });
      await link.signal('connectionReported');
      if (!isConnected) await link.update('cancel');
      await link.update('reportLinkResult', { state: 'error', errorType: 'user_cancelled' });
      await link.given({ findConnection: isConnected ? found('2026-03-01T10:00:00.000Z') : { found: 'none' } });
      const reply = isConnected ? { value: { phase: 'connected' } } : { refused: 'LinkEnded' };
      expect(link.run.replies.at(-1)).toMatchObject(reply);
    }
  });

  test('that ends the link while the service does not answer leaves it about to end, and commands are refused meanwhile', async () => {
    const link = await life({}, { findConnection: unavailable });
    await link.update('reportLinkResult', { state: 'error', errorType: 'duplicate_connection' });
    expect(await request(link)).toEqual({ name: 'requestLink', refused: 'ServiceUnavailable' });
    link.answers['findConnection'] = { found: 'none' };
    expect(await request(link)).toEqual({ name: 'requestLink', refused: 'LinkEnded' });
    expect(endOf(link)).toMatchObject({ outcome: 'failed', errorType: 'duplicate_connection' });
  });
});

test.each([undefined, null, 5, 'text', [], {}])(
  'a command of a backend in another language without a usable argument, %j, is refused, and the link from one is the link',
  async (odd) => {
    const link = await asked();
    expect(await link.update('submitMfaCode', odd)).toEqual({ name: 'submitMfaCode', refused: 'InvalidCode' });
    expect(await link.update('reportLinkResult', odd)).toEqual({ name: 'reportLinkResult', refused: 'InvalidCommand' });
    expect(await link.update('requestLink', odd)).toMatchObject({ value: { linkToken: 'token' } });
    expect(await submit(link, 123_456)).toEqual({ name: 'submitMfaCode', refused: 'InvalidCode' });
    expect(await link.update('cancel', { anything: 1 })).toMatchObject({ value: { outcome: 'cancelled' } });
  },
);

describe('a code', () => {
  test('whose success the service does not name the connection of is answered once that was looked for', async () => {
    const link = await asked({}, { completeMfa: { report: { state: 'success' } } });
    link.answers['findConnection'] = found('2026-03-01T10:00:01.000Z');
    expect(await submit(link)).toMatchObject({ value: { outcome: 'connected' } });
  });

  test('that waited for one with a lost answer is handed on, because that one may not have been used', async () => {
    const link = await asked({}, { completeMfa: silent });
    await submit(link, '111111');
    await submit(link, '222222');
    await link.given({ completeMfa: final('AnswerLost') });
    expect(link.calls.filter((call) => call.includes('Mfa'))).toHaveLength(2);
  });

  test('whose answer is lost after a wrong one is not called wrong', async () => {
    const link = await asked({}, { completeMfa: { report: { state: 'error', errorType: 'incorrect_mfa_code' } } });
    await submit(link);
    link.answers['completeMfa'] = final('AnswerLost');
    expect(await submit(link)).toMatchObject({ value: { outcome: 'unknown' } });
  });

  test('is handed on once though another one was answered while it waited', async () => {
    const link = await asked({}, { completeMfa: silent });
    await submit(link, '111111');
    await submit(link, '222222');
    const [first] = link.run.calls;
    await link.run.answer(first?.seq ?? 0, 'completeMfa', {
      value: { report: { state: 'error', errorType: 'incorrect_mfa_code' } },
    });
    await submit(link, '222222');
    await link.given({ completeMfa: { report: { state: 'error', errorType: 'incorrect_mfa_code' } } });
    expect(link.calls.filter((call) => call.includes('Mfa'))).toHaveLength(1);
    expect(link.run.replies.slice(-2)).toMatchObject(
      Array(2).fill({ value: { outcome: 'wrong_code', attemptsLeft: 1 } }),
    );
  });

  test('is sent as the person typed it, without blanks around it, with what tells the link’s own connection', async () => {
    const sent: unknown[] = [];
    const completeMfa = (_now: number, given: unknown) => {
      sent.push(given);
      return { report: { state: 'success' }, connection: found('2026-03-01T10:00:01.000Z') };
    };
    const link = await asked({}, { completeMfa });
    expect(await submit(link, ' 12-34 56 ')).toMatchObject({
      value: { outcome: 'connected', state: { phase: 'connected' } },
    });
    const query = { userId, sourceSlug: 'oura', since: start - 60_000 };
    expect(sent).toEqual([{ ...query, provider, linkToken: 'token', code: '12-34 56' }]);
    expect(link.calls).toEqual(['0h createLinkToken', '0h completeMfa']);
    expect(endOf(link)).toMatchObject({ outcome: 'connected', connectedAt: '2026-03-01T10:00:01.000Z' });
  });

  test('that is sent twice at once is handed on once, and a second one after that is not held for it', async () => {
    const link = await asked({}, { completeMfa: silent });
    await submit(link);
    await submit(link);
    await link.given({ completeMfa: { report: { state: 'error', errorType: 'incorrect_mfa_code' } } });
    expect(link.calls.filter((call) => call.includes('Mfa'))).toHaveLength(1);
    expect(link.run.replies.slice(2)).toMatchObject(
      Array(2).fill({ value: { outcome: 'wrong_code', attemptsLeft: 2 } }),
    );
    expect(await submit(link)).toMatchObject({ value: { outcome: 'wrong_code', attemptsLeft: 1 } });
  });

  test('that waited while another one was answered is not handed on, unless that was a wrong one', async () => {
    for (const [errorType, handedOn] of [
      ['incorrect_mfa_code', 2],
      ['provider_credential_error', 1],
    ] as const) {
      const link = await asked({}, { completeMfa: silent });
      await submit(link, '111111');
      await submit(link, '222222');
      await link.given({ completeMfa: { report: { state: 'error', errorType } } });
      expect(link.calls.filter((call) => call.includes('Mfa'))).toHaveLength(handedOn);
      expect(link.run.replies).toHaveLength(4);
    }
  });

  test('whose success does not show yet is confirmed later; no other code is handed on before', async () => {
    const link = await asked({}, { completeMfa: { report: { state: 'success' } } });
    expect(await submit(link)).toMatchObject({ value: { outcome: 'confirming' } });
    expect(await submit(link, '654321')).toMatchObject({ value: { outcome: 'confirming' } });
    expect(link.calls.map((call) => call.slice(3))).toEqual([
      'createLinkToken',
      'completeMfa',
      'findConnection',
      'findConnection',
    ]);
    link.answers['findConnection'] = found('2026-03-01T10:00:01.000Z');
    expect(await submit(link, '654321')).toMatchObject({ value: { outcome: 'connected' } });
  });

  test('whose connection the service names as an older one is looked for again', async () => {
    const completeMfa = {
      report: { state: 'success' },
      connection: { found: 'older', createdAt: '2026-02-01T10:00:00.000Z' },
    };
    const link = await asked({}, { completeMfa });
    expect(await submit(link)).toMatchObject({ value: { outcome: 'confirming' } });
    expect(link.calls).toHaveLength(2);
    await link.until(1);
    expect(link.calls[2]).toBe('0.001h findConnection');
  });

  test('for a login whose token is lost starts over without a call', async () => {
    const link = await life();
    await link.update('reportLinkResult', { state: 'error', errorType: 'invalid_token' });
    expect(await submit(link)).toMatchObject({ value: { outcome: 'start_over', errorType: 'token_missing' } });
    expect(link.calls).toEqual(['0h createLinkToken']);
  });

  test.each(['LinkRefused', 'ServiceUnreachable', 'TooManyRequests', 'FeatureNotEnabled', 'Unauthorized'])(
    'that was certainly not handed on (%s) is refused, and may be sent again',
    async (type) => {
      const link = await asked({}, { completeMfa: final(type) });
      expect(await submit(link)).toEqual({ name: 'submitMfaCode', refused: type });
      expect(link.calls.slice(1)).toEqual(['0h completeMfa']);
      link.answers['completeMfa'] = { report: { state: 'error', errorType: 'incorrect_mfa_code' } };
      expect(await submit(link)).toMatchObject({ value: { outcome: 'wrong_code', attemptsLeft: 2 } });
    },
  );

  test('that is refused when the token’s time is over starts over', async () => {
    const link = await asked({ tokenLife: '10m' }, { completeMfa: final('LinkRefused') });
    await link.until(10 / 60);
    expect(await submit(link)).toMatchObject({ value: { outcome: 'start_over', errorType: 'token_expired' } });
  });

  test('that was refused for the team when the token’s time is over is still the team’s case', async () => {
    const link = await asked({ tokenLife: '10m' }, { completeMfa: final('Unauthorized') });
    await link.until(10 / 60);
    expect(await submit(link)).toEqual({ name: 'submitMfaCode', refused: 'Unauthorized' });
  });

  test('whose answer is lost may have worked: the user is read, and asked for another if it has not', async () => {
    const link = await asked({}, { completeMfa: final('AnswerLost') });
    expect(await submit(link)).toMatchObject({ value: { outcome: 'unknown', errorType: 'answer_lost' } });
    expect(link.calls.slice(1)).toEqual(['0h completeMfa', '0h findConnection']);
    link.answers['completeMfa'] = { report: { state: 'error', errorType: 'incorrect_mfa_code' } };
    expect(await submit(link)).toMatchObject({ value: { outcome: 'wrong_code' } });
    link.answers['completeMfa'] = final('AnswerLost');
    link.answers['findConnection'] = found('2026-03-01T10:00:01.000Z');
    expect(await submit(link)).toMatchObject({ value: { outcome: 'connected' } });
  });

  test('whose answer is lost while the user cannot be read is refused, and looked into before the next one', async () => {
    const link = await asked({}, { completeMfa: final('AnswerLost'), findConnection: unavailable });
    expect(await submit(link)).toEqual({ name: 'submitMfaCode', refused: 'AnswerLost' });
    link.answers['findConnection'] = found('2026-03-01T10:00:01.000Z');
    expect(await submit(link)).toMatchObject({ value: { outcome: 'connected' } });
    expect(link.calls.slice(1)).toEqual(['0h completeMfa', '0h findConnection', '0h findConnection']);
  });

  test('that waited for one with a lost answer is not handed on if that one ended the link', async () => {
    const link = await asked({}, { notify: silent, completeMfa: silent });
    await submit(link, '111111');
    await submit(link, '222222');
    await link.given({ completeMfa: { report: { state: 'error', errorType: 'unsupported_region' } } });
    expect(link.run.replies.slice(2)).toEqual([
      { name: 'submitMfaCode', refused: 'LinkFailed' },
      { name: 'submitMfaCode', refused: 'LinkEnded' },
    ]);
  });

  // proves 310
  test('that is wrong for the last time ends the link, and its caller gets that answer', async () => {
    const link = await asked(
      { maxCodeAttempts: 1 },
      { completeMfa: { report: { state: 'error', errorType: 'incorrect_mfa_code' } } },
    );
    expect(await submit(link)).toMatchObject({ value: { outcome: 'wrong_code', attemptsLeft: 0 } });
    expect(endOf(link)).toMatchObject({ outcome: 'failed', errorType: 'incorrect_mfa_code' });
  });

  test('whose error may hide a connection is not an end as long as the service does not say so', async () => {
    const completeMfa = { report: { state: 'error', errorType: 'duplicate_connection' } };
    const link = await asked({}, { completeMfa, findConnection: unavailable });
    expect(await submit(link)).toEqual({ name: 'submitMfaCode', refused: 'ServiceUnavailable' });
    link.answers['findConnection'] = found('2026-03-01T10:00:01.000Z');
    expect(await submit(link)).toMatchObject({ value: { outcome: 'connected' } });
  });

  test('is asked for again if the provider has another question, or wants the password again', async () => {
    const link = await asked({}, { completeMfa: { report: asksForCode } });
    expect(await submit(link)).toMatchObject({ value: { outcome: 'asked_again' } });
    link.answers['completeMfa'] = { report: { state: 'error', errorType: 'provider_credential_error' } };
    expect(await submit(link)).toMatchObject({ value: { outcome: 'ask_credentials_again' } });
  });
});

describe('a link that is cancelled', () => {
  test('by a command ends at once, and asks the service for nothing', async () => {
    const link = await life();
    expect(await link.update('cancel')).toMatchObject({ value: { phase: 'cancelled', outcome: 'cancelled' } });
    expect(link.calls).toHaveLength(1);
    expect(link.events).toEqual(['0h link.ended cancelled', '0h completed']);
  });

  test('twice at once ends once', async () => {
    const link = await life({}, { findConnection: silent });
    await link.signal('connectionReported');
    await link.update('cancel');
    await link.update('cancel');
    await link.given({ findConnection: { found: 'none' } });
    expect(link.run.replies.slice(1)).toMatchObject([
      { value: { phase: 'cancelled' } },
      { value: { phase: 'cancelled' } },
    ]);
    expect(link.events).toEqual(['0h link.ended cancelled', '0h completed']);
  });

  test('through Temporal ends as one that was cancelled, but a success that was reported counts', async () => {
    const link = await life();
    await link.run.cancel();
    await link.settle();
    expect(link.events).toEqual(['0h link.ended cancelled', '0h completed']);
    const claimed = await life();
    await claimed.update('reportLinkResult', { state: 'success' });
    claimed.answers['findConnection'] = found('2026-03-01T10:00:01.000Z');
    await claimed.run.cancel();
    await claimed.settle();
    expect(claimed.events).toEqual(['0h link.ended connected', '0h completed']);
    const reported = await life();
    await reported.signal('connectionReported');
    await reported.run.cancel();
    expect((await reported.settle()).calls.filter((call) => call.includes('find'))).toHaveLength(1);
  });

  test('through Temporal while a code is on its way: what the service makes of it counts', async () => {
    const link = await asked({}, { completeMfa: silent });
    await submit(link);
    await link.run.cancel();
    await link.given({ completeMfa: { report: { state: 'success' }, connection: found('2026-03-01T10:00:01.000Z') } });
    expect(link.run.replies.at(-1)).toMatchObject({ value: { outcome: 'connected' } });
    expect(link.events).toEqual(['0h link.ended connected', '0h completed']);
  });

  test('through Temporal and begun again goes on in a new run, which can be cancelled, too', async () => {
    const link = await life({}, { notify: silent });
    await link.run.cancel();
    await link.settle();
    await request(link, { newLink: { policy: resolvePolicy('link') } });
    expect(link.events).toEqual(['0h continued']);
    const { input } = link.run.end as { input: { carried: object } };
    expect(input).toMatchObject({ userId, provider, carried: { phase: 'awaiting_password', tokens: 1 } });
  });
});
