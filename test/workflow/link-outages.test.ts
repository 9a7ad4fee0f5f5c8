import { describe, expect, test } from 'vitest';
import { ServiceDown } from '../../client/errors.js';
import { LinkRefused } from '../../client/links/errors.js';
import { UserLink, completeMfaPath, tokenPath } from './user-link.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/* How a link reacts to a service that is down, refuses, or loses an answer: a code works once. */

const stage = setStage();

async function asked(): Promise<UserLink> {
  const link = await UserLink.start(stage);
  await link.logIn('mfa-sms');
  return link;
}

const fails = { kind: 'answer', status: 503, body: { detail: 'down for maintenance' } } as const;
const userPath = (link: UserLink) => `/v2/user/${link.handle.userId}`;

/** One call that submits a code fails in this way. */
async function onceAtCodes(action: Parameters<typeof stage.sandbox.addFault>[0]['action']): Promise<void> {
  await stage.sandbox.addFault({ path: completeMfaPath(), times: 1, action });
}

describe('while the token is being made', () => {
  test('an outage is reported after half a minute, and a new request works once it is over', async () => {
    await stage.sandbox.addFault({ path: tokenPath, action: fails });
    const link = await UserLink.start(stage);
    const asking = link.handle.linkUrl().catch((error: unknown) => error);
    await eventually(async () => expect(await stage.countRequests('POST', tokenPath)).toBeGreaterThan(0));
    await stage.skip('1 minute');
    expect(await asking).toBeInstanceOf(ServiceDown);
    await link.expectState({ phase: 'awaiting_password' });
    await stage.sandbox.removeFaults();
    expect(await link.handle.linkUrl()).toHaveProperty('linkToken');
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('a lost answer costs a token that nobody uses', async () => {
    await stage.sandbox.addFault({ path: tokenPath, times: 1, action: { kind: 'drop_response' } });
    const link = await UserLink.start(stage);
    const asking = link.handle.linkUrl();
    await stage.expectRequests('POST', tokenPath);
    await stage.skip('5 seconds');
    const { linkToken } = await asking;
    const tokens = await stage.sandbox.linkTokens();
    expect(tokens).toHaveLength(2);
    expect(tokens[1]).toMatchObject({ link_token: linkToken });
  });

  test.each([
    ['a user', { userId: '6f0c0a49-2f0a-4b5e-8d6f-000000000000' }, 404],
    ['a provider', { provider: 'no_such_provider' }, 422],
  ])('%s that the service does not know ends the link', async (_what, options, status) => {
    const link = await UserLink.start(stage, options);
    await expect(link.handle.linkUrl()).rejects.toMatchObject({ name: 'LinkRefused', status });
    expect(await link.handle.result()).toMatchObject({ outcome: 'failed', errorType: 'link_refused' });
    await expect(link.handle.submitMfaCode('123456')).rejects.toMatchObject({ name: 'LinkEnded' });
  });

  test('a refusal does not end a link that once had a token', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('error-token_expired');
    const action = { kind: 'answer', status: 422, body: { detail: 'Not now' } } as const;
    await stage.sandbox.addFault({ path: tokenPath, times: 1, action });
    await expect(link.handle.linkUrl()).rejects.toMatchObject({ name: 'LinkRefused', status: 422 });
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('a key that the service refuses needs an operator’s attention: the link waits', async () => {
    const action = { kind: 'answer', status: 401, body: { detail: 'Unauthorized' } } as const;
    await stage.sandbox.addFault({ path: tokenPath, times: 1, action });
    const link = await UserLink.start(stage);
    await expect(link.handle.linkUrl()).rejects.toMatchObject({ name: 'ServiceAccessDenied' });
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });
});

describe('while a code is being submitted', () => {
  test('a service that refuses connections is retried, and gets the code once', async () => {
    const link = await asked();
    await stage.sandbox.goOffline(2_000);
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    expect(await link.codesSent()).toBe(1);
  });

  test('a lost answer is settled by a read: the code worked, and the link is connected', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await asked();
    await onceAtCodes({ kind: 'drop_response' });
    const answer = await link.handle.submitMfaCode('123456');
    expect(answer).toMatchObject({ outcome: 'connected', state: { outcome: 'connected' } });
    expect(answer).not.toHaveProperty('errorType');
    expect(await link.codesSent()).toBe(1);
  });

  test.each([
    ['lost', { kind: 'refuse' }],
    ['an error', { kind: 'answer', status: 500, body: 'Internal Server Error' }],
    ['a gateway that lost patience', { kind: 'answer', status: 408 }],
    ['unreadable', { kind: 'answer', status: 200, body: 'nothing of use' }],
    ['a redirect', { kind: 'answer', status: 302 }],
  ] as const)(
    'an answer that is %s, without a connection, leaves the code’s fate unknown: the next one may work',
    async (_how, action) => {
      const link = await asked();
      await onceAtCodes(action);
      expect(await link.handle.submitMfaCode('123456')).toMatchObject({
        outcome: 'unknown',
        errorType: 'answer_lost',
        attemptsLeft: 3,
        state: { phase: 'awaiting_code' },
      });
      expect(await link.codesSent()).toBe(1);
      expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    },
  );

  test('the 500 of a provider is never retried automatically', async () => {
    const link = await asked();
    expect(await link.handle.submitMfaCode('900500')).toMatchObject({ outcome: 'unknown' });
    await stage.skip('5 minutes');
    expect(await link.codesSent()).toBe(1);
  });

  test('an answer that is lost in an outage is reported as unknown, and the connection found once that is over', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await asked();
    await onceAtCodes({ kind: 'drop_response' });
    await stage.sandbox.addFault({ path: userPath(link), action: fails });
    const answer = link.handle.submitMfaCode('123456').catch((error: unknown) => error);
    await eventually(async () => expect(await stage.countRequests('GET', userPath(link))).toBeGreaterThan(0));
    await stage.skip('3 minutes');
    expect(await answer).toBeInstanceOf(ServiceDown);
    expect(await link.handle.state()).toMatchObject({ phase: 'awaiting_code', errorType: 'answer_lost' });
    await stage.sandbox.removeFaults();
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
    expect(await link.codesSent()).toBe(1);
  });

  test('a code is not sent if an earlier success turns out to have connected the link', async () => {
    const link = await asked();
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.skip('40 seconds');
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_watch', webhook: false });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    expect(await link.codesSent()).toBe(0);
  });

  test('a success whose connection cannot be read is confirmed later', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await asked();
    // The read that belongs to the code, and the first of its own.
    await stage.sandbox.addFault({ path: userPath(link), times: 2, action: fails });
    const answer = link.handle.submitMfaCode('123456');
    await stage.expectRequests('GET', userPath(link), 2);
    await stage.skip('5 seconds');
    expect(await answer).toMatchObject({ outcome: 'connected' });
  });

  test('a refusal with {detail} is reported without the code, and the link goes on', async () => {
    const link = await asked();
    const refusal: unknown = await link.handle.submitMfaCode('900422').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LinkRefused);
    expect(refusal).toMatchObject({ status: 422, fields: [{ field: 'mfa_code' }] });
    expect(JSON.stringify([refusal, (refusal as Error).message])).not.toContain('900422');
    await link.expectState({ phase: 'awaiting_code', codeAttemptsLeft: 3 });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  });

  test.each([401, 403])(
    '%i is about the link token, not about the team’s key: the user starts over',
    async (status) => {
      const link = await asked();
      await onceAtCodes({ kind: 'answer', status, body: { detail: 'Invalid token' } });
      expect(await link.handle.submitMfaCode('123456')).toMatchObject({
        outcome: 'start_over',
        errorType: 'invalid_token',
      });
      expect(await link.connect()).toMatchObject({ outcome: 'connected' });
    },
  );

  test('429 means the code was not taken: it may be given again', async () => {
    const link = await asked();
    await onceAtCodes({ kind: 'answer', status: 429, headers: { 'retry-after': '1' } });
    await expect(link.handle.submitMfaCode('123456')).rejects.toBeInstanceOf(ServiceDown);
    expect(await link.handle.state()).not.toHaveProperty('errorType');
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  });
});

