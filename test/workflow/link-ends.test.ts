import { describe, expect, test } from 'vitest';
import { LinkEnded, LinkNotFound } from '../../client/links/errors.js';
import { labPhaseKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { UserLink, completeMfaPath } from './user-link.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/*
 * How a link is cancelled, and what a start finds: one that runs, one that has ended, one whose end is being notified.
 */

const stage = setStage();
const sent = () => stage.expectRequests('POST', completeMfaPath('invented_watch'));

/** A code on its way to a provider that takes its time: its answer is still to come. */
async function handingIn(link: UserLink, code: string, delayMs = 2_500) {
  await link.logIn('mfa-sms');
  const action = { kind: 'delay', delayMs, phase: 'before_work' } as const;
  await stage.sandbox.addFault({ path: completeMfaPath(), action });
  const answer = link.handle.submitMfaCode(code);
  await sent();
  return { answer };
}

const workflowOf = (link: UserLink) => stage.temporal.workflow.getHandle(link.workflowId);

describe('a link that is cancelled', () => {
  test('a link that is cancelled by the product ends, and the product is notified', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    expect(await link.handle.cancel()).toMatchObject({ phase: 'cancelled', outcome: 'cancelled' });
    expect(await link.handle.result()).toMatchObject({ outcome: 'cancelled' });
    await link.expectNotifications('ended cancelled');
    expect(await link.handle.cancel()).toMatchObject({ outcome: 'cancelled' });
    await expect(link.handle.linkUrl()).rejects.toBeInstanceOf(LinkEnded);
  });

  test('a link that is cancelled before its link was ever requested ends, and the product is notified', async () => {
    const link = await UserLink.start(stage);
    await link.handle.cancel();
    expect(await link.handle.result()).toMatchObject({ outcome: 'cancelled' });
    await link.expectNotifications('ended cancelled');
    expect(await stage.countRequests('POST', '/v2/link/token')).toBe(0);
  });

  test('a link that is cancelled as a workflow ends with the same result', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    await workflowOf(link).cancel();
    expect(await link.handle.result()).toMatchObject({ outcome: 'cancelled' });
    await link.expectNotifications('ended cancelled');
    expect(await workflowOf(link).describe()).toMatchObject({ status: { name: 'COMPLETED' } });
  });

  test.each([
    ['by the product', (link: UserLink) => link.handle.cancel().catch(() => undefined)],
    ['as a workflow', (link: UserLink) => workflowOf(link).cancel()],
  ])(
    'cancelled %s while a right code is on its way, a link is connected: the service’s answer counts',
    async (_how, cancel) => {
      const link = await UserLink.start(stage);
      const { answer } = await handingIn(link, '123456', 8_000);
      await cancel(link);
      expect(await answer).toMatchObject({ outcome: 'connected' });
      expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
      await link.expectNotifications('ended connected');
    },
  );

  test.each([
    ['by the product', (link: UserLink) => link.handle.cancel()],
    ['as a workflow', (link: UserLink) => workflowOf(link).cancel()],
  ])(
    'cancelled %s while a wrong code is on its way, a link is cancelled once that is answered',
    async (_how, cancel) => {
      const link = await UserLink.start(stage);
      const { answer } = await handingIn(link, '111111');
      await cancel(link);
      expect(await answer).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 2 });
      expect(await link.handle.result()).toMatchObject({ outcome: 'cancelled' });
      expect(await link.codesSent()).toBe(1);
    },
  );

  test('a link that is cancelled as a workflow after a reported success is connected if the service shows it by then', async () => {
    const link = await UserLink.start(stage);
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_watch', webhook: false });
    await workflowOf(link).cancel();
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('a link that is cancelled as a workflow after a reported success is cancelled if the service shows nothing', async () => {
    const link = await UserLink.start(stage);
    await link.handle.reportLinkResult({ state: 'success' });
    await workflowOf(link).cancel();
    expect(await link.handle.result()).toMatchObject({ outcome: 'cancelled' });
  });

  test('a link that is cancelled as a workflow accepts no command while its end is being notified', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    stage.receiver.isDown = true;
    await workflowOf(link).cancel();
    await link.expectState({ outcome: 'cancelled' });
    for (const refused of [
      () => link.handle.linkUrl(),
      () => link.handle.submitMfaCode('123456'),
      () => link.handle.reportLinkResult({ state: 'success' }),
    ]) {
      await expect(refused()).rejects.toMatchObject({ name: 'LinkEnded', message: 'The link has ended: cancelled' });
    }
  });
});

