import { expect, test } from 'vitest';
import { labAttentionKey } from '../../workflows/search-attributes.js';
import { ALink } from './a-link.js';
import { setStage } from './story.js';

const stage = setStage();

const attentionOf = async (link: ALink) =>
  (await stage.temporal.workflow.getHandle(link.workflowId).describe()).typedSearchAttributes.get(labAttentionKey);

test('an end is told as a CloudEvent about the user, with what led to it and nothing personal', async () => {
  const link = await ALink.start(stage);
  await link.logsIn('mfa-sms');
  await link.handle.submitMfaCode('900008').catch(() => undefined);
  await link.tells('ended failed');
  const { userId } = link.handle;
  const { startedAt, timeline } = await link.handle.result();
  expect(link.notifications).toEqual([
    expect.objectContaining({
      id: `${userId}/invented_watch/${startedAt}/ended`,
      type: 'labops.link.ended',
      source: expect.stringContaining(link.workflowId) as string,
      subject: userId,
      time: timeline.at(-1)?.at,
      data: { user_id: userId, provider: 'invented_watch', outcome: 'failed', error_type: 'unsupported_region' },
    }),
  ]);
});

test('the end of a link for which no token was ever made is told too', async () => {
  const link = await ALink.start(stage);
  await stage.skip('25 hours');
  expect(await link.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'password' });
  await link.tells('ended expired');
});

test('the end of a link whose first token is refused is told, and so is that of one cancelled before its first', async () => {
  const refused = await ALink.start(stage, { provider: 'no_such_provider' });
  await expect(refused.handle.linkUrl()).rejects.toMatchObject({ name: 'LinkRefused' });
  await refused.tells('ended failed');
  const cancelled = await ALink.start(stage);
  await cancelled.handle.cancel();
  await cancelled.tells('ended cancelled');
});

test('an endpoint that is back before the link ends gets everything, however short the deadline', async () => {
  const link = await ALink.start(stage, { policy: { codeWait: '10 hours', notificationDeadline: '5 minutes' } });
  await link.logsIn('mfa-sms');
  stage.receiver.isDown = true;
  await stage.skip('11 minutes');
  await link.shows({ phase: 'awaiting_code', attention: ['notifications_undelivered'] });
  stage.receiver.isDown = false;
  await link.handle.cancel();
  await link.tells('code_reminder', 'ended cancelled');
});

test('an endpoint that is down for longer than the policy allows asks a person, until it is back; the link goes on', async () => {
  const link = await ALink.start(stage, { policy: { codeWait: '10 hours', notificationDeadline: '1 hour' } });
  await link.logsIn('mfa-sms');
  stage.receiver.isDown = true;
  await stage.skip('70 minutes');
  await link.shows({ phase: 'awaiting_code', attention: ['notifications_undelivered'] });
  expect(await attentionOf(link)).toEqual(['notifications_undelivered']);
  stage.receiver.isDown = false;
  await stage.skip('15 minutes');
  await link.tells('code_reminder');
  await link.shows({ attention: [] });
  expect(await link.connects()).toMatchObject({ outcome: 'start_over' });
  expect(await link.connects()).toMatchObject({ outcome: 'connected' });
  await link.tells('code_reminder', 'ended connected');
});

test('an endpoint that is down holds no code up', async () => {
  const link = await ALink.start(stage);
  stage.receiver.isDown = true;
  await link.logsIn('mfa-sms');
  await stage.skip('6 minutes');
  expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  stage.receiver.isDown = false;
  await stage.finish(link.workflowId);
  await link.tells('code_reminder', 'ended connected');
});

test('a link that has ended does not wait for ever for an endpoint that never comes back', async () => {
  const link = await ALink.start(stage, { policy: { notificationDeadline: '1 hour' } });
  await link.logsIn('mfa-sms');
  stage.receiver.isDown = true;
  await link.handle.submitMfaCode('123456');
  await stage.skip('50 minutes');
  await link.shows({ outcome: 'connected', attention: [] });
  await stage.skip('15 minutes');
  expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  expect(await attentionOf(link)).toEqual(['notifications_undelivered']);
});