test('a reported success in an outage is confirmed once that is over, without a person', async () => {
  await stage.sandbox.changeSettings({ connectionWebhooks: false });
  const link = await UserLink.start(stage);
  const answer = await link.enterPassword('ok');
  await stage.sandbox.addFault({ path: userPath(link), action: fails });
  const reported = link.handle.reportLinkResult(answer);
  await eventually(async () => expect(await stage.countRequests('GET', userPath(link))).toBeGreaterThan(0));
  await stage.skip('30 minutes');
  expect(await reported).toMatchObject({ phase: 'confirming', attention: [] });
  await stage.sandbox.removeFaults();
  await stage.finish(link.workflowId);
  expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
});

describe('an error that would end the link while the service cannot be read', () => {
  /** `duplicate_connection`: the connection may be the link's own. */
  async function undecided(): Promise<UserLink> {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await asked();
    await stage.sandbox.addFault({ path: userPath(link), action: fails });
    expect(await duringOutage(link, () => link.handle.submitMfaCode('900009'))).toBeInstanceOf(ServiceDown);
    return link;
  }

  async function duringOutage(link: UserLink, call: () => Promise<unknown>): Promise<unknown> {
    const before = await stage.countRequests('GET', userPath(link));
    const answer = call().catch((error: unknown) => error);
    await eventually(async () => expect(await stage.countRequests('GET', userPath(link))).toBeGreaterThan(before));
    await stage.skip('1 minute');
    return answer;
  }

  test('leaves it open, and no command is accepted until the service has answered', async () => {
    const link = await undecided();
    expect((await link.handle.state()).outcome).toBeUndefined();
    for (const call of [
      () => link.handle.linkUrl(),
      () => link.handle.submitMfaCode('123456'),
      () => link.handle.reportLinkResult({ state: 'success' }),
    ]) {
      expect(await duringOutage(link, call)).toBeInstanceOf(ServiceDown);
    }
    expect(await link.codesSent()).toBe(1);
    await stage.sandbox.removeFaults();
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'failed', errorType: 'duplicate_connection' });
  });

  test('does not end it if the connection shows afterwards', async () => {
    const link = await undecided();
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_watch', webhook: false });
    await stage.sandbox.removeFaults();
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    expect(await link.codesSent()).toBe(1);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('does not prevent cancelling it', async () => {
    const link = await undecided();
    const cancelled = link.handle.cancel();
    // A read that is under way is waited for.
    await stage.skip('1 minute');
    expect(await cancelled).toMatchObject({ outcome: 'cancelled' });
  });
});

