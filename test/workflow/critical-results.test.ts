import { describe, expect, test } from 'vitest';
import { AlarmOutdated, NothingToAcknowledge, OrderInvalid } from '../../client/orders/errors.js';
import { kitOrderId } from '../../protocol/ids.js';
import { signalOrStart } from '../../protocol/signal-or-start.js';
import { criticalResultReportedSignal, orderChangedSignal } from '../../protocol/order/messages.js';
import { kitOrderStart } from '../../protocol/order/start.js';
import { taskQueue } from '../rig/environments.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import { eventually } from '../rig/eventually.js';
import { followed } from '../rig/followed.js';
import type { Kit } from './kit.js';
import { setStage } from './story.js';

const stage = setStage();
const nurse = { by: 'nurse-17', outcome: 'confirmed' } as const;

/** A kit whose sample is at the lab. */
async function kitAtLab(policy: OrderPolicy = {}): Promise<Kit> {
  const kit = await stage.place({ policy });
  await kit.register();
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab');
  return kit;
}

/** The notifications about critical results, with what is in them. */
function alarms(kit: Kit) {
  return kit.notifications.filter(
    ({ type, data }) => type.startsWith('critical') || data['reason'] === 'critical_result',
  );
}

async function isAlarmed(kit: Kit, ...ids: string[]): Promise<void> {
  await eventually(() => expect(alarms(kit).map(({ id }) => id)).toEqual(ids));
}

/** The webhook of the documented form alone, as before any other news of the result. */
async function isReported(kit: Kit, result: Parameters<typeof stage.sandbox.reportCritical>[1] = {}): Promise<void> {
  await stage.syncClock();
  await stage.sandbox.reportCritical(kit.rootOrderId, result);
  await eventually(async () => expect((await followed(kit.handle)).criticalResult).toBeDefined());
}

async function runsOf(workflowId: string): Promise<string> {
  return (await stage.temporal.workflow.getHandle(workflowId).describe()).status.name;
}

