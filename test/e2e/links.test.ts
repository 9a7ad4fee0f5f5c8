import { expect, test } from 'vitest';
import { errors } from '../../client/index.js';
import { linkProviderId } from '../../protocol/ids.js';
import { codesSent, provider, rightCode, startLink, wrongCode } from './linked-user.js';
import { patience, stack } from './stack.js';

const lab = stack();

test('a link is carried from its token to the connection, and the product is notified of the end', async () => {
  const user = await startLink(lab);
  const phases: string[] = [];
  const watching = (async () => {
    for await (const { phase } of user.handle.watch({ minInterval: '100ms', maxInterval: '100ms' })) phases.push(phase);
  })();
  await expect.poll(() => phases, patience).toEqual(['awaiting_password']);
  expect(await user.logIn('mfa-sms')).toMatchObject({
    phase: 'awaiting_code',
    mfa: { method: 'sms', hint: '***-***-**23' },
    codeAttemptsLeft: 3,
  });
  await expect.poll(() => phases.at(-1), patience).toBe('awaiting_code');
  await expect(user.submit(' ')).rejects.toThrow(errors.InvalidCode);
  expect(await user.submit(wrongCode)).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 2 });
  expect(await user.submit('123456')).toMatchObject({ outcome: 'connected', state: { phase: 'connected' } });

  const result = await user.handle.result();
  expect(result).toMatchObject({ outcome: 'connected', userId: user.userId, provider });
  expect(Date.parse(result.connectedAt ?? '')).toBeGreaterThan(Date.parse(result.startedAt) - 60_000);
  await watching;
  expect(phases.at(-1)).toBe('connected');
  expect(await codesSent(lab)).toBe(2);
  const id = `${user.userId}/${provider}/${result.startedAt}/ended`;
  const data = { user_id: user.userId, provider, outcome: 'connected' };
  expect(lab.receiver.aboutLinksOf(user.userId)).toMatchObject([{ id, type: 'link.ended', data }]);
  expect(await user.submit(rightCode), 'sent again after the end').toMatchObject({ outcome: 'connected' });
  expect(await codesSent(lab)).toBe(2);
  await expect(lab.labs.links.getHandle({ userId: user.userId, provider: 'invented_band' })).rejects.toThrow(
    errors.LinkNotFound,
  );
});

test('an unreported connection is known from its webhook, and one of an older connection ends nothing', async () => {
  const user = await startLink(lab, { confirmationWait: '1s' });
  await lab.sandbox.connect(user.userId, { provider });
  const timeline = async () => (await user.handle.state()).timeline.map(({ what }) => what);
  await expect.poll(timeline, patience).toContain('no new connection at the service');
  expect(await user.handle.state()).toMatchObject({ phase: 'awaiting_password' });
  await user.enterPassword('ok');
  expect(await user.handle.result()).toMatchObject({ outcome: 'connected' });
  expect(await timeline()).toContain('connection reported by webhook');
  expect(lab.ingress.output()).toContain(`"workflowId":"${linkProviderId(user.userId, provider)}"`);
});