test('a user whom the service no longer shows has no connection', async () => {
  const link = await UserLink.start(stage);
  const action = { kind: 'answer', status: 404, body: { detail: 'Not found' } } as const;
  await stage.sandbox.addFault({ path: userPath(link), action });
  await stage.skip('25 hours');
  expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
  expect(await stage.countRequests('GET', userPath(link))).toBe(1);
});

describe('a deadline that passes while the service is down', () => {
  test('ends the link only once the service has said that there is no connection', async () => {
    const link = await UserLink.start(stage);
    await link.handle.linkUrl();
    await stage.sandbox.addFault({ path: userPath(link), action: fails });
    await stage.skip('26 hours');
    expect((await link.handle.state()).outcome).toBeUndefined();
    await stage.sandbox.removeFaults();
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
  });

  test('does not end a link whose user has connected without a webhook', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await UserLink.start(stage);
    await link.enterPassword('ok');
    await stage.sandbox.addFault({ path: userPath(link), action: fails });
    await stage.skip('26 hours');
    await stage.sandbox.removeFaults();
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('does not end the link by a 404 that is not the service’s own', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await UserLink.start(stage);
    await link.enterPassword('ok');
    const proxyPage = { kind: 'answer', status: 404, body: '<html><h1>404 Not Found</h1></html>' } as const;
    await stage.sandbox.addFault({ path: userPath(link), times: 1, action: proxyPage });
    await stage.skip('25 hours');
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('ends the link after a day all the same', async () => {
    const link = await UserLink.start(stage);
    await link.handle.linkUrl();
    await stage.sandbox.addFault({ path: userPath(link), action: fails });
    await stage.skip('47 hours');
    expect((await link.handle.state()).outcome).toBeUndefined();
    await stage.finish(link.workflowId);
    // Many links wait in an outage: each of them may ask only so often.
    expect(await stage.countRequests('GET', userPath(link))).toBeLessThan(1_500);
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
  });
});
