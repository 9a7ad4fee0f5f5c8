import { describe, expect, test } from 'vitest';
import { inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { signatureOf } from '../../sandbox/lab-service/webhook-attempt.js';
import {
  webhookSecret,
  knownPatientBody,
  lows,
  registerBody,
  startReceiver,
  startSandbox,
  type Received,
  type Receiver,
  type Sandbox,
} from './sandbox-rig.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { eventually } from '../rig/eventually.js';

/** With a day of 0.1 s the whole schedule of retries, 27.6 hours, takes 0.12 s. */
const quickDay = 0.1;

async function start(
  settings: Partial<Settings> = {},
  answer?: (n: number) => number | null,
): Promise<Sandbox & Receiver> {
  const receiver = await startReceiver(answer);
  const sandbox = await startSandbox({ webhookUrl: receiver.url, webhookSecrets: [webhookSecret], ...settings });
  return { ...sandbox, ...receiver };
}

function types(received: readonly Received[]): string[] {
  return received.map(({ json }) => json.event_type);
}

describe('order webhooks', () => {
  // proves 144-148, 267
  test('bring the whole order with each of its events, created first', async () => {
    const { call, control, newKit, received } = await start();
    const { id, user_id: userId } = await newKit();
    await control.settleWebhooks();
    await call('POST', '/v3/order/testkit/register', registerBody(userId, 'INVENTED-1'));
    await control.settleWebhooks();
    const deliveries = await control.deliveries({ order_id: id });
    expect(deliveries.map(({ event_type, status }) => [event_type, status])).toEqual([
      ['labtest.order.created', 'ordered'],
      ['labtest.order.updated', 'awaiting_registration'],
      ['labtest.order.updated', 'requisition_created'],
      ['labtest.order.updated', 'testkit_registered'],
    ]);
    expect(deliveries.every(({ state }) => state === 'delivered')).toBe(true);
    const last = received.find(({ headers }) => headers['svix-id'] === deliveries.at(-1)?.id);
    const { client_user_id } = (await call('GET', `/v2/user/${userId}`)).body;
    expect(last?.json).toEqual({
      event_type: 'labtest.order.updated',
      team_id: inventedTeamId,
      user_id: userId,
      client_user_id,
      data: (await call('GET', `/v3/order/${id}`)).body,
    });
  });

  test('order webhooks about critical results carry their own fields, with or without an interpretation or the envelope’s ids', async () => {
    const { control, newKit, received } = await start();
    const { id, user_id } = await newKit();
    const last = async () => {
      await control.settleWebhooks();
      return received.at(-1)?.json;
    };
    await control.reportCritical(id, { status: 'partial' });
    const data = { order_id: id, status: 'partial', interpretation: 'critical', team_id: inventedTeamId, user_id };
    expect(await last()).toMatchObject({
      event_type: 'labtest.result.critical',
      team_id: inventedTeamId,
      user_id,
      data,
    });
    const keys = [
      'order_id',
      'sample_id',
      'status',
      'interpretation',
      'team_id',
      'user_id',
      'created_at',
      'updated_at',
    ];
    expect(Object.keys((await last())?.data as object)).toEqual(keys);
    await control.reportCritical(id, { interpretation: 'normal' });
    expect(await last()).toMatchObject({ data: { status: 'final', interpretation: 'normal' } });
    await control.changeSettings({ webhookEnvelope: 'without_ids' });
    await control.reportCritical(id, { interpretation: null });
    expect((await last())?.data).not.toHaveProperty('interpretation');
    expect(Object.keys((await last()) ?? {})).toEqual(['event_type', 'data']);
    await control.move(id, { status: 'completed', interpretation: 'critical' });
    await control.changeSettings({ criticalResultForm: 'order' });
    await control.reportCritical(id);
    expect(await last()).toMatchObject({ data: { id, status: 'completed' } });
  });

  test('come again, as new messages, on request', async () => {
    const { call, control, newKit, received } = await start();
    const [one, other] = [await newKit(), await newKit()];
    await control.settleWebhooks();
    const before = received.length;
    const ask = async (body: object) => (await call('POST', '/v3/order/resend_events', body)).body.order_ids;
    expect(await ask({ order_ids: [one.id] })).toEqual([one.id]);
    await control.settleWebhooks();
    expect(received.slice(before).map(({ json }) => [json.event_type, json.data.id])).toEqual([
      ['labtest.order.updated', one.id],
    ]);
    expect(new Set(received.map(({ headers }) => headers['svix-id'])).size).toBe(received.length);
    expect(await ask({ start_at: one.created_at })).toEqual([one.id, other.id]);
    await control.settleWebhooks();
    const tooLong = await call('POST', '/v3/order/resend_events', { start_at: '2020-01-01T00:00:00Z' });
    expect(tooLong.status).toBe(422);
  });
});

describe('retries', () => {
  // proves 304
  test('follow the documented schedule: at once, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h', async () => {
    const { control, newKit } = await start({}, () => 500);
    const { id } = await newKit();
    for (const wait of ['5s', '5m', '30m', '2h', '5h', '10h', '10h', '10h']) {
      await control.settleWebhooks();
      await control.advanceClock(wait);
    }
    await control.settleWebhooks();
    const [first] = await control.deliveries({ order_id: id });
    expect(first?.state).toBe('failed');
    const times = first?.attempts.map(({ at }) => Date.parse(at)) ?? [];
    const minutes = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / 60_000);
    const documented = [5 / 60, 5, 30, 120, 300, 600, 600];
    expect(minutes).toHaveLength(documented.length);
    // What the attempts themselves took comes on top.
    minutes.forEach((wait, index) => expect(wait).toBeCloseTo(documented[index] ?? 0, 0));
    expect(first?.attempts.every(({ status, ok }) => status === 500 && !ok)).toBe(true);
  });

  test('come after a redirect, after 4xx, after no answer in time and after no connection', async () => {
    // The days are so long that nothing is sent again meanwhile.
    const settings = { daySeconds: 86_400_000 };
    const { control, newKit, url, lines } = await start(settings, (n) => [302, 400][n] ?? null);
    const { id } = await newKit();
    await control.settleWebhooks();
    await control.changeSettings({ webhookTimeoutMs: 5_000 });
    await control.move(id, 'transit_customer');
    await control.settleWebhooks();
    await control.changeSettings({ webhookUrl: 'http://127.0.0.1:1/webhooks' });
    await control.move(id, 'with_customer');
    await control.settleWebhooks();
    const deliveries = await control.deliveries({ order_id: id });
    expect(deliveries.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'waiting', 'waiting']);
    const outcomes = deliveries.map(({ attempts: [attempt] }) => attempt?.status ?? attempt?.error);
    // The first two go out at once.
    expect(new Set(outcomes.slice(0, 2))).toEqual(new Set([302, 400]));
    expect(outcomes.slice(2)).toEqual(['timeout', 'ECONNREFUSED']);
    expect(lines.slice(2)).toEqual([
      expect.stringContaining('got no answer (timeout)'),
      expect.stringContaining('got no answer (ECONNREFUSED)'),
    ]);
    await control.changeSettings({ webhookUrl: url });
  });
});

