import { expect, test } from 'vitest';
import { ReplacementLimitReached } from '../../client/order/errors.js';
import { completeMfaPath, UserLink } from './user-link.js';
import { eventually } from '../rig/eventually.js';
import { kitOrderId } from '../../protocol/ids.js';
import { setStage } from './story.js';
import { withoutRepeats } from './kit.js';

const stage = setStage({ eventsPerRun: 20 });

async function runsOf(workflowId: string): Promise<number> {
  return (await stage.temporal.workflow.count(`WorkflowId = '${workflowId}'`)).count;
}

test('a story whose history is cut into many runs is the same story', async () => {
  const kit = await stage.place({ policy: { onLost: 'replace' } });
  await kit.move('transit_customer', 'lost');
  const { orderId } = await kit.expectState({ phase: 'awaiting_registration', chain: [{}, {}] as never });
  await kit.move('transit_customer', 'problem_in_transit_customer');
  await kit.expectState({ phase: 'in_transit_to_customer', orderId });
  await kit.handle.setPolicy({ problemLimit: '1 second' });
  await kit.expectAttention('problem_persists');
  expect(await kit.handle.resolveProblem({ orderId, decision: 'wait' })).toMatchObject({ attention: [] });
  // From the decision on the limit counts again: on a busy machine it may be over before this comes.
  await kit.handle.setPolicy({ problemLimit: '7d' });
  await eventually(() => expect(kit.notified).toContain('attention_cleared problem_persists'));

  stage.receiver.isDown = true;
  await kit.move('out_for_delivery', 'with_customer');
  await expect(kit.handle.replaceKit({ orderId })).rejects.toThrow(ReplacementLimitReached);
  const registration = await kit.registration();
  const [one, other] = await Promise.all([
    kit.handle.register({ registration }),
    kit.handle.register({ registration }),
  ]);
  expect([one, other]).toMatchObject([{ registered: true }, { registered: true }]);
  expect(await stage.countRequests('POST', '/v3/order/testkit/register')).toBe(1);
  stage.receiver.isDown = false;

  await kit.move('transit_lab', 'delivered_to_lab', 'completed');
  const { outcome, timeline } = await kit.result();
  expect(outcome).toBe('completed');
  expect(timeline.map(({ status }) => status.split('.').at(-1))).toEqual([
    ...['ordered', 'awaiting_registration', 'transit_customer', 'lost'],
    ...['ordered', 'awaiting_registration', 'transit_customer', 'problem_in_transit_customer', 'out_for_delivery'],
    ...['with_customer', 'requisition_created', 'testkit_registered', 'transit_lab', 'delivered_to_lab', 'completed'],
  ]);
  const expected = [
    'phase_changed awaiting_registration',
    'phase_changed in_transit_to_customer',
    'phase_changed failed',
    'phase_changed awaiting_registration',
    'phase_changed in_transit_to_customer',
    'phase_changed in_transit_to_customer',
    'phase_changed in_transit_to_customer',
    'phase_changed awaiting_registration',
    'phase_changed with_customer',
    'phase_changed in_transit_to_lab',
    'phase_changed at_lab',
    'result',
    'phase_changed completed',
  ];
  const isAttention = (what: string) => what.startsWith('attention_');
  const questions = ['attention_raised problem_persists', 'attention_cleared problem_persists'];
  await eventually(() => expect([...new Set(kit.notifiedOnce.filter(isAttention))]).toEqual(questions));
  // A webhook that comes after the limit is announced behind the question; the replacement's first one may come before its creation is answered.
  const isNews = (what: string) => what !== 'replacement' && !isAttention(what);
  await eventually(() => expect(kit.notifiedOnce.filter(isNews)).toEqual(expected));
  expect(kit.notifiedOnce.filter((what) => !isAttention(what))).toHaveLength(expected.length + 1);
  expect(await stage.sandbox.orders()).toMatchObject([{}, { order: { id: orderId } }]);
  await eventually(async () => expect(await runsOf(kitOrderId(kit.rootOrderId))).toBeGreaterThan(4));
});

test('a link whose history is cut into many runs is the same link', async () => {
  const link = await UserLink.start(stage, { policy: { codeReminder: '2 seconds' } });
  const { linkToken } = await link.handle.url();
  await link.logIn('mfa-again');
  await eventually(() => expect(link.notified).toContain('code_reminder'));
  stage.receiver.isDown = true;
  expect(await link.handle.submitMfaCode({ code: '111111' })).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 2 });
  await stage.sandbox.sendConnectionWebhook(link.handle.userId, { provider: 'invented_watch' });
  expect(await link.handle.submitMfaCode({ code: '111112' })).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 1 });
  expect((await link.handle.url()).linkToken).toBe(linkToken);
  expect(await link.logIn('nobody')).toMatchObject({ passwordAttemptsLeft: 4, codeAttemptsLeft: 1 });
  await link.logIn('mfa-again');
  // The first is held until the second has come.
  await stage.sandbox.addFault({ path: completeMfaPath(), times: 1, action: { kind: 'delay', delayMs: 8_000 } });
  const sameCode = ['123456', '123456 '].map((code) => link.handle.submitMfaCode({ code }));
  expect(await Promise.all(sameCode)).toMatchObject([{ outcome: 'asked_again' }, { outcome: 'asked_again' }]);
  expect(await link.handle.submitMfaCode({ code: '654321' })).toMatchObject({ outcome: 'connected' });
  stage.receiver.isDown = false;
  const { outcome, timeline } = await link.handle.result();
  expect(outcome).toBe('connected');
  expect(
    timeline.map(({ what }) => what).filter((what) => !what.includes('webhook') && !what.includes('service')),
  ).toEqual([
    ...[
      'link made',
      'code asked by sms',
      'reminded of the code',
      'error incorrect_mfa_code',
      'error incorrect_mfa_code',
    ],
    ...['error provider_credential_error', 'code asked by sms', 'code asked by email', 'success reported', 'connected'],
  ]);
  await eventually(() =>
    expect(withoutRepeats(link.notifications).map(({ type }) => type)).toEqual(['link.code_reminder', 'link.ended']),
  );
  expect(await link.codesSent()).toBe(4);
  await eventually(async () => expect(await runsOf(link.workflowId)).toBeGreaterThan(3));
});

// The server that skips time lets no workflow continue as new that was cancelled.
test('a link that an operator cancelled starts again while its end is still being notified, and can be cancelled', async () => {
  const link = await UserLink.start(stage);
  const { linkToken } = await link.handle.url();
  const runId = await link.runId();
  stage.receiver.isDown = true;
  await stage.temporal.workflow.getHandle(link.workflowId).cancel();
  await link.expectState({ outcome: 'cancelled' });
  const again = await UserLink.start(stage, { userId: link.handle.userId });
  expect((await again.handle.url()).linkToken).not.toBe(linkToken);
  await eventually(async () => expect(await again.runId()).not.toBe(runId));
  await again.logIn('mfa-sms');
  await stage.temporal.workflow.getHandle(link.workflowId).cancel();
  await again.expectState({ outcome: 'cancelled' });
  stage.receiver.isDown = false;
  await stage.finish(link.workflowId);
  await eventually(() =>
    expect(withoutRepeats(link.notifications).map(({ data }) => data['outcome'])).toEqual(['cancelled', 'cancelled']),
  );
});
