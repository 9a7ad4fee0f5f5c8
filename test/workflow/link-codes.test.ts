import { describe, expect, test } from 'vitest';
import { ALink } from './a-link.js';
import { setStage } from './story.js';

const stage = setStage();

describe('a code', () => {
  test('that is right connects', async () => {
    const link = await ALink.start(stage);
    const state = await link.logsIn('mfa-sms');
    expect(state).toMatchObject({ phase: 'awaiting_code', mfa: { method: 'sms' } });
    const answer = await link.handle.submitMfaCode('123 456');
    expect(answer).toMatchObject({ outcome: 'connected', attemptsLeft: 3 });
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });

  test('that is wrong three times ends the link', async () => {
    const link = await ALink.start(stage);
    await link.logsIn('mfa-sms');
    expect(await link.handle.submitMfaCode('111111')).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 2 });
    expect(await link.handle.submitMfaCode('111112')).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 1 });
    expect(await link.handle.submitMfaCode('111113')).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 0 });
    expect(await link.handle.result()).toMatchObject({ outcome: 'failed', errorType: 'incorrect_mfa_code' });
  });
  test('nobody comes back', async () => {
    const link = await ALink.start(stage);
    await link.logsIn('mfa-sms');
    await stage.skip('2 hours');
    expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
    expect(link.notifications.map(({ type }) => type)).toEqual(['labops.link.code_reminder', 'labops.link.ended']);
  });
  test('webhook alone', async () => {
    const link = await ALink.start(stage);
    await link.entersPassword('ok');
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  });
  test('gives up', async () => {
    const link = await ALink.start(stage);
    await link.logsIn('mfa-sms');
    await expect(link.handle.submitMfaCode('900008')).rejects.toMatchObject({
      name: 'LinkFailed',
      errorType: 'unsupported_region',
    });
  });
});
