import { WorkflowFailedError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { linkProviderId } from '../../protocol/ids.js';
import { taskQueue } from '../rig/environments.js';
import { UserLink } from './user-link.js';
import { setStage } from './story.js';

/* Messages of backends in other languages: no type constrains them. */

const stage = setStage();

const failureOf = async (call: Promise<unknown>) => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (!(error instanceof WorkflowUpdateFailedError || error instanceof WorkflowFailedError)) throw error;
  const { type, message, details, nonRetryable } = error.cause as ApplicationFailure;
  return { type, message, details, nonRetryable };
};

const update = (link: UserLink, name: string, ...args: unknown[]) =>
  // Also without any argument, which the client's types do not know of an update by name.
  stage.temporal.workflow
    .getHandle(link.workflowId)
    .executeUpdate<unknown, [unknown]>(name, { args: args as [unknown] });

describe('an update', () => {
  const nothing = [[], [null], [undefined], [5], ['text'], [[]], [{}]];

  test.each(nothing)('submitMfaCode with %j is refused as an invalid code', async (...args) => {
    const link = await UserLink.start(stage);
    expect(await failureOf(update(link, 'submitMfaCode', ...args))).toMatchObject({
      type: 'InvalidCode',
      details: [{ fields: [{ field: 'code' }] }],
    });
  });

  test.each(nothing)('reportLinkResult with %j is refused for its state', async (...args) => {
    const link = await UserLink.start(stage);
    expect(await failureOf(update(link, 'reportLinkResult', ...args))).toMatchObject({
      type: 'InvalidCommand',
      message: 'state must be a non-empty string',
      details: [{ fields: [{ field: 'state' }] }],
    });
  });

  test.each([...nothing, [{ newLink: null }], [{ newLink: { redirectUrl: null, policy: null } }]])(
    'requestLink with %j returns the link',
    async (...args) => {
      const link = await UserLink.start(stage);
      const url = await update(link, 'requestLink', ...args);
      expect(url).toEqual(await link.handle.linkUrl());
    },
  );

  test.each([
    [{ redirectUrl: 5 }, 'InvalidCommand', 'redirectUrl must be an absolute URL'],
    [{ redirectUrl: ['https://example.com'] }, 'InvalidCommand', 'redirectUrl must be an absolute URL'],
    [{ redirectUrl: 'nowhere' }, 'InvalidCommand', 'redirectUrl must be an absolute URL'],
    [{ policy: { codeWait: 'soon', unknown: 1 } }, 'PolicyInvalid', 'codeWait must be'],
  ])('requestLink that would start again with %j is refused', async (newLink, type, message) => {
    const link = await UserLink.start(stage);
    const failure = await failureOf(update(link, 'requestLink', { newLink }));
    expect(failure).toMatchObject({ type, message: expect.stringContaining(message) as string });
  });

  test('an update with the service’s own field names and unknown fields is read', async () => {
    const link = await UserLink.start(stage);
    const state = await update(link, 'reportLinkResult', {
      state: 'pending_provider_mfa',
      provider_mfa: { method: 'sms', hint: '***23', expires: 60 },
      error_type: null,
      password: 'never kept',
    });
    expect(state).toMatchObject({ phase: 'awaiting_code', mfa: { method: 'sms', hint: '***23' } });
    expect(JSON.stringify(state)).not.toMatch(/never kept|expires/);
  });

  test('an update with texts in place of known words keeps none of them: they could be anything about the person', async () => {
    const link = await UserLink.start(stage);
    const text = 'no such user: testperson@example.com';
    const state = await update(link, 'reportLinkResult', { state: 'error', error_type: text });
    expect(state).toMatchObject({ errorType: 'unrecognised', consequence: 'start_over' });
    expect(await update(link, 'reportLinkResult', { state: text })).toMatchObject({ errorType: 'unrecognised' });
    expect(JSON.stringify(await link.handle.state())).not.toContain('testperson');
  });

  test('an update with a code that is not a string is refused, and the refusal does not repeat it', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    const failure = await failureOf(update(link, 'submitMfaCode', { code: 123456 }));
    expect(failure).toMatchObject({ type: 'InvalidCode' });
    expect(JSON.stringify(failure)).not.toContain('123456');
  });

  test('an update for a link that is already connected is answered as connected while its end is being notified', async () => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    stage.receiver.isDown = true;
    await link.handle.submitMfaCode('123456');
    expect(await update(link, 'submitMfaCode', { code: '123456' })).toMatchObject({ outcome: 'connected' });
    expect(await update(link, 'reportLinkResult', { state: 'success' })).toMatchObject({ outcome: 'connected' });
    expect(await failureOf(update(link, 'cancel'))).toMatchObject({ type: 'LinkEnded' });
    stage.receiver.isDown = false;
    await stage.finish(link.workflowId);
  });

  test('cancel takes no argument, and ignores one', async () => {
    const link = await UserLink.start(stage);
    expect(await update(link, 'cancel', { anything: 1 })).toMatchObject({ outcome: 'cancelled' });
  });
});

describe('a start', () => {
  async function started(workflowId: string, ...args: unknown[]) {
    const handle = await stage.temporal.workflow.start('linkProvider', { workflowId, taskQueue, args });
    // If a start is accepted, the link is ended manually.
    stage.onClear(async () => {
      const { status } = await handle.describe();
      if (status.name === 'RUNNING') await handle.cancel();
    });
    return handle;
  }

  test('a start with null for optional fields uses the defaults', async () => {
    const userId = await stage.newUser();
    const provider = 'invented_watch';
    const handle = await started(linkProviderId(userId, provider), {
      ...{ userId, provider, redirectUrl: null, policy: null, carried: null, unknown: 1 },
    });
    expect(await handle.executeUpdate('requestLink')).toHaveProperty('linkToken');
    expect(await handle.query('state')).toMatchObject({ userId, phase: 'awaiting_password', codeAttemptsLeft: 3 });
  });

  test.each([
    ['nothing', []],
    ['null', [null]],
    ['a text', ['text']],
    ['no user', [{ provider: 'invented_watch' }]],
    ['another user', [{ userId: 'user-2', provider: 'invented_watch' }]],
    ['another provider', [{ userId: 'user-1', provider: 'invented_ring' }]],
    ['a user that is no text', [{ userId: 5, provider: 'invented_watch' }]],
    ['null for both', [{ userId: null, provider: null }]],
  ])('a start with %s under an ID that is not its own fails at once', async (_what, args) => {
    const handle = await started('link-provider/user-1/invented_watch', ...args);
    expect(await failureOf(handle.result())).toMatchObject({ type: 'InvalidCommand' });
  });

  test('a start with an invalid policy fails at once, and says why', async () => {
    const input = { userId: 'user-1', provider: 'invented_watch', policy: { tokenLife: '1s', onTokenExpiry: 'hope' } };
    const handle = await started('link-provider/user-1/invented_watch', input);
    const failure = await failureOf(handle.result());
    expect(failure.type).toBe('PolicyInvalid');
    expect(failure.message).toMatch(/tokenLife must be .*; onTokenExpiry must be renew or end/);
  });
});

test('a client checks a start before anything is started, and names every invalid field', async () => {
  const wrong = { userId: 'a b', provider: '', redirectUrl: 'nowhere', policy: { codeWait: 0, unknown: 1 } };
  await expect(stage.product.links.start(wrong as never)).rejects.toMatchObject({
    name: 'LinkInvalid',
    fields: [
      { field: 'userId' },
      { field: 'provider' },
      { field: 'redirectUrl' },
      { field: 'policy' },
      { field: 'policy' },
    ],
  });
});
