import { describe, expect, test } from 'vitest';
import { connectionReportedSignal } from '../../protocol/link/messages.js';
import { eventually } from '../rig/eventually.js';
import { linkProviderId } from '../../protocol/ids.js';
import { UserLink } from './user-link.js';
import { setStage } from './story.js';

/* Which connections complete a link, and how the link learns of them. */

const stage = setStage();
const provider = 'invented_watch';

/** An instant so many seconds before (or after) the link's start. */
async function around(link: UserLink, seconds: number): Promise<string> {
  const { startedAt } = await link.handle.state();
  return new Date(Date.parse(startedAt) + seconds * 1000).toISOString();
}

describe('a webhook about the connection', () => {
  test('completes a link about which nobody reports anything', async () => {
    const link = await UserLink.start(stage);
    await link.enterPassword('ok');
    await link.expectState({ outcome: 'connected' });
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('wakes a link that was started with the user id in capitals, and both spellings are one link', async () => {
    const userId = await stage.newUser();
    const link = await UserLink.start(stage, { userId: userId.toUpperCase() });
    expect(link.handle.userId).toBe(userId);
    const again = await stage.product.links.start({ userId, provider });
    expect((await again.state()).startedAt).toBe((await link.handle.state()).startedAt);
    await link.enterPassword('ok');
    await link.expectState({ outcome: 'connected', userId });
  });

  test('may come before the product’s report, which is answered with the link’s state by then', async () => {
    const link = await UserLink.start(stage);
    const answer = await link.enterPassword('ok');
    await link.expectState({ outcome: 'connected' });
    await stage.finish(link.workflowId);
    expect(await link.handle.reportLinkResult(answer)).toMatchObject({ phase: 'connected', outcome: 'connected' });
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
    expect(await stage.countRequests('GET', `/v2/user/${link.handle.userId}`)).toBe(1);
  });

  test('may come while a code is on its way: the link is connected once', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    const path = '/v2/link/provider/password/*/complete_mfa';
    await stage.sandbox.addFault({ path, action: { kind: 'delay', delayMs: 500, phase: 'after_work' } });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    expect((await link.handle.result()).timeline.filter(({ what }) => what === 'connected')).toHaveLength(1);
    await link.expectNotifications('ended connected');
  });

  test('completes a link for which the user chose the provider on the page, with the first connection made from then on', async () => {
    const userId = await stage.newUser();
    await stage.syncClock();
    // A moment before the link: within the tolerance for clocks that differ.
    await stage.sandbox.connect(userId, { provider: 'invented_band', webhook: false });
    const handle = await stage.product.links.start({ userId, filterOnProviders: ['invented_ring', 'invented_band'] });
    stage.onClear(() => stage.cancelIfRunning(linkProviderId(userId, 'any')));
    const { linkToken } = await handle.linkUrl();
    expect((await stage.sandbox.linkTokens()).at(-1)).toMatchObject({ user_id: userId, provider: null });
    await expect(handle.submitMfaCode('123456')).rejects.toMatchObject({ fields: [{ field: 'provider' }] });
    await stage.syncClock();
    // The page does not offer this one.
    await stage.sandbox.connect(userId, { provider: 'invented_watch' });
    await eventually(async () => expect(await stage.countRequests('GET', `/v2/user/${userId}`)).toBeGreaterThan(1));
    expect(await handle.state()).not.toHaveProperty('outcome');
    const credentials = { username: 'ok', password: 'invented-password' };
    await stage.service.links.submitPassword('invented_ring', linkToken, credentials);
    const expected = { outcome: 'connected', provider: 'any', chosenProvider: 'invented_ring' };
    await eventually(async () => expect(await handle.state()).toMatchObject(expected));
    expect(await handle.result()).toMatchObject(expected);
    await eventually(() =>
      expect(stage.receiver.accepted.filter(({ subject }) => subject === userId)).toMatchObject([
        { type: 'link.ended', data: { provider: 'any', outcome: 'connected', chosen_provider: 'invented_ring' } },
      ]),
    );
  });

  test.each(['source', 'provider'] as const)('names its source under `%s`', async (connectionSlugIn) => {
    await stage.sandbox.changeSettings({ connectionSlugIn, webhookEnvelope: 'without_ids' });
    const link = await UserLink.start(stage);
    await link.enterPassword('ok');
    await link.expectState({ outcome: 'connected' });
  });

  test('a webhook for another provider, for another user, or about a connection that broke changes nothing', async () => {
    const link = await UserLink.start(stage);
    const { userId } = link.handle;
    await stage.sandbox.sendConnectionWebhook(userId, { provider: 'invented_ring' });
    await stage.sandbox.sendConnectionWebhook(await stage.newUser(), { provider });
    await stage.sandbox.sendConnectionWebhook(userId, { provider, event_type: 'provider.connection.error' });
    await stage.sandbox.settleWebhooks();
    await link.handle.linkUrl();
    expect(await link.happened()).toEqual(['link made']);
    expect(await stage.countRequests('GET', `/v2/user/${userId}`)).toBe(0);
  });

  test('a webhook about a connection that the service does not show yet is followed by reads until it does', async () => {
    const link = await UserLink.start(stage);
    await link.handle.linkUrl();
    await stage.sandbox.sendConnectionWebhook(link.handle.userId, { provider });
    await link.expectState({
      phase: 'awaiting_password',
      timeline: [{}, { what: 'connection reported by webhook' }] as never,
    });
    await stage.sandbox.connect(link.handle.userId, { provider, webhook: false });
    await stage.skip('10 seconds');
    await link.expectState({ outcome: 'connected' });
  });

  test('a webhook about a connection that the service never shows changes nothing for the user', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    await stage.sandbox.sendConnectionWebhook(link.handle.userId, { provider });
    await stage.sandbox.settleWebhooks();
    await stage.skip('3 minutes');
    expect((await link.happened()).at(-1)).toBe('no new connection at the service');
    await link.expectState({ phase: 'awaiting_code', attention: [] });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  });

  test('many webhooks at once lead to one read or a few, and one end', async () => {
    const link = await UserLink.start(stage);
    await link.handle.linkUrl();
    const workflow = stage.temporal.workflow.getHandle(link.workflowId);
    await Promise.all(Array.from({ length: 20 }, () => workflow.signal(connectionReportedSignal)));
    await link.enterPassword('ok');
    await link.expectState({ outcome: 'connected' });
    expect(await stage.countRequests('GET', `/v2/user/${link.handle.userId}`)).toBeLessThan(20);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
    await link.expectNotifications('ended connected');
  });
});

