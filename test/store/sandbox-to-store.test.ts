import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import type { SandboxControl } from '../../sandbox/control.js';
import { untidyKinds } from '../../sandbox/lab-service/health-data.js';
import { readEvent } from '../../service/webhooks/events.js';
import { readHealthData } from '../../service/webhooks/health-data.js';
import { healthDataSinks } from '../../workers/health-data.js';
import { webhookSecret, startSandbox } from '../integration/sandbox-rig.js';
import { eventually } from '../rig/eventually.js';
import { describeStores } from '../rig/stores.js';
import { handlerWithoutTemporal, serve } from '../unit/webhooks/sending.js';
import { samplesOf, valuesOf } from './received.js';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** The service's stand-in sends; the webhook handler verifies and gives to the store. */
describeStores('from the service through the webhook handler into the store', (rig) => {
  async function started(deadlineMs = 60_000): Promise<{ control: SandboxControl; userId: string }> {
    const { store } = rig();
    const access = { get: () => Promise.resolve(store), close: () => Promise.resolve() };
    const handler = await handlerWithoutTemporal({ secrets: [webhookSecret], deadlineMs, ...healthDataSinks(access) });
    const { port, close } = await serve(handler);
    open.push(close);
    const webhookUrl = `http://127.0.0.1:${port}/`;
    const { control, newUser } = await startSandbox({ webhookUrl, webhookSecrets: [webhookSecret] });
    return { control, userId: await newUser() };
  }

  // proves 7, 258, 259, 271
  test('a summary and its later version become one', async () => {
    const { control, userId } = await started();
    const id = randomUUID();
    const summary = { kind: 'summary' as const, id, calendar_date: '2026-01-05' };
    await control.sendHealthData(userId, { ...summary, fields: { steps: 1 } });
    await control.settleWebhooks();
    await control.sendHealthData(userId, { ...summary, event: 'updated', fields: { steps: 2 } });
    await control.settleWebhooks();
    const found = await rig().store.summaries({ userId, from: '2026-01-05', to: '2026-01-05' });
    expect(found).toMatchObject([{ id, resource: 'activity', provider: 'invented_watch', data: { steps: 2 } }]);
  });

  test('a batch that is delivered three times under one message id is stored once', async () => {
    const { control, userId } = await started();
    await control.addWebhookFault({ action: { kind: 'duplicate', copies: 2 } });
    const sent = await control.sendHealthData(userId, { kind: 'samples', resource: 'steps', count: 2_000 });
    await control.settleWebhooks();
    const kept = await samplesOf(rig().store, userId, 'steps');
    expect(kept.map(({ data }) => data)).toEqual(sent.data['data']);
  });

  // proves 295
  test('batches that overtake each other leave what was received last', async () => {
    const { control, userId } = await started();
    await control.addWebhookFault({ action: { kind: 'reorder', count: 2 } });
    const batch = { kind: 'samples' as const, from: '2026-01-05T10:00:00Z', everySeconds: 60 };
    await control.sendHealthData(userId, { ...batch, count: 3 });
    await control.sendHealthData(userId, { ...batch, count: 2, from: '2026-01-05T10:01:00Z' });
    await control.settleWebhooks();
    // The second came first; the first, received last, replaced both of its samples.
    expect(await valuesOf(rig().store, userId)).toEqual([5, 5.1, 5.2]);
  });

  // proves 264
  test('notices of a workout stream and of a past that was fetched are kept', async () => {
    // Temporal, which would fetch the stream, is soon given up.
    const { control, userId } = await started(500);
    const workoutId = randomUUID();
    await control.sendHealthData(userId, { kind: 'workout_stream', workout_id: workoutId });
    await control.sendHealthData(userId, { kind: 'history', resource: 'sleep' });
    await control.settleWebhooks();
    await eventually(async () => {
      expect(await rig().store.workoutStream({ userId, workoutId })).toMatchObject({
        notice: { workout_id: workoutId, sport: { slug: 'invented_run' } },
        stream: null,
      });
      expect(await rig().store.historyNotices(userId)).toMatchObject([
        { resource: 'sleep', provider: 'invented_watch' },
      ]);
    });
  });

  test('every untidy payload is answered 204, and stored or put aside; none is dropped', async () => {
    const { control, userId } = await started();
    const before = await rig().store.rejected.count();
    for (const variant of untidyKinds) await control.sendHealthData(userId, { kind: 'untidy', variant });
    await control.settleWebhooks();
    const deliveries = await control.deliveries();
    expect(new Set(deliveries.map(({ state }) => state))).toEqual(new Set(['delivered']));
    const rejected = await rig().store.rejected.list({ limit: 100 });
    expect(
      rejected
        .slice(0, rejected.length - before)
        .map(({ reason }) => reason.slice(0, 30))
        .toSorted(),
    ).toEqual([
      '2 of 3 samples cannot be store',
      'a batch of samples that names ',
      'a summary without an id, or wi',
      'names no user, or one whose id',
      'the event type is not known',
    ]);
    const resources = ['calories_active', 'blood_pressure', 'note', 'glucose'];
    const kept = await Promise.all(resources.map((resource) => samplesOf(rig().store, userId, resource)));
    // Glucose: without a zone, with a type of its source, and the one good sample of a batch.
    expect(kept.map((samples) => samples.length)).toEqual([1, 1, 1, 3]);
  });

  test('a rejected event is replayed by the same path as webhooks, once the cause is fixed', async () => {
    const { control, userId } = await started();
    const { store } = rig();
    await control.sendHealthData(userId, { kind: 'untidy', variant: 'without_provider' });
    await control.settleWebhooks();
    const [rejected] = await store.rejected.list({ limit: 1 });
    await store.rejected.replay(rejected?.id ?? '', async (message) => {
      const event = readEvent(JSON.parse(message.body));
      if (event.kind !== 'health_data') throw new Error(event.kind);
      const read = readHealthData(event);
      expect(await store.accept({ ...read, source: { provider: 'corrected' } }, message)).toBe('stored');
    });
    expect(await samplesOf(store, userId, 'glucose')).toMatchObject([
      { provider: 'corrected', receivedAt: rejected?.receivedAt },
    ]);
  });
});