describe('a critical result', () => {
  test('is notified at once, before the order completes, even if the field says normal', async () => {
    const kit = await kitAtLab();
    const orderId = kit.rootOrderId;
    await isReported(kit, { status: 'partial', interpretation: 'normal' });
    await isAlarmed(kit, `${orderId}/partial/critical_result`, `${orderId}/partial.critical_result/attention_raised`);
    expect(alarms(kit)[0]?.data).toMatchObject({ order_id: orderId, status: 'partial', interpretation: 'normal' });
    await kit.expectAttention('critical_result');
    expect((await followed(kit.handle)).criticalResult).toMatchObject({ orderId, status: 'partial', isOpen: true });
  });

  test('is raised if only the order itself shows it, with or without an event', async () => {
    const kit = await kitAtLab();
    await stage.sandbox.interpret(kit.rootOrderId, { interpretation: 'critical' });
    await kit.expectAttention('critical_result');
    await isAlarmed(
      kit,
      `${kit.rootOrderId}/partial/critical_result`,
      `${kit.rootOrderId}/partial.critical_result/attention_raised`,
    );
  });

  test('a critical result that comes with the completing event raises one alarm, and the result is announced as usual', async () => {
    const kit = await kitAtLab();
    await kit.move({ status: 'completed', interpretation: 'critical' });
    await kit.expectAttention('critical_result');
    await eventually(() => expect(kit.notified).toContain('result'));
    await isAlarmed(
      kit,
      `${kit.rootOrderId}/final/critical_result`,
      `${kit.rootOrderId}/final.critical_result/attention_raised`,
    );
    expect(kit.notifications.find(({ type }) => type === 'result')?.data).toMatchObject({ interpretation: 'critical' });
  });

  test('a critical result that comes as a whole order is raised, whatever that order says', async () => {
    const kit = await kitAtLab();
    await stage.sandbox.changeSettings({ criticalResultForm: 'order' });
    await isReported(kit);
    await kit.expectAttention('critical_result');
    expect((await followed(kit.handle)).criticalResult).toMatchObject({ status: 'partial' });
  });

  test('a critical result about an unknown order starts its workflow', async () => {
    await stage.syncClock();
    const { order } = await stage.sandbox.createOrder({ webhook: false });
    await stage.sandbox.reportCritical(order.id);
    const kit = await eventually(() => stage.follow(order.id));
    await kit.expectAttention('critical_result');
    expect(await kit.expectState({ status: order.events.at(-1)?.status ?? '' })).toMatchObject({
      userId: order.user_id,
    });
  });

  test('a critical result about an order that even the service does not know is not lost', async () => {
    await stage.syncClock();
    const { order } = await stage.sandbox.createOrder({ webhook: false });
    await stage.sandbox.addWebhookFault({ action: { kind: 'hold' } });
    await stage.sandbox.reportCritical(order.id);
    await stage.sandbox.deleteOrder(order.id);
    await stage.sandbox.releaseWebhooks();
    const kit = await eventually(() => stage.follow(order.id));
    await kit.expectAttention('critical_result');
    expect(await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId: order.id })).toMatchObject({
      attention: [],
    });
    await stage.skip('15 minutes');
    expect(await kit.result()).toMatchObject({ outcome: 'order_gone' });
  });

  test('a critical result about a replacement is raised by the workflow of its chain', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'lost');
    const { orderId } = await kit.handle.replaceKit({ orderId: kit.rootOrderId });
    await stage.sandbox.reportCritical(orderId, { status: 'partial' });
    await kit.expectAttention('critical_result');
    await isAlarmed(kit, `${orderId}/partial/critical_result`, `${orderId}/partial.critical_result/attention_raised`);
    expect((await followed(kit.handle)).rootOrderId).toBe(kit.rootOrderId);
    const { handle } = await stage.follow(orderId);
    expect(await handle.acknowledgeCriticalResult({ ...nurse, orderId })).toMatchObject({ attention: [] });
  });

  test('a critical snapshot of a replacement that is overtaken on its way is raised by the workflow of its chain', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'lost');
    const { orderId } = await kit.handle.replaceKit({ orderId: kit.rootOrderId });
    const [earlier, later] = ['2026-01-05T10:00:00Z', '2026-01-05T11:00:00Z'];
    for (const said of [
      { updatedAt: later, interpretation: 'normal' },
      { updatedAt: earlier, interpretation: 'critical' },
    ]) {
      const snapshot = { orderId, events: [], ...said };
      await signalOrStart(
        stage.temporal.workflow,
        taskQueue,
        kitOrderStart(snapshot, orderId),
        orderChangedSignal,
        snapshot,
      );
    }
    await kit.expectAttention('critical_result');
  });

  test('a critical result that becomes final after a partial one is announced again, as the same alarm', async () => {
    const kit = await kitAtLab();
    const orderId = kit.rootOrderId;
    await isReported(kit, { status: 'partial' });
    await isReported(kit, { status: 'final' });
    await isReported(kit, { status: 'partial' });
    const ids = ['partial/critical_result', 'partial.critical_result/attention_raised', 'final/critical_result'];
    await isAlarmed(kit, ...ids.map((id) => `${orderId}/${id}`));
    expect(await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId })).toMatchObject({ attention: [] });
  });

  test('a critical result in parts that cannot be read is dropped without harm', async () => {
    const kit = await kitAtLab();
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
    for (const odd of [null, 5, {}, { orderId: 7 }]) {
      await workflow.signal(criticalResultReportedSignal, odd as never);
    }
    await workflow.signal(criticalResultReportedSignal, { orderId: kit.rootOrderId, status: 'Someone Invented' });
    await kit.expectAttention('critical_result');
    expect((await followed(kit.handle)).criticalResult).toMatchObject({ status: 'partial' });
  });
});

