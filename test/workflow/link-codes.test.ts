import { describe, expect, test } from 'vitest';
import { InvalidCode } from '../../client/links/errors.js';
import type { LinkPolicy } from '../../protocol/link/policy.js';
import { eventually } from '../rig/eventually.js';
import { UserLink, completeMfaPath } from './user-link.js';
import { eventsOf, textOf } from './recorded.js';
import { setStage } from './story.js';

const stage = setStage();

async function asked(username = 'mfa-sms', policy: LinkPolicy = {}): Promise<UserLink> {
  const link = await UserLink.start(stage, { policy });
  await link.logIn(username);
  return link;
}

/** The provider takes its time, so things can happen while a code is on its way. */
async function delayCodes(delayMs = 2_500, times?: number): Promise<void> {
  const action = { kind: 'delay', delayMs, phase: 'before_work' } as const;
  await stage.sandbox.addFault({ path: completeMfaPath(), action, ...(times !== undefined && { times }) });
}

describe('a code', () => {
  test('a code reaches the provider as the person typed it, so spaces make it a wrong one', async () => {
    const link = await asked();
    expect(await link.handle.submitMfaCode('123 456')).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 2 });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  });

  test('a code that is right connects, however it is spaced, if the policy has codes tidied', async () => {
    const link = await UserLink.start(stage, { policy: { codeForm: 'tidied' } });
    const state = await link.logIn('mfa-sms');
    expect(state).toMatchObject({ phase: 'awaiting_code', mfa: { method: 'sms', hint: '***-***-**23' } });
    const answer = await link.handle.submitMfaCode(' 123-456 ');
    expect(answer).toMatchObject({ outcome: 'connected', attemptsLeft: 3, state: { outcome: 'connected' } });
    const { connectedAt, ...result } = await link.handle.result();
    expect(result).toMatchObject({ outcome: 'connected', userId: link.handle.userId, provider: 'invented_watch' });
    const user = await stage.service.users.get(link.handle.userId);
    expect(Date.parse(connectedAt ?? '')).toBe(Date.parse(user.connected_sources?.[0]?.created_on ?? ''));
  });

  // proves 310
  test('a code that is wrong may be given again, and the third time ends the link', async () => {
    const link = await asked();
    expect(await link.handle.submitMfaCode('111111')).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 2 });
    expect(await link.handle.submitMfaCode('111112')).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 1 });
    const last = await link.handle.submitMfaCode('111113');
    expect(last).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 0, state: { outcome: 'failed' } });
    expect(await link.handle.result()).toMatchObject({ outcome: 'failed', errorType: 'incorrect_mfa_code' });
    expect(await link.codesSent()).toBe(3);
  });

  test('a code that is refused as wrong with 400 may be given again', async () => {
    const link = await asked();
    const body = { state: 'error', error_type: 'incorrect_mfa_code', error: 'invented', provider: 'invented_watch' };
    const action = { kind: 'answer', status: 400, body } as const;
    await stage.sandbox.addFault({ path: completeMfaPath(), times: 1, action });
    expect(await link.handle.submitMfaCode('111111')).toMatchObject({
      ...{ outcome: 'wrong_code', attemptsLeft: 2, errorType: 'incorrect_mfa_code' },
      state: { phase: 'awaiting_code' },
    });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  });

  test('a code that is refused after the life of its token needs a new start, whatever the refusal says', async () => {
    const link = await asked('mfa-sms', { tokenLife: '1 minute', codeWait: '1 hour' });
    await stage.skip('2 minutes');
    const action = { kind: 'answer', status: 400, body: { detail: 'invented: this link is too old' } } as const;
    await stage.sandbox.addFault({ path: completeMfaPath(), times: 1, action });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({
      ...{ outcome: 'start_over', errorType: 'token_expired' },
    });
  });

  test('a code that is wrong, then right, connects', async () => {
    const link = await asked();
    await link.handle.submitMfaCode('111111');
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    const state = await link.handle.state();
    expect(state).not.toHaveProperty('errorType');
    expect(state).not.toHaveProperty('consequence');
  });

  test('a code that the provider answers with another question is asked for again, with the new hint', async () => {
    const link = await asked('mfa-again');
    const answer = await link.handle.submitMfaCode('123456');
    expect(answer).toMatchObject({
      outcome: 'asked_again',
      attemptsLeft: 3,
      state: { phase: 'awaiting_code', mfa: { method: 'email', hint: 't***@example.com' } },
    });
    expect(await link.handle.submitMfaCode('654321')).toMatchObject({ outcome: 'connected' });
  });

  test('a code that nobody asked for yet costs the token, not the link', async () => {
    const link = await UserLink.start(stage);
    await link.handle.linkUrl();
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({
      outcome: 'start_over',
      errorType: 'token_not_validated',
    });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'start_over' });
    expect(await link.codesSent()).toBe(1);
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });
});

/** The first code is held for as long as a busy machine may take to hand in the others. It must stay below the 20 seconds after which a worker without a heartbeat counts as lost. */
const untilAllHaveCome = 8_000;

