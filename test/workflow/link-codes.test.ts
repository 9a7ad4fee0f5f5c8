import { describe, expect, test } from 'vitest';
import { InvalidCode } from '../../client/links/errors.js';
import { ALink, completeMfaPath } from './a-link.js';
import { eventsOf, textOf } from './recorded.js';
import { setStage } from './story.js';

const stage = setStage();

async function asked(username = 'mfa-sms'): Promise<ALink> {
  const link = await ALink.start(stage);
  await link.logsIn(username);
  return link;
}

/** The provider takes its time, so that things can happen while a code is on its way. */
async function delayCodes(delayMs = 2_500): Promise<void> {
  await stage.sandbox.addFault({ path: completeMfaPath(), action: { kind: 'delay', delayMs, phase: 'before_work' } });
}

describe('a code', () => {
  test('that is right connects, however it is spaced', async () => {
    const link = await ALink.start(stage);
    const state = await link.logsIn('mfa-sms');
    expect(state).toMatchObject({ phase: 'awaiting_code', mfa: { method: 'sms', hint: '***-***-**23' } });
    const answer = await link.handle.submitMfaCode(' 123-456 ');
    expect(answer).toMatchObject({ outcome: 'connected', attemptsLeft: 3, state: { outcome: 'connected' } });
    const { connectedAt, ...result } = await link.handle.result();
    expect(result).toMatchObject({ outcome: 'connected', userId: link.handle.userId, provider: 'invented_watch' });
    const user = await stage.service.users.get(link.handle.userId);
    expect(Date.parse(connectedAt ?? '')).toBe(Date.parse(user.connected_sources?.[0]?.created_on ?? ''));
  });

  test('that is wrong may be given again, and the third time ends the link', async () => {
    const link = await asked();
    expect(await link.handle.submitMfaCode('111111')).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 2 });
    expect(await link.handle.submitMfaCode('111112')).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 1 });
    const last = await link.handle.submitMfaCode('111113');
    expect(last).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 0, state: { outcome: 'failed' } });
    expect(await link.handle.result()).toMatchObject({ outcome: 'failed', errorType: 'incorrect_mfa_code' });
    expect(await link.codesSent()).toBe(3);
  });

  test('that is wrong, and then right, connects', async () => {
    const link = await asked();
    await link.handle.submitMfaCode('111111');
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
    const state = await link.handle.state();
    expect(state).not.toHaveProperty('errorType');
    expect(state).not.toHaveProperty('consequence');
  });

  test('that the provider follows with another question is asked again, with the new hint', async () => {
    const link = await asked('mfa-again');
    const answer = await link.handle.submitMfaCode('123456');
    expect(answer).toMatchObject({
      outcome: 'asked_again',
      attemptsLeft: 3,
      state: { phase: 'awaiting_code', mfa: { method: 'email', hint: 't***@example.com' } },
    });
    expect(await link.handle.submitMfaCode('654321')).toMatchObject({ outcome: 'connected' });
  });

  test('that nobody asked for yet costs the token, not the link', async () => {
    const link = await ALink.start(stage);
    await link.handle.linkUrl();
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({
      outcome: 'start_over',
      errorType: 'token_not_validated',
    });
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'start_over' });
    expect(await link.codesSent()).toBe(1);
    expect(await link.connects()).toMatchObject({ outcome: 'connected' });
  });
});