describe('an acknowledgement', () => {
  test('an acknowledgement alone clears a critical result: neither the results, nor a correction, nor time does', async () => {
    const kit = await kitAtLab({ criticalResultReminder: '1d' });
    const orderId = kit.rootOrderId;
    await isReported(kit);
    await kit.move(
      { status: 'completed', interpretation: 'normal' },
      { status: 'corrected', interpretation: 'normal' },
    );
    await eventually(() => expect(kit.notified).toContain('correction'));
    await stage.skip('5 days');
    await kit.expectAttention('critical_result');
    expect(await runsOf(kitOrderId(orderId))).toBe('RUNNING');
    expect(await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId })).toMatchObject({
      attention: [],
      criticalResult: { isOpen: false, acknowledgements: [{ ...nurse }] },
      outcome: 'completed',
    });
    expect(await kit.result()).toMatchObject({ outcome: 'completed', criticalResults: [{ orderId, isOpen: false }] });
    expect(alarms(kit).at(-1)).toMatchObject({ type: 'attention_cleared' });
  });

  test('is kept in the timeline with its time, its person and its note, and nowhere in the clear', async () => {
    const kit = await kitAtLab();
    const orderId = kit.rootOrderId;
    await isReported(kit);
    const note = 'Called the invented Dr. Testperson';
    const command = { orderId, by: 'nurse-17', outcome: 'reached_no_readback', note } as const;
    const { timeline } = await kit.handle.acknowledgeCriticalResult(command);
    expect(timeline.at(-1)).toEqual({
      orderId,
      at: expect.any(String) as string,
      status: 'critical_result_acknowledged',
      ...{ detail: 'reached_no_readback', by: 'nurse-17', note, alarm: `${orderId}/final/critical_result` },
    });
    await eventually(() => expect(alarms(kit).at(-1)?.type).toBe('attention_cleared'));
    expect(JSON.stringify(kit.notifications)).not.toContain('Testperson');
    const { raw } = await stage.temporal.workflow.getHandle(kitOrderId(orderId)).describe();
    expect(JSON.stringify(raw.workflowExecutionInfo?.searchAttributes)).not.toContain('Testperson');
  });

  test('an acknowledgement that is repeated counts once, even after the order has ended; another outcome is added', async () => {
    const kit = await kitAtLab();
    const orderId = kit.rootOrderId;
    await isReported(kit);
    const unable = { orderId, by: 'nurse-17', outcome: 'unable_to_reach' } as const;
    await kit.handle.acknowledgeCriticalResult(unable);
    await kit.handle.acknowledgeCriticalResult(unable);
    const { criticalResult } = await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId });
    expect(criticalResult?.acknowledgements.map(({ outcome }) => outcome)).toEqual(['unable_to_reach', 'confirmed']);
    await kit.move('completed');
    expect(await kit.result()).toMatchObject({ outcome: 'completed' });
    const again = { ...nurse, orderId, alarm: `${orderId}/final/critical_result` };
    expect(await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId })).toMatchObject({ outcome: 'completed' });
    expect(await kit.handle.acknowledgeCriticalResult(again)).toMatchObject({ outcome: 'completed' });
    await expect(kit.handle.acknowledgeCriticalResult({ ...again, alarm: 'another' })).rejects.toThrow('ended');
    await expect(kit.handle.acknowledgeCriticalResult({ orderId, by: 'other', outcome: 'confirmed' })).rejects.toThrow(
      'ended',
    );
  });

  test('an acknowledgement of an earlier alarm does not clear a later one, however late it comes', async () => {
    const kit = await kitAtLab();
    const orderId = kit.rootOrderId;
    await isReported(kit, { status: 'partial' });
    const partial = (await followed(kit.handle)).criticalResult?.alarm ?? '';
    await eventually(() => expect(alarms(kit).map(({ id }) => id)).toContain(partial));
    expect(await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId, alarm: partial })).toMatchObject({
      attention: [],
    });
    await isReported(kit, { status: 'final' });
    await kit.expectAttention('critical_result');
    const retried = await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId, alarm: partial });
    expect(retried).toMatchObject({
      attention: [{ reason: 'critical_result' }],
      criticalResult: { isOpen: true, acknowledgements: [{ alarm: partial }] },
    });
    const late = { orderId, by: 'nurse-18', outcome: 'confirmed', alarm: partial } as const;
    await expect(kit.handle.acknowledgeCriticalResult(late)).rejects.toThrow(AlarmOutdated);
    const { alarm: _alarm, ...unnamed } = late;
    await expect(kit.handle.acknowledgeCriticalResult(unnamed), 'may be an earlier one').rejects.toThrow(AlarmOutdated);
    const unknown = { ...late, alarm: `${orderId}/never/critical_result` };
    await expect(kit.handle.acknowledgeCriticalResult(unknown)).rejects.toThrow(NothingToAcknowledge);
    await kit.expectAttention('critical_result');
    const { alarm = '' } = retried.criticalResult ?? {};
    expect(await kit.handle.acknowledgeCriticalResult({ ...late, alarm })).toMatchObject({
      attention: [],
      criticalResult: { isOpen: false, acknowledgements: [{ alarm: partial }, { by: 'nurse-18', alarm }] },
    });
  });

  test('must name its order, a person’s id and an outcome, and the refusal does not repeat the input', async () => {
    const kit = await kitAtLab();
    const orderId = kit.rootOrderId;
    await expect(kit.handle.acknowledgeCriticalResult({ ...nurse, orderId })).rejects.toThrow(NothingToAcknowledge);
    await isReported(kit);
    await expect(kit.handle.acknowledgeCriticalResult({ ...nurse, orderId: 'other' })).rejects.toThrow(
      NothingToAcknowledge,
    );
    const odd = { orderId: undefined, alarm: 5, by: 'Testperson Invented', outcome: 'done', note: 'x'.repeat(2001) };
    const refusal: unknown = await kit.handle.acknowledgeCriticalResult(odd as never).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OrderInvalid);
    expect(refusal).toMatchObject({
      fields: ['orderId', 'alarm', 'by', 'outcome', 'note'].map((field) => ({ field })),
    });
    expect(String(refusal)).not.toContain('Testperson');
    await kit.expectAttention('critical_result');
  });

  test('holds for the order’s next runs: the same result raises nothing again, a correction does', async () => {
    const kit = await kitAtLab();
    const orderId = kit.rootOrderId;
    await kit.move({ status: 'completed', interpretation: 'critical' });
    await kit.expectAttention('critical_result');
    await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId });
    expect(await kit.result()).toMatchObject({ outcome: 'completed', criticalResults: [{ status: 'final' }] });
  });
});

