import { describe, expect, test } from 'vitest';
import { ServiceDown } from '../../client/errors.js';
import { LinkRefused } from '../../client/links/errors.js';
import { ALink, completeMfaPath, tokenPath } from './a-link.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/* What a link makes of a service that is down, refuses, or loses an answer: a code works once. */

const stage = setStage();

async function asked(): Promise<ALink> {
  const link = await ALink.start(stage);
  await link.logsIn('mfa-sms');
  return link;
}

const fails = { kind: 'answer', status: 503, body: { detail: 'down for maintenance' } } as const;
const userPath = (link: ALink) => `/v2/user/${link.handle.userId}`;

/** One call that hands in a code goes wrong so. */
async function onceAtCodes(action: Parameters<typeof stage.sandbox.addFault>[0]['action']): Promise<void> {
  await stage.sandbox.addFault({ path: completeMfaPath(), times: 1, action });
}

describe('while the token is to be made', () => {
  test('an outage is told after half a minute, and asking again works once it is over', async () => {
    await stage.sandbox.addFault({ path: tokenPath, action: fails });
    const link = await ALink.start(stage);
    const asking = link.handle.linkUrl().catch((error: unknown) => error);
    await eventually(async () => expect(await stage.countRequests('POST', tokenPath)).toBeGreaterThan(0));
    await stage.skip('1 minute');
    expect(await asking).toBeInstanceOf(ServiceDown);
    await link.shows({ phase: 'awaiting_password' });
    await stage.sandbox.removeFaults();
    expect(await link.handle.linkUrl()).toHaveProperty('linkToken');
    expect(await link.connects()).toMatchObject({ outcome: 'connected' });
  });

  test('a lost answer costs a token that nobody uses', async () => {
    await stage.sandbox.addFault({ path: tokenPath, times: 1, action: { kind: 'drop_response' } });
    const link = await ALink.start(stage);
    const asking = link.handle.linkUrl();
    await stage.seesRequests('POST', tokenPath);
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
    const link = await ALink.start(stage, options);
    await expect(link.handle.linkUrl()).rejects.toMatchObject({ name: 'LinkRefused', status });
    expect(await link.handle.result()).toMatchObject({ outcome: 'failed', errorType: 'link_refused' });
    await expect(link.handle.submitMfaCode('123456')).rejects.toMatchObject({ name: 'LinkEnded' });
  });

  test('a refusal does not end a link that once had a token', async () => {
    const link = await ALink.start(stage);
    await link.logsIn('error-token_expired');
    const action = { kind: 'answer', status: 422, body: { detail: 'Not now' } } as const;
    await stage.sandbox.addFault({ path: tokenPath, times: 1, action });
    await expect(link.handle.linkUrl()).rejects.toMatchObject({ name: 'LinkRefused', status: 422 });
    expect(await link.connects()).toMatchObject({ outcome: 'connected' });
  });

  test('a key that the service does not take is a matter for operators: the link waits', async () => {
    const action = { kind: 'answer', status: 401, body: { detail: 'Unauthorized' } } as const;
    await stage.sandbox.addFault({ path: tokenPath, times: 1, action });
    const link = await ALink.start(stage);
    await expect(link.handle.linkUrl()).rejects.toMatchObject({ name: 'ServiceAccessDenied' });
    expect(await link.connects()).toMatchObject({ outcome: 'connected' });
  });
});