test.each([
  ['password', '25 hours', 'ok'],
  ['code', '2 hours', 'mfa-sms'],
] as const)(
  'a lost webhook is made up for by a read when the wait for the %s is over',
  async (_wait, span, username) => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await UserLink.start(stage);
    if (username === 'ok') await link.enterPassword(username);
    else {
      await link.logIn(username);
      // The user gives the code on the hosted page, past the product.
      const { linkToken } = await link.handle.linkUrl();
      await stage.service.links.completeMfa(provider, linkToken, '123456');
    }
    await stage.skip(span);
    const result = await link.handle.result();
    expect(result).toMatchObject({ outcome: 'connected' });
    expect(result).not.toHaveProperty('waitedFor');
  },
);

describe('an older connection', () => {
  test('does not complete a link by its webhook', async () => {
    const userId = await stage.newUser();
    await stage.sandbox.connect(userId, { provider, created_on: '2020-01-01T00:00:00Z', webhook: false });
    const link = await UserLink.start(stage, { userId });
    await link.handle.linkUrl();
    await stage.sandbox.sendConnectionWebhook(userId, { provider });
    await link.expectState({ timeline: [{}, { what: 'connection reported by webhook' }] as never });
    // The new one may only not show yet: reads continue for as long as after a reported success.
    await stage.skip('3 minutes');
    await link.expectState({
      phase: 'awaiting_password',
      attention: [],
      timeline: [{}, {}, { what: 'no new connection at the service' }] as never,
    });
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('does not complete a link at the end of a wait', async () => {
    const userId = await stage.newUser();
    await stage.sandbox.connect(userId, { provider, created_on: '2020-01-01T00:00:00Z', webhook: false });
    const link = await UserLink.start(stage, { userId });
    await stage.skip('25 hours');
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
  });

  test('confirms no success, unless the policy accepts any connection', async () => {
    const created_on = '2020-01-01T00:00:00Z';
    for (const confirmedBy of ['new', 'any'] as const) {
      const userId = await stage.newUser();
      await stage.sandbox.connect(userId, { provider, created_on, webhook: false });
      const link = await UserLink.start(stage, { userId, policy: { confirmedBy } });
      const state = await link.handle.reportLinkResult({ state: 'success' });
      expect(state.phase).toBe(confirmedBy === 'any' ? 'connected' : 'confirming');
    }
  });

  test('does not complete a link that accepts any connection before a success was reported', async () => {
    const userId = await stage.newUser();
    await stage.sandbox.connect(userId, { provider, created_on: '2020-01-01T00:00:00Z', webhook: false });
    const link = await UserLink.start(stage, { userId, policy: { confirmedBy: 'any' } });
    await stage.sandbox.sendConnectionWebhook(userId, { provider });
    await link.expectState({ timeline: [{ what: 'connection reported by webhook' }] as never });
    await stage.skip('25 hours');
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
  });

  test.each([
    [-59, true],
    [-61, false],
    [+90, true],
  ])('is one that was made more than the minute of tolerance before: %i seconds', async (seconds, isNew) => {
    const link = await UserLink.start(stage);
    const created_on = await around(link, seconds);
    await stage.sandbox.connect(link.handle.userId, { provider, created_on, webhook: false });
    const state = await link.handle.reportLinkResult({ state: 'success' });
    expect(state.phase).toBe(isNew ? 'connected' : 'confirming');
  });

  test('an older connection with another provider does not count', async () => {
    const link = await UserLink.start(stage);
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_ring', webhook: false });
    expect(await link.handle.reportLinkResult({ state: 'success' })).toMatchObject({ phase: 'confirming' });
  });

  test('is distinguished from a new one even if the service writes no time zone', async () => {
    await stage.sandbox.changeSettings({ naiveTimestamps: true, connectionWebhooks: false });
    const link = await UserLink.start(stage);
    expect(await link.logIn('ok')).toMatchObject({ outcome: 'connected' });
  });
});

describe('a reported success', () => {
  test('is confirmed by a read at once', async () => {
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const link = await UserLink.start(stage);
    expect(await link.logIn('ok')).toMatchObject({ phase: 'connected', outcome: 'connected' });
  });

  test('a reported success that the service shows a moment later is confirmed then', async () => {
    const link = await UserLink.start(stage);
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.skip('30 seconds');
    await link.expectState({ phase: 'confirming', attention: [] });
    await stage.sandbox.connect(link.handle.userId, { provider, webhook: false });
    await stage.skip('1 minute');
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('a reported success that the service never shows needs attention, and brings the user back to the password', async () => {
    const link = await UserLink.start(stage);
    const { linkToken } = await link.handle.linkUrl();
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.skip('3 minutes');
    await link.expectState({ phase: 'awaiting_password', attention: [{ reason: 'connection_unconfirmed' }] as never });
    expect((await link.handle.linkUrl()).linkToken).not.toBe(linkToken);
    expect(await link.connect()).toMatchObject({ outcome: 'connected', state: { attention: [] } });
    // At once, after 2 seconds, 4, 8, 16, 32, 64, and at the end; then with the code.
    expect(await stage.countRequests('GET', `/v2/user/${link.handle.userId}`)).toBe(9);
  });

  test('a reported success after a code is answered as unconfirmed until the service shows it or a webhook confirms it', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    const user = `/v2/user/${link.handle.userId}`;
    const unconnected = await stage.sandbox.requests({ path: user });
    expect(unconnected).toEqual([]);
    await stage.sandbox.changeSettings({ connectionWebhooks: false });
    const body = { user_id: link.handle.userId, team_id: null, client_user_id: 'invented', connected_sources: [] };
    await stage.sandbox.addFault({ path: user, times: 1, action: { kind: 'answer', status: 200, body } });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'confirming' });
    await stage.sandbox.sendConnectionWebhook(link.handle.userId, { provider });
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });
});