describe('a start', () => {
  test('a start while a link runs joins it: the same run, the same token, and the policy that it began with', async () => {
    const link = await UserLink.start(stage, { policy: { maxCodeAttempts: 1 } });
    const first = await link.handle.linkUrl();
    const runId = await link.runId();
    const again = await UserLink.start(stage, { userId: link.handle.userId, policy: { maxCodeAttempts: 5 } });
    expect(await again.handle.linkUrl()).toEqual(first);
    expect(await again.runId()).toBe(runId);
    expect(await again.handle.state()).toMatchObject({ codeAttemptsLeft: 1 });
  });

  test('a start many times at once is one link', async () => {
    const userId = await stage.newUser();
    const links = await Promise.all(Array.from({ length: 5 }, () => UserLink.start(stage, { userId })));
    const urls = await Promise.all(links.map(({ handle }) => handle.linkUrl()));
    expect(new Set(urls.map(({ linkToken }) => linkToken)).size).toBe(1);
    expect(await stage.sandbox.linkTokens()).toHaveLength(1);
  });

  test('a start with another spelling of the provider joins it too', async () => {
    const link = await UserLink.start(stage);
    const first = await link.handle.linkUrl();
    const again = await stage.product.links.start({ userId: link.handle.userId, provider: 'Invented-Watch' });
    expect(await again.linkUrl()).toEqual(first);
  });

  test('a start after the end is a new link', async () => {
    const link = await UserLink.start(stage);
    const { linkToken } = await link.handle.linkUrl();
    const runId = await link.runId();
    await link.handle.cancel();
    await link.handle.result();
    const again = await UserLink.start(stage, { userId: link.handle.userId });
    expect((await again.handle.linkUrl()).linkToken).not.toBe(linkToken);
    expect(await again.runId()).not.toBe(runId);
    expect(await again.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('a start while the previous end is still being notified starts again in its place, and both ends are notified', async () => {
    const link = await UserLink.start(stage, { policy: { maxCodeAttempts: 1 } });
    const { linkToken } = await link.handle.linkUrl();
    const { startedAt } = await link.handle.state();
    const runId = await link.runId();
    stage.receiver.isDown = true;
    await link.handle.cancel();
    await stage.skip('1 second');
    const again = await UserLink.start(stage, { userId: link.handle.userId, policy: { maxCodeAttempts: 2 } });
    expect((await again.handle.linkUrl()).linkToken).not.toBe(linkToken);
    expect(await again.runId()).toBe(runId);
    const state = await again.handle.state();
    expect(state).toMatchObject({ phase: 'awaiting_password', codeAttemptsLeft: 2 });
    expect(state).not.toHaveProperty('outcome');
    expect(Date.parse(state.startedAt)).toBeGreaterThan(Date.parse(startedAt));
    stage.receiver.isDown = false;
    expect(await again.connect()).toMatchObject({ outcome: 'connected' });
    await stage.finish(link.workflowId);
    expect(await again.handle.result()).toMatchObject({ outcome: 'connected', startedAt: state.startedAt });
    await link.expectNotifications('ended cancelled', 'ended connected');
    expect(new Set(link.notifications.map(({ id }) => id)).size).toBe(2);
  });

  test('a start twice while the previous end is still being notified is one new link', async () => {
    const link = await UserLink.start(stage);
    await link.handle.linkUrl();
    stage.receiver.isDown = true;
    await link.handle.cancel();
    const again = [1, 2].map(() =>
      stage.product.links.start({ userId: link.handle.userId, provider: 'invented_watch' }),
    );
    const [one, other] = await Promise.all((await Promise.all(again)).map((handle) => handle.linkUrl()));
    expect(one).toEqual(other);
    expect(await stage.sandbox.linkTokens()).toHaveLength(2);
  });

  test('a start that joined a link which ends before it is requested is started once more', async () => {
    const link = await UserLink.start(stage);
    const { linkToken } = await link.handle.linkUrl();
    const runId = await link.runId();
    const again = await UserLink.start(stage, { userId: link.handle.userId });
    await link.handle.cancel();
    await stage.finish(link.workflowId);
    // Waiting for an end may skip time, and the token's life is counted by the service.
    await stage.syncClock();
    expect((await again.handle.linkUrl()).linkToken).not.toBe(linkToken);
    expect(await again.runId()).not.toBe(runId);
    expect(await again.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('a start while a code is on its way does not start again if that code connects', async () => {
    const link = await UserLink.start(stage);
    // The start must arrive meanwhile.
    const { answer } = await handingIn(link, '123456', 8_000);
    stage.receiver.isDown = true;
    const again = await stage.product.links.start({ userId: link.handle.userId, provider: 'invented_watch' });
    await expect(again.linkUrl()).rejects.toMatchObject({ message: 'The link has ended: connected' });
    expect(await answer).toMatchObject({ outcome: 'connected' });
    await link.expectState({ outcome: 'connected' });
    stage.receiver.isDown = false;
    await stage.finish(link.workflowId);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });
});

test('a link that has ended and that nobody started again is refused, and starts nothing', async () => {
  const link = await UserLink.start(stage);
  await link.handle.linkUrl();
  stage.receiver.isDown = true;
  await link.handle.cancel();
  const found = await stage.product.links.get({ userId: link.handle.userId, provider: 'invented_watch' });
  for (const handle of [link.handle, found]) await expect(handle.linkUrl()).rejects.toBeInstanceOf(LinkEnded);
  stage.receiver.isDown = false;
  await stage.finish(link.workflowId);
  for (const handle of [link.handle, found]) await expect(handle.linkUrl()).rejects.toBeInstanceOf(LinkEnded);
  expect(await found.state()).toMatchObject({ outcome: 'cancelled' });
  expect(await stage.sandbox.linkTokens()).toHaveLength(1);
});

test('a link that nobody started is not found', async () => {
  const nobody = { userId: 'nobody', provider: 'invented_watch' };
  await expect(stage.product.links.get(nobody)).rejects.toBeInstanceOf(LinkNotFound);
  await expect(stage.product.links.get({ ...nobody, userId: 'a/b' })).rejects.toBeInstanceOf(LinkNotFound);
});

test('operators find a link by its user and its phase', async () => {
  const link = await UserLink.start(stage);
  const attributes = async () => (await workflowOf(link).describe()).typedSearchAttributes;
  expect((await attributes()).get(labUserIdKey)).toBe(link.handle.userId);
  expect((await attributes()).get(labPhaseKey)).toBe('awaiting_password');
  await link.logIn('mfa-sms');
  await eventually(async () => expect((await attributes()).get(labPhaseKey)).toBe('awaiting_code'));
  await link.handle.submitMfaCode('123456');
  await link.handle.result();
  expect((await attributes()).get(labPhaseKey)).toBe('connected');
});

test('a watcher sees every state until the end', async () => {
  const link = await UserLink.start(stage);
  const seen: string[] = [];
  const watching = (async () => {
    for await (const { phase } of link.handle.watch({ minInterval: '100ms', maxInterval: '100ms' })) seen.push(phase);
  })();
  await eventually(() => expect(seen).toContain('awaiting_password'));
  await link.logIn('mfa-sms');
  await eventually(() => expect(seen).toContain('awaiting_code'));
  await link.handle.submitMfaCode('123456');
  await watching;
  expect(seen.at(-1)).toBe('connected');
});