describe('codes at once', () => {
  test('that differ reach the service one after the other', async () => {
    const link = await asked();
    await delayCodes();
    const first = link.handle.submitMfaCode('111111');
    await stage.seesRequests('POST', completeMfaPath('invented_watch'));
    let isDone = false;
    const answers = Promise.all([first, link.handle.submitMfaCode('123456')]).finally(() => (isDone = true));
    let most = 0;
    while (!isDone) {
      const sent = await stage.sandbox.requests({ path: completeMfaPath('invented_watch') });
      most = Math.max(most, sent.filter(({ outcome }) => outcome === 'pending').length);
    }
    expect(await answers).toMatchObject([{ outcome: 'wrong_code' }, { outcome: 'connected' }]);
    expect(most).toBe(1);
    expect(await link.codesSent()).toBe(2);
  });

  test.each([
    ['asks for another code', 'mfa-again', '123456', 'asked_again'],
    ['wants the login again', 'mfa-sms', '900005', 'ask_credentials_again'],
  ])('after one of which the provider %s are answered with that, and none of the others is sent', async (...story) => {
    const [, username, code, outcome] = story;
    const link = await asked(username);
    await delayCodes();
    const first = link.handle.submitMfaCode(code);
    await stage.seesRequests('POST', completeMfaPath('invented_watch'));
    expect(await Promise.all([first, link.handle.submitMfaCode('111111')])).toMatchObject([
      { outcome, attemptsLeft: 3 },
      { outcome, attemptsLeft: 3 },
    ]);
    expect(await link.codesSent()).toBe(1);
  });

  test('that are the same, however they are spaced, reach it once and get the one answer', async () => {
    const link = await asked();
    await delayCodes();
    const given = ['111111', '111 111', '111-111'];
    const answers = await Promise.all(given.map((code) => link.handle.submitMfaCode(code)));
    expect(answers.map(({ attemptsLeft }) => attemptsLeft)).toEqual([2, 2, 2]);
    expect(await link.codesSent()).toBe(1);
  });

  test('that are the same get the one refusal too', async () => {
    const link = await asked();
    await delayCodes();
    const given = await Promise.allSettled(['900008', '900008'].map((code) => link.handle.submitMfaCode(code)));
    expect(given).toMatchObject([{ reason: { name: 'LinkFailed' } }, { reason: { name: 'LinkFailed' } }]);
    expect(await link.codesSent()).toBe(1);
  });

  test('are answered alike once one of them has connected the link', async () => {
    const link = await asked();
    await delayCodes();
    const first = link.handle.submitMfaCode('123456');
    await stage.seesRequests('POST', completeMfaPath('invented_watch'));
    const given = await Promise.allSettled([first, link.handle.submitMfaCode('111111')]);
    expect(given).toMatchObject([{ value: { outcome: 'connected' } }, { value: { outcome: 'connected' } }]);
    expect(await link.codesSent()).toBe(1);
  });

  test('a wrong one that is given again later is sent again', async () => {
    const link = await asked();
    await link.handle.submitMfaCode('111111');
    expect(await link.handle.submitMfaCode('111111')).toMatchObject({ attemptsLeft: 1 });
    expect(await link.codesSent()).toBe(2);
  });
});

test.each(['', '123', '12345678901234', 'no code!', '١٢٣٤٥٦'])(
  'what cannot be a code is refused, never sent, costs no attempt and leaves no trace: %j',
  async (code) => {
    const link = await asked();
    await expect(link.handle.submitMfaCode(code)).rejects.toThrow(InvalidCode);
    await expect(link.handle.submitMfaCode(code)).rejects.toMatchObject({ fields: [{ field: 'code' }] });
    expect(textOf(await eventsOf(stage, link.workflowId))).not.toContain('submitMfaCode');
    expect(await link.codesSent()).toBe(0);
    expect(await link.handle.state()).toMatchObject({ phase: 'awaiting_code', codeAttemptsLeft: 3 });
  },
);

describe('a code that comes after the end', () => {
  test('of a link that is connected is answered so and not sent, while that is being told and when all is over', async () => {
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

  test('of one that ended otherwise is refused', async () => {
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
  test('is not sent while that may still show', async () => {
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

  test('that never showed finds its login lost: the user starts over', async () => {
    const link = await asked();
    await link.handle.reportLinkResult({ state: 'success' });
    await stage.skip('3 minutes');
    expect(await link.handle.submitMfaCode('123456')).toMatchObject({
      outcome: 'start_over',
      errorType: 'token_missing',
    });
    expect(await link.codesSent()).toBe(0);
    expect(await link.connects()).toMatchObject({ outcome: 'connected' });
  });
});