describe('codes that are submitted at once', () => {
  test('reach the service one after the other if they differ', async () => {
    const link = await asked();
    // The first alone is answered late: a second one that did not wait would be answered before it.
    await delayCodes(2_500, 1);
    const answered: string[] = [];
    const submit = async (code: string) => {
      const answer = await link.handle.submitMfaCode(code);
      answered.push(code);
      return answer;
    };
    const first = submit('111111');
    await stage.expectRequests('POST', completeMfaPath('invented_watch'));
    const answers = Promise.all([first, submit('123456')]);
    await eventually(async () => expect(await link.codesSent()).toBe(2));
    // The second was not sent before the service had answered the first.
    const [earlier] = await stage.sandbox.requests({ path: completeMfaPath('invented_watch') });
    expect(earlier?.outcome).toBe('answered');
    expect(await answers).toMatchObject([{ outcome: 'wrong_code' }, { outcome: 'connected' }]);
    expect(answered).toEqual(['111111', '123456']);
  });

  test.each([
    ['asks for another code', 'mfa-again', '123456', 'asked_again'],
    ['wants the login again', 'mfa-sms', '900005', 'ask_credentials_again'],
  ])('share the answer if the provider %s after the first, and no other is sent', async (...story) => {
    const [, username, code, outcome] = story;
    const link = await asked(username);
    await delayCodes(untilAllHaveCome);
    const first = link.handle.submitMfaCode(code);
    await stage.expectRequests('POST', completeMfaPath('invented_watch'));
    expect(await Promise.all([first, link.handle.submitMfaCode('111111')])).toMatchObject([
      { outcome, attemptsLeft: 3 },
      { outcome, attemptsLeft: 3 },
    ]);
    expect(await link.codesSent()).toBe(1);
  });

  test('reach the service once if they are the same, however they are spaced, and share the answer', async () => {
    const link = await asked('mfa-sms', { codeForm: 'tidied' });
    await delayCodes(untilAllHaveCome);
    const given = ['111111', '111 111', '111-111'];
    const answers = await Promise.all(given.map((code) => link.handle.submitMfaCode(code)));
    expect(answers.map(({ attemptsLeft }) => attemptsLeft)).toEqual([2, 2, 2]);
    expect(await link.codesSent()).toBe(1);
  });

  test('share one refusal if they are the same', async () => {
    const link = await asked();
    await delayCodes(untilAllHaveCome);
    const given = await Promise.allSettled(['900008', '900008'].map((code) => link.handle.submitMfaCode(code)));
    expect(given).toMatchObject([{ reason: { name: 'LinkFailed' } }, { reason: { name: 'LinkFailed' } }]);
    expect(await link.codesSent()).toBe(1);
  });

  test('are all answered as connected once one of them has connected the link', async () => {
    const link = await asked();
    await delayCodes();
    const first = link.handle.submitMfaCode('123456');
    await stage.expectRequests('POST', completeMfaPath('invented_watch'));
    const given = await Promise.allSettled([first, link.handle.submitMfaCode('111111')]);
    expect(given).toMatchObject([{ value: { outcome: 'connected' } }, { value: { outcome: 'connected' } }]);
    expect(await link.codesSent()).toBe(1);
  });

  test('include a wrong one, which is sent again if it is given again later', async () => {
    const link = await asked();
    await link.handle.submitMfaCode('111111');
    expect(await link.handle.submitMfaCode('111111')).toMatchObject({ attemptsLeft: 1 });
    expect(await link.codesSent()).toBe(2);
  });
});

test.each([
  ['', 'as_typed'],
  ['  ', 'as_typed'],
  ['1'.repeat(201), 'as_typed'],
  ['123', 'tidied'],
  ['no code!', 'tidied'],
] as const)(
  'an impossible code is refused, never sent, costs no attempt and leaves no trace: %j %s',
  async (code, codeForm) => {
    const link = await UserLink.start(stage, { policy: { codeForm } });
    await link.logIn('mfa-sms');
    await expect(link.handle.submitMfaCode(code)).rejects.toThrow(InvalidCode);
    await expect(link.handle.submitMfaCode(code)).rejects.toMatchObject({ fields: [{ field: 'code' }] });
    expect(textOf(await eventsOf(stage, link.workflowId))).not.toContain('submitMfaCode');
    expect(await link.codesSent()).toBe(0);
    expect(await link.handle.state()).toMatchObject({ phase: 'awaiting_code', codeAttemptsLeft: 3 });
  },
);

describe('a code that comes after the end', () => {
  test('a code after the end of a connected link is answered as connected and not sent, even during the notification', async () => {
    const link = await asked();
    stage.receiver.isDown = true;
    await link.handle.submitMfaCode('123456');
    const connected = { outcome: 'connected', attemptsLeft: 3, state: { outcome: 'connected' } };
    expect(await link.handle.submitMfaCode('123456')).toMatchObject(connected);
    stage.receiver.isDown = false;
    await stage.finish(link.workflowId);
    expect(await link.handle.submitMfaCode('123456')).toMatchObject(connected);
    expect(await link.codesSent()).toBe(1);
  });

  test('a code after the end of a link that ended otherwise is refused', async () => {
    const link = await asked();
    stage.receiver.isDown = true;
    await link.handle.cancel();
    await expect(link.handle.submitMfaCode('123456')).rejects.toMatchObject({
      name: 'LinkEnded',
      message: 'The link has ended: cancelled',
    });
    stage.receiver.isDown = false;
    await stage.finish(link.workflowId);
    await expect(link.handle.submitMfaCode('123456')).rejects.toMatchObject({ name: 'LinkEnded' });
    expect(await link.codesSent()).toBe(0);
  });
});

describe('a code that comes after a reported success', () => {
  test('is not sent while the connection may still show', async () => {
    const link = await asked();
    await link.handle.reportLinkResult({ state: 'success' });
    // A report of before the success, late.
    await link.handle.reportLinkResult({ state: 'pending_provider_mfa', provider_mfa: { method: 'sms' } });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({
      outcome: 'confirming',
      state: { phase: 'confirming' },
    });
    expect(await link.codesSent()).toBe(0);
  });

  test('finds its login lost if the connection never showed: the user starts over', async () => {
    const link = await asked();
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.skip('3 minutes');
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({
      outcome: 'start_over',
      errorType: 'token_missing',
    });
    expect(await link.codesSent()).toBe(0);
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });
});
