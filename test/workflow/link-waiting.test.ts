import { describe, expect, test } from 'vitest';
import type { LinkPolicy } from '../../protocol/link/policy.js';
import { UserLink } from './user-link.js';
import { setStage } from './story.js';

const stage = setStage();

test('what was chosen for the page goes with every token, and a new link of the run may choose otherwise', async () => {
  const page = { redirectUrl: 'https://product.example.com/linked', filterOnProviders: ['invented_watch'] };
  const link = await UserLink.start(stage, { ...page, onError: 'redirect', onClose: 'redirect' });
  await link.handle.linkUrl();
  const { userId, provider } = link.handle;
  await expect(
    stage.product.links.start({ userId, provider, onError: 'stay' as never, only: [] } as never),
  ).rejects.toMatchObject({
    name: 'LinkInvalid',
    fields: [{ field: 'only' }, { field: 'onError' }],
  });
  await stage.skip('570 seconds');
  await link.handle.linkUrl();
  const chosen = { redirect_url: page.redirectUrl, filter_on_providers: ['invented_watch'] };
  const tokens = (await stage.sandbox.linkTokens()).filter(({ user_id }) => user_id === userId);
  expect(tokens.map((token) => token.page)).toEqual([
    { ...chosen, on_error: 'redirect', on_close: 'redirect' },
    { ...chosen, on_error: 'redirect', on_close: 'redirect' },
  ]);
});

async function asked(policy: LinkPolicy = {}): Promise<UserLink> {
  const link = await UserLink.start(stage, { policy });
  await link.logIn('mfa-sms');
  return link;
}

describe('a user who never comes back', () => {
  test('a user who never comes back to log in is waited for a day', async () => {
    const link = await UserLink.start(stage);
    await link.handle.linkUrl();
    await stage.skip('23 hours');
    await link.expectState({ phase: 'awaiting_password' });
    await stage.skip('2 hours');
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
    await link.expectNotifications('ended expired');
    expect(link.notifications[0]?.data).toMatchObject({ waited_for: 'password' });
  });

  test('a user who never comes back with the code is reminded once, and then waited for no longer', async () => {
    const link = await asked();
    await stage.skip('3 minutes');
    await link.expectNotifications();
    await stage.skip('3 minutes');
    await link.expectNotifications('code_reminder');
    await stage.skip('50 minutes');
    await link.expectNotifications('code_reminder');
    await stage.skip('5 minutes');
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
    await link.expectNotifications('code_reminder', 'ended expired');
    expect(await link.codesSent()).toBe(0);
  });

  test('is shown until when the code is awaited', async () => {
    const link = await asked();
    const { until } = await link.handle.state();
    await stage.skip('6 minutes');
    await link.expectNotifications('code_reminder');
    expect(link.notifications[0]).toMatchObject({ type: 'link.code_reminder', data: { until } });
  });

  test('is waited for no longer in total than the policy says, however often they try', async () => {
    const link = await asked({ totalWait: '3 hours' });
    for (let hours = 0; hours < 4; hours += 1) {
      await stage.skip('50 minutes');
      const { phase } = await link.handle.state();
      if (phase !== 'awaiting_code') break;
      await link.handle.reportLinkResult({ state: 'pending_provider_mfa', providerMfa: { method: 'sms' } });
    }
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'link' });
    const { startedAt, timeline } = await link.handle.result();
    const hours = (Date.parse(timeline.at(-1)?.at ?? '') - Date.parse(startedAt)) / 3_600_000;
    expect(hours).toBeGreaterThanOrEqual(3);
    expect(hours).toBeLessThan(3.1);
  });
});

test('a reminder comes once, even if the user is asked again and again', async () => {
  const link = await asked();
  await stage.skip('6 minutes');
  await link.expectNotifications('code_reminder');
  await link.handle.reportLinkResult({ state: 'pending_provider_mfa', providerMfa: { method: 'email' } });
  await stage.skip('30 minutes');
  await link.expectState({ phase: 'awaiting_code' });
  await link.expectNotifications('code_reminder');
});

describe('a token that expires while the user is away', () => {
  test('is replaced once they are back, and a code that comes too late is answered with start_over', async () => {
    const link = await asked();
    const { linkToken, expiresAt } = await link.handle.linkUrl();
    await stage.skip('11 minutes');
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({
      outcome: 'start_over',
      errorType: 'token_expired',
      state: { phase: 'awaiting_password', passwordAttemptsLeft: 5 },
    });
    const renewed = await link.handle.linkUrl();
    expect(renewed.linkToken).not.toBe(linkToken);
    expect(Date.parse(renewed.expiresAt)).toBeGreaterThan(Date.parse(expiresAt));
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('is the same until its last minute, and another from then on', async () => {
    const link = await UserLink.start(stage);
    const first = await link.handle.linkUrl();
    await stage.skip('7 minutes');
    expect(await link.handle.linkUrl()).toEqual(first);
    await stage.skip('130 seconds');
    const second = await link.handle.linkUrl();
    expect(second.linkToken).not.toBe(first.linkToken);
    expect(second.linkWebUrl).toContain(second.linkToken);
    expect(await stage.sandbox.linkTokens()).toHaveLength(2);
  });

  test('ends a question for a code with it: the user logs in again', async () => {
    const link = await asked();
    await stage.skip('11 minutes');
    await link.handle.linkUrl();
    const state = await link.handle.state();
    expect(state).toMatchObject({ phase: 'awaiting_password' });
    expect(state).not.toHaveProperty('mfa');
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('may live longer by policy', async () => {
    await stage.sandbox.changeSettings({ linkTokenMinutes: 60 });
    const link = await asked({ tokenLife: '1h' });
    const { linkToken } = await link.handle.linkUrl();
    await stage.skip('50 minutes');
    expect((await link.handle.linkUrl()).linkToken).toBe(linkToken);
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  });

  test('ends the link if the policy says so', async () => {
    const link = await asked({ onTokenExpiry: 'end' });
    const { until } = await link.handle.state();
    const { expiresAt } = await link.handle.linkUrl();
    expect(until).toBe(expiresAt);
    stage.receiver.isDown = true;
    await stage.skip('13 minutes');
    await link.expectState({ outcome: 'expired', waitedFor: 'token' });
    await expect(link.handle.submitMfaCode('123456')).rejects.toMatchObject({
      name: 'LinkEnded',
      message: 'The link has ended: start a new one',
    });
    await expect(link.handle.reportLinkResult({ state: 'success' })).rejects.toMatchObject({ name: 'LinkEnded' });
    expect(await link.codesSent()).toBe(0);
    stage.receiver.isDown = false;
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'token' });
  });

  test('ends the link if the policy says so and the service is the first to notice', async () => {
    await stage.sandbox.changeSettings({ linkTokenMinutes: 5 });
    const link = await asked({ onTokenExpiry: 'end' });
    await stage.skip('6 minutes');
    await expect(link.handle.submitMfaCode('123456')).rejects.toMatchObject({
      name: 'LinkFailed',
      errorType: 'token_expired',
    });
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'token' });
  });

  test('does not end a link whose success is only awaiting confirmation', async () => {
    const link = await asked({ onTokenExpiry: 'end', confirmationWait: '1h' });
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.skip('20 minutes');
    await link.expectState({ phase: 'confirming' });
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_watch', webhook: false });
    await stage.skip('50 minutes');
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });
});