describe('until somebody acknowledges a critical result', () => {
  test('a reminder goes out every hour, or as often as the policy says', async () => {
    const kit = await kitAtLab({ criticalResultReminder: '30m' });
    await isReported(kit);
    for (const count of [1, 2, 3]) {
      await stage.skip('30 minutes');
      await eventually(() =>
        expect(alarms(kit).at(-1)).toMatchObject({
          id: `${kit.rootOrderId}/final/critical_result_reminder/${count}`,
          data: { reminder: count, status: 'final', alarm: `${kit.rootOrderId}/final/critical_result` },
        }),
      );
    }
    await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId: kit.rootOrderId });
    await stage.skip('3 hours');
    expect(alarms(kit).at(-1)).toMatchObject({ type: 'attention_cleared' });
  });

  test('a reminder goes out even after the order’s end, which is announced in time', async () => {
    const kit = await kitAtLab();
    await kit.move({ status: 'completed', interpretation: 'critical' });
    await eventually(() => expect(kit.notified).toContain('result'));
    await stage.skip('1 hour');
    await eventually(() => expect(kit.notified.at(-1)).toBe('critical_result_reminder 1'));
    await stage.skip('1 hour');
    await eventually(() => expect(kit.notified.at(-1)).toBe('critical_result_reminder 2'));
  });

  test('an end that no event reports is announced meanwhile, once', async () => {
    const kit = await kitAtLab();
    await isReported(kit);
    await kit.move('sample_error');
    await stage.skip('25 hours');
    await kit.handle.resolveProblem('abandon', { orderId: kit.rootOrderId });
    await eventually(() => expect(kit.notified).toContain('ended abandoned'));
    await stage.skip('1 hour');
    await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId: kit.rootOrderId });
    expect(await kit.result()).toMatchObject({ outcome: 'abandoned' });
    expect(kit.notified.filter((what) => what === 'ended abandoned')).toHaveLength(1);
  });

  test('an order that ended as gone is followed again once the service knows it', async () => {
    await stage.sandbox.changeSettings({ resultDates: false });
    const kit = await kitAtLab({ resultsDeadline: '2d', criticalResultReminder: '1d' });
    await isReported(kit);
    const action = { kind: 'answer', status: 404, body: { detail: 'Order not found' } } as const;
    const id = await stage.sandbox.addFault({ method: 'GET', path: `/v3/order/${kit.rootOrderId}`, action });
    await stage.skip('49 hours');
    await eventually(() => expect(kit.notified).toContain('ended order_gone'));
    await stage.sandbox.removeFaults(id);
    await kit.move('lab_processing_blocked');
    expect((await kit.expectState({ phase: 'at_lab' })).outcome).toBeUndefined();
    await kit.move('completed');
    await eventually(() => expect(kit.notified).toContain('result'));
    await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId: kit.rootOrderId });
    expect(await kit.result()).toMatchObject({ outcome: 'completed' });
  });

  test('an order that a person stopped following ends as it ends at the service', async () => {
    await stage.sandbox.changeSettings({ resultDates: false });
    const kit = await kitAtLab({ resultsDeadline: '2d', criticalResultReminder: '1d' });
    await isReported(kit);
    await stage.skip('49 hours');
    await kit.expectAttention('critical_result', 'results_overdue');
    await kit.handle.resolveProblem('abandon', { orderId: kit.rootOrderId });
    await eventually(() => expect(kit.notified).toContain('ended abandoned'));
    await kit.move('lab_processing_blocked');
    await kit.expectState({ outcome: 'abandoned' });
    await kit.move('completed');
    await kit.expectState({ outcome: 'completed' });
    await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId: kit.rootOrderId });
    expect(await kit.result()).toMatchObject({ outcome: 'completed' });
  });

  test('a receiver that was down gets the alarm and the latest reminder, and no backlog of them', async () => {
    const kit = await kitAtLab();
    stage.receiver.isDown = true;
    await isReported(kit);
    await stage.skip('9 hours');
    stage.receiver.isDown = false;
    await stage.skip('1 hour');
    await eventually(() => expect(kit.notified).toContain('critical_result_reminder 10'));
    const reminders = kit.notified.filter((what) => what.startsWith('critical_result_reminder'));
    expect(reminders.length).toBeLessThanOrEqual(3);
    expect(kit.notified).toContain('critical_result');
  });
});

test('an alarm that changes nothing of its order, not even the time of its last change, is raised by what is read next', async () => {
  const kit = await kitAtLab();
  await stage.sandbox.interpret(kit.rootOrderId, { interpretation: 'critical', updates: false });
  await kit.expectAttention('critical_result');
});
