import { describe, expect, test } from 'vitest';
import { LinkEnded, LinkNotFound } from '../../client/link/errors.js';
import { ServiceDown } from '../../client/errors.js';
import { UserLink, tokenPath } from './user-link.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/* A link from its token to the connection, and what only a server shows of it; every other rule has a life in test/unit/link. */

const stage = setStage();
const provider = 'invented_watch';
const fails = { kind: 'answer', status: 503, body: { detail: 'down for maintenance' } } as const;

/** The user has logged in, and a code is awaited. */
async function asked(): Promise<UserLink> {
  const link = await UserLink.start(stage);
  await link.logIn('mfa-sms');
  return link;
}

test('a code after the end of a connected link is answered as connected and not sent; after another end it is refused', async () => {
  const [connected, cancelled] = [await asked(), await asked()];
  await connected.handle.submitMfaCode({ code: '123456' });
  await cancelled.handle.cancel();
  for (const { workflowId } of [connected, cancelled]) await stage.finish(workflowId);
  expect(await connected.handle.submitMfaCode({ code: '123456' })).toMatchObject({
    ...{ outcome: 'connected', attemptsLeft: 3, state: { outcome: 'connected' } },
  });
  expect(await connected.handle.reportLinkResult({ state: 'success' })).toMatchObject({ outcome: 'connected' });
  expect(await connected.codesSent()).toBe(1);
  await expect(cancelled.handle.submitMfaCode({ code: '123456' })).rejects.toMatchObject({ name: 'LinkEnded' });
});

describe('a start', () => {
  test('many times at once, in another spelling too, is one link with the policy that it began with', async () => {
    const link = await UserLink.start(stage, { policy: { maxCodeAttempts: 1 } });
    const { userId } = link.handle;
    const again = { userId: userId.toUpperCase(), provider: 'Invented-Watch', policy: { maxCodeAttempts: 5 } };
    const handles = await Promise.all(Array.from({ length: 4 }, () => stage.product.links.start(again)));
    const urls = await Promise.all([link.handle, ...handles].map((handle) => handle.url()));
    expect(new Set(urls.map(({ linkToken }) => linkToken)).size).toBe(1);
    expect(await stage.sandbox.linkTokens()).toHaveLength(1);
    expect(await handles[0]?.state()).toMatchObject({ userId, codeAttemptsLeft: 1 });
  });

  test('that joined a link which ends before it is requested is made once more', async () => {
    const link = await UserLink.start(stage);
    const { linkToken } = await link.handle.url();
    const runId = await link.runId();
    const again = await UserLink.start(stage, { userId: link.handle.userId });
    await link.handle.cancel();
    await stage.finish(link.workflowId);
    // Waiting for an end may skip time, and the token's life is counted by the service.
    await stage.syncClock();
    expect((await again.handle.url()).linkToken).not.toBe(linkToken);
    expect(await again.runId()).not.toBe(runId);
    expect(await again.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('that joined a link which connects meanwhile is not made again: the user need not log in once more', async () => {
    const link = await asked();
    const again = await UserLink.start(stage, { userId: link.handle.userId });
    await link.handle.submitMfaCode({ code: '123456' });
    await stage.finish(link.workflowId);
    await expect(again.handle.url()).rejects.toBeInstanceOf(LinkEnded);
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });
});

test('a link that has ended and that nobody started again is refused, and starts nothing', async () => {
  const link = await UserLink.start(stage);
  await link.handle.url();
  await link.handle.cancel();
  await stage.finish(link.workflowId);
  const found = await stage.product.links.getHandle({ userId: link.handle.userId, provider });
  for (const handle of [link.handle, found]) await expect(handle.url()).rejects.toBeInstanceOf(LinkEnded);
  expect(await found.state()).toMatchObject({ outcome: 'cancelled' });
  expect(await stage.sandbox.linkTokens()).toHaveLength(1);
  for (const userId of ['nobody', 'a/b']) {
    await expect(stage.product.links.getHandle({ userId, provider })).rejects.toBeInstanceOf(LinkNotFound);
  }
});

test('while the service is down a token is waited for half a minute, and a new request works once it is over', async () => {
  await stage.sandbox.addFault({ path: tokenPath, action: fails });
  const link = await UserLink.start(stage);
  const asking = link.handle.url().catch((error: unknown) => error);
  await eventually(async () => expect(await stage.countRequests('POST', tokenPath)).toBeGreaterThan(0));
  await stage.skip('1 minute');
  expect(await asking).toBeInstanceOf(ServiceDown);
  await link.expectState({ phase: 'awaiting_password' });
  await stage.sandbox.removeFaults();
  expect(await link.handle.url()).toHaveProperty('linkToken');
  expect(await link.connect()).toMatchObject({ outcome: 'connected' });
});