describe('webhook faults', () => {
  test('send a message again, under its own id or under another', async () => {
    const { control, newKit, received } = await start();
    await control.addWebhookFault({ status: 'ordered', times: 1, action: { kind: 'duplicate', copies: 2 } });
    await newKit();
    await control.settleWebhooks();
    const created = () => received.filter(({ json }) => json.event_type === 'labtest.order.created');
    expect(created()).toHaveLength(3);
    expect(new Set(created().map(({ headers }) => headers['svix-id'])).size).toBe(1);
    await control.addWebhookFault({ status: 'ordered', action: { kind: 'duplicate', sameId: false } });
    await newKit();
    await control.settleWebhooks();
    expect(new Set(created().map(({ headers }) => headers['svix-id'])).size).toBe(3);
  });

  test('hold messages until they are released, in reverse if requested', async () => {
    const { control, newKit, received } = await start();
    const { id } = await newKit();
    await control.settleWebhooks();
    const fault = await control.addWebhookFault({ order_id: id, action: { kind: 'hold' } });
    for (const status of ['transit_customer', 'out_for_delivery', 'with_customer']) await control.move(id, status);
    await control.settleWebhooks();
    expect(received).toHaveLength(2);
    expect((await control.deliveries({ state: 'held' })).map(({ status }) => status)).toHaveLength(3);
    await control.removeWebhookFaults(fault);
    expect(await control.releaseWebhooks('reversed')).toBe(3);
    expect(received.slice(2).map(({ json }) => lows(json.data).at(-1))).toEqual([
      'with_customer',
      'out_for_delivery',
      'transit_customer',
    ]);
  });

  test('reorder so many messages, the newest first', async () => {
    const { control, newKit, received } = await start();
    await control.addWebhookFault({ times: 2, action: { kind: 'reorder', count: 2 } });
    await newKit();
    await control.settleWebhooks();
    expect(types(received)).toEqual(['labtest.order.updated', 'labtest.order.created']);
  });

  test('change one byte of the first attempt, so its signature does not fit; the next attempt is whole', async () => {
    const { control, newKit, received } = await start({ daySeconds: quickDay }, (n) => (n === 0 ? 401 : 204));
    await control.addWebhookFault({ status: 'awaiting_registration', action: { kind: 'corrupt' } });
    await control.addWebhookFault({ status: 'ordered', action: { kind: 'lose' } });
    await newKit();
    await eventually(() => expect(received).toHaveLength(2));
    const fits = ({ headers, raw }: Received): boolean => {
      const message = {
        id: String(headers['svix-id']),
        timestampSeconds: Number(headers['svix-timestamp']),
        body: raw,
      };
      return signatureOf([webhookSecret], message) === headers['svix-signature'];
    };
    expect(received.map(fits)).toEqual([false, true]);
    const [broken, whole] = received.map(({ raw }) => Buffer.from(raw, 'utf8'));
    expect(broken?.length).toBe(whole?.length);
    expect([...(broken ?? [])].filter((byte, index) => byte !== whole?.[index])).toHaveLength(1);
  });

  test('delay a message on the clock of the stand-in', async () => {
    const { call, control, newUser, received } = await start();
    await control.addWebhookFault({ event_type: 'labtest.order.created', action: { kind: 'delay', by: '2h' } });
    await call('POST', '/v3/order', knownPatientBody(await newUser()));
    await control.settleWebhooks();
    expect(types(received)).toEqual(['labtest.order.updated']);
    await control.advanceClock('2h');
    await control.settleWebhooks();
    expect(types(received)).toEqual(['labtest.order.updated', 'labtest.order.created']);
  });
});