describe('while a code is handed in', () => {
  test('a service that refuses connections is waited for, and gets the code once', async () => {
    const link = await asked();
    await stage.sandbox.goOffline(2_000);
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    expect(await link.codesSent()).toBe(1);
  });

  test('an answer that is lost after the code worked is found out: connected', async () => {
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
    'an answer that is %s without a connection leaves it open what became of the code: the next one may work',
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

  test('the 500 of a provider is never tried again by itself', async () => {
    const link = await asked();
    expect(await link.handle.submitMfaCode('900500')).toMatchObject({ outcome: 'unknown' });
    await stage.skip('5 minutes');
    expect(await link.codesSent()).toBe(1);
  });

  test('an answer that is lost in an outage is told as such, and the connection found once that is over', async () => {
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

  test('it is not sent where an earlier success turns out to have come about', async () => {
    const link = await asked();
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.skip('40 seconds');
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_watch', webhook: false });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    expect(await link.codesSent()).toBe(0);
  });

  test('a success whose connection cannot be looked up is confirmed later', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await asked();
    // The look that belongs to the code, and the first of its own.
    await stage.sandbox.addFault({ path: userPath(link), times: 2, action: fails });
    const answer = link.handle.submitMfaCode('123456');
    await stage.seesRequests('GET', userPath(link), 2);
    await stage.skip('5 seconds');
    expect(await answer).toMatchObject({ outcome: 'connected' });
  });

  test('a refusal with {detail} is told, without the code, and the link goes on', async () => {
    const link = await asked();
    const refusal: unknown = await link.handle.submitMfaCode('900422').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LinkRefused);
    expect(refusal).toMatchObject({ status: 422, fields: [{ field: 'mfa_code' }] });
    expect(JSON.stringify([refusal, (refusal as Error).message])).not.toContain('900422');
    await link.shows({ phase: 'awaiting_code', codeAttemptsLeft: 3 });
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
      expect(await link.connects()).toMatchObject({ outcome: 'connected' });
    },
  );

  test('429 has not taken the code: it may be given again', async () => {
    const link = await asked();
    await onceAtCodes({ kind: 'answer', status: 429, headers: { 'retry-after': '1' } });
    await expect(link.handle.submitMfaCode('123456')).rejects.toBeInstanceOf(ServiceDown);
    expect(await link.handle.state()).not.toHaveProperty('errorType');
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  });
});

test('a reported success in an outage is confirmed once that is over, without a person', async () => {
  await stage.sandbox.changeSettings({ connectionWebhooks: false });
  const link = await ALink.start(stage);
  const answer = await link.entersPassword('ok');
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
  async function undecided(): Promise<ALink> {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await asked();
    await stage.sandbox.addFault({ path: userPath(link), action: fails });
    expect(await duringOutage(link, () => link.handle.submitMfaCode('900009'))).toBeInstanceOf(ServiceDown);
    return link;
  }

  async function duringOutage(link: ALink, call: () => Promise<unknown>): Promise<unknown> {
    const before = await stage.countRequests('GET', userPath(link));
    const answer = call().catch((error: unknown) => error);
    await eventually(async () => expect(await stage.countRequests('GET', userPath(link))).toBeGreaterThan(before));
    await stage.skip('1 minute');
    return answer;
  }

  test('leaves it open, and takes nothing more until the service has said so', async () => {
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

  test('is no end where the connection shows after it', async () => {
    const link = await undecided();
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_watch', webhook: false });
    await stage.sandbox.removeFaults();
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    expect(await link.codesSent()).toBe(1);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('can still be cancelled', async () => {
    const link = await undecided();
    const cancelled = link.handle.cancel();
    // A look that is under way is waited for.
    await stage.skip('1 minute');
    expect(await cancelled).toMatchObject({ outcome: 'cancelled' });
  });
});

test('a user whom the service no longer shows has no connection', async () => {
  const link = await ALink.start(stage);
  const action = { kind: 'answer', status: 404, body: { detail: 'Not found' } } as const;
  await stage.sandbox.addFault({ path: userPath(link), action });
  await stage.skip('25 hours');
  expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
  expect(await stage.countRequests('GET', userPath(link))).toBe(1);
});

describe('a wait that is over while the service is down', () => {
  test('ends the link only once the service has said that there is no connection', async () => {
    const link = await ALink.start(stage);
    await link.handle.linkUrl();
    await stage.sandbox.addFault({ path: userPath(link), action: fails });
    await stage.skip('26 hours');
    expect((await link.handle.state()).outcome).toBeUndefined();
    await stage.sandbox.removeFaults();
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
  });

  test('does not end a link whose user has connected unheard', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await ALink.start(stage);
    await link.entersPassword('ok');
    await stage.sandbox.addFault({ path: userPath(link), action: fails });
    await stage.skip('26 hours');
    await stage.sandbox.removeFaults();
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('nor does a 404 that is not in the service’s words: it says nothing of the connection', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await ALink.start(stage);
    await link.entersPassword('ok');
    const proxyPage = { kind: 'answer', status: 404, body: '<html><h1>404 Not Found</h1></html>' } as const;
    await stage.sandbox.addFault({ path: userPath(link), times: 1, action: proxyPage });
    await stage.skip('25 hours');
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('ends a link after a day all the same', async () => {
    const link = await ALink.start(stage);
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
