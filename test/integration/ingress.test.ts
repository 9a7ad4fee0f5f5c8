import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { WorkflowNotFoundError } from '@temporalio/client';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createWebhookHandler } from '../../client/webhooks/handler.js';
import { signWebhook } from '../../client/testing.js';
import { startDevServer } from '../../sandbox/temporal/dev-server.js';
import { freePort } from '../../sandbox/temporal/ports.js';
import { readIngressConfig } from '../../workers/settings/config.js';
import { type RunningIngress, startIngress } from '../../workers/ingress.js';
import { kitOrderId, linkProviderId } from '../../protocol/ids.js';
import { linkProviderName } from '../../protocol/link/messages.js';
import { labOrderIdKey, labPhaseKey, searchAttributeKeys } from '../../protocol/search-attributes.js';
import { devServer } from '../rig/environments.js';
import { closedPort, orderEvent, secret, signed } from '../unit/webhooks/sending.js';
import { ingressEnv } from './ingress-env.js';

const rig = devServer({ standing: 'integration' });
const running = new Set<RunningIngress>();

afterEach(async () => {
  await Promise.all([...running].map((ingress) => ingress.close()));
  running.clear();
});

async function ingressWith(settings: Record<string, string> = {}, log = pino({ level: 'silent' })) {
  const config = readIngressConfig({
    ...ingressEnv(rig),
    ...settings,
  });
  const ingress = await startIngress(config, log);
  running.add(ingress);
  return ingress;
}

const send = (ingress: RunningIngress, body: Record<string, unknown>) => fetch(`${ingress.url}/webhooks`, signed(body));

describe('an order event', () => {
  let ingress: RunningIngress;
  beforeAll(async () => {
    ingress = await ingressWith();
    running.delete(ingress);
    return () => ingress.close();
  });

  test('is answered 204 once Temporal holds it: the first one starts the workflow of the order', async () => {
    const orderId = randomUUID();
    expect((await send(ingress, orderEvent(orderId))).status).toBe(204);
    const described = await rig.client.workflow.getHandle(kitOrderId(orderId)).describe();
    expect(described).toMatchObject({ type: 'kitOrder', taskQueue: rig.taskQueue, status: { name: 'RUNNING' } });
    expect(described.typedSearchAttributes.get(labOrderIdKey)).toEqual([orderId]);
    expect(described.typedSearchAttributes.get(labPhaseKey)).toBe('preparing');
    expect(await described.staticSummary()).toContain(orderId);
  });

  test('brings no name, address, birth date or e-mail into the history', async () => {
    const orderId = randomUUID();
    const address = { receiver_name: 'Testperson Invented', first_line: '1 Invented Street', city: 'Nowhere' };
    const patient_details = {
      first_name: 'Testperson',
      last_name: 'Invented',
      dob: '1900-01-01',
      email: 'testperson@example.com',
    };
    const changes = { patient_details, patient_address: address, shipping_details: address, notes: 'Invented note' };
    const body = { ...orderEvent(orderId, changes), client_user_id: 'Testperson' };
    expect((await send(ingress, body)).status).toBe(204);
    const { events } = await rig.client.workflow.getHandle(kitOrderId(orderId)).fetchHistory();
    const text = JSON.stringify(events, (key, value: unknown) =>
      key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
    );
    expect(text).toContain('received.testkit.ordered');
    expect(text).not.toMatch(/Testperson|Invented|Nowhere|1900-01|example\.com/);
  });

  test('an order event with svix-* headers and an odd content type is delivered', async () => {
    const { headers, body } = signWebhook({ body: orderEvent(randomUUID()), secret });
    const svix = Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]);
    const response = await fetch(`${ingress.url}/webhooks`, {
      method: 'POST',
      headers: { ...(Object.fromEntries(svix) as Record<string, string>), 'content-type': ';;' },
      body,
    });
    expect(response.status).toBe(204);
  });
});

describe('if Temporal does not take the event,', () => {
  test('a missing namespace is answered 503 and logged as an error, and the ingress is not ready', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
    const ingress = await ingressWith({ TEMPORAL_NAMESPACE: 'not-there' }, log);
    expect((await send(ingress, orderEvent(randomUUID()))).status).toBe(503);
    expect(JSON.parse(lines.join(''))).toMatchObject({ answer: 'temporal_refused' });
    expect((await fetch(`${ingress.url}/ready`)).status).toBe(503);
  });

  test.each([3, 5])(
    'an event of %i MiB, which the server will never take, is counted and dropped with 204',
    async (size) => {
      const ingress = await ingressWith({ WEBHOOK_MAX_BYTES: String(8 * 1024 * 1024) });
      const tooLarge = orderEvent(randomUUID(), { passthrough: `labops/default:${'x'.repeat(size * 1024 * 1024)}` });
      expect((await send(ingress, tooLarge)).status).toBe(204);
      expect(ingress.counts().answers).toMatchObject({ event_refused: 1, temporal_refused: 0 });
    },
  );

  test('an ingress that started before Temporal answers 503, and 204 soon after Temporal has come up', async () => {
    const port = await freePort();
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
    const ingress = await ingressWith({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` }, log);
    expect((await fetch(`${ingress.url}/health`)).status).toBe(200);
    const timesAsked = () => lines.filter((line) => line.includes('ingress is not ready')).length;
    const askedBefore = timesAsked();
    const probes = await Promise.all(Array.from({ length: 20 }, () => fetch(`${ingress.url}/ready`)));
    expect(new Set(probes.map(({ status }) => status))).toEqual(new Set([503]));
    const answered = await Promise.all(probes.map((probe) => probe.text()));
    expect(JSON.parse(answered[0] ?? '')).toEqual({ status: 'not ready', reason: expect.any(String) as string });
    // Anybody can call it, so addresses stay in the log, and many probes are one call to Temporal.
    expect(answered.join('')).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
    expect(timesAsked()).toBeGreaterThan(0);
    expect(timesAsked() - askedBefore).toBeLessThanOrEqual(1);
    const early = send(ingress, orderEvent(randomUUID()));
    const server = await startDevServer({ port, searchAttributes: searchAttributeKeys });
    try {
      expect([204, 503]).toContain((await early).status);
      await expect.poll(async () => (await fetch(`${ingress.url}/ready`)).status).toBe(200);
      expect((await send(ingress, orderEvent(randomUUID()))).status).toBe(204);
    } finally {
      await server.stop();
    }
    expect((await send(ingress, orderEvent(randomUUID()))).status).toBe(503);
  });
});

test('an ingress without Temporal says so at once, and answers a webhook that waits for it when it is stopped', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  const ingress = await ingressWith({ TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}` }, log);
  const notReady = /the ingress is not ready: Temporal cannot be used: .*TEMPORAL_ADDRESS/;
  await expect.poll(() => lines.join('')).toMatch(notReady);
  const answer = send(ingress, orderEvent(randomUUID()));
  await expect.poll(async () => (await fetch(`${ingress.url}/health`)).status).toBe(200);
  await ingress.close();
  running.delete(ingress);
  expect((await answer).status).toBe(503);
});

describe('the process', () => {
  test('refuses a body above WEBHOOK_MAX_BYTES', async () => {
    const ingress = await ingressWith({ WEBHOOK_MAX_BYTES: '2000' });
    expect((await send(ingress, orderEvent(randomUUID(), { notes: 'x'.repeat(2000) }))).status).toBe(413);
  });

  test('names the setting when its port is taken', async () => {
    const ingress = await ingressWith();
    const port = new URL(ingress.url).port;
    await expect(ingressWith({ INGRESS_PORT: port })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is taken: set INGRESS_PORT to a free one.`,
    );
  });

  test('lets a request that is under way finish before it closes, and accepts no new one', async () => {
    const ingress = await ingressWith({ SHUTDOWN_GRACE_SECONDS: '120' });
    const { hostname, port } = new URL(ingress.url);
    const { headers, body } = signed(orderEvent(randomUUID()));
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    const head = Object.entries({ ...headers, host: 'test', 'content-length': String(body.length) });
    socket.write(`POST /webhooks HTTP/1.1\r\n${head.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`);
    socket.write(body.subarray(0, 10));
    await expect.poll(async () => (await fetch(`${ingress.url}/health`)).status).toBe(200);
    const started = performance.now();
    const closing = ingress.close();
    await expect(fetch(`${ingress.url}/health`)).rejects.toThrow('fetch failed');
    socket.write(body.subarray(10));
    await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 204 /);
    await closing;
    // The sender keeps the connection open; the close does not wait for it until the grace of two minutes is over.
    expect(performance.now() - started).toBeLessThan(100_000);
    running.delete(ingress);
  });

  test('says on /ready that it stops, and goes on answering for INGRESS_DRAIN_SECONDS', async () => {
    const ingress = await ingressWith({ INGRESS_DRAIN_SECONDS: '5' });
    await expect.poll(async () => (await fetch(`${ingress.url}/ready`)).status).toBe(200);
    const started = performance.now();
    const closing = ingress.close();
    const ready = await fetch(`${ingress.url}/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: 'stopping' });
    expect((await send(ingress, orderEvent(randomUUID()))).status).toBe(204);
    await closing;
    running.delete(ingress);
    expect(performance.now() - started).toBeGreaterThanOrEqual(4_990);
    await expect(fetch(`${ingress.url}/health`)).rejects.toThrow('fetch failed');
  });

  test('cuts off a request that does not finish within the grace', async () => {
    const ingress = await ingressWith({ SHUTDOWN_GRACE_SECONDS: '0' });
    const { hostname, port } = new URL(ingress.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const head = Object.entries({ ...signed('').headers, host: 'test', 'content-length': '100' });
    socket.write(`POST /webhooks HTTP/1.1\r\n${head.map((line) => line.join(': ')).join('\r\n')}\r\n\r\nhalf`);
    await expect.poll(async () => (await fetch(`${ingress.url}/health`)).status).toBe(200);
    await ingress.close();
    running.delete(ingress);
    await closed;
  });
});

/* No worker runs: what reached a link is in its history. */
const provider = 'invented_watch';

const newHandler = () =>
  createWebhookHandler({ temporal: rig.client, secrets: [secret], taskQueue: rig.taskQueue, deadlineMs: 60_000 });

const connected = (userId: string, slug = provider) =>
  signed({ event_type: 'provider.connection.created', user_id: userId, data: { source: { slug } } });

async function startLink(userId: string) {
  const workflowId = linkProviderId(userId, provider);
  return rig.client.workflow.start(linkProviderName, {
    workflowId,
    taskQueue: rig.taskQueue,
    args: [{ userId, provider }],
  });
}

async function signalsOf(userId: string): Promise<(string | null | undefined)[]> {
  const { events } = await rig.client.workflow.getHandle(linkProviderId(userId, provider)).fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? []);
}

test('a running link is woken by a plain signal, however its provider is spelt, and only the one of that user', async () => {
  const [userId, other] = [randomUUID(), randomUUID()];
  await startLink(userId);
  await startLink(other);
  const handler = newHandler();
  expect((await handler.handle(connected(userId))).status).toBe(204);
  expect((await handler.handle(connected(userId, 'Invented-Watch'))).status).toBe(204);
  expect(await signalsOf(userId)).toEqual(['connectionReported', 'connectionReported']);
  expect(await signalsOf(other)).toEqual([]);
  expect(handler.counts().answers).toMatchObject({ delivered: 2, link_not_running: 0 });
});

test('a webhook without a running link is answered 204, counted, and starts nothing', async () => {
  const [nobody, ended] = [randomUUID(), randomUUID()];
  await (await startLink(ended)).terminate();
  const handler = newHandler();
  for (const userId of [nobody, ended]) expect((await handler.handle(connected(userId))).status).toBe(204);
  expect(handler.counts()).toMatchObject({
    answers: { link_not_running: 2, delivered: 0 },
    passedOver: { 'provider.connection.created': 2 },
  });
  await expect(rig.client.workflow.getHandle(linkProviderId(nobody, provider)).describe()).rejects.toThrow(
    WorkflowNotFoundError,
  );
});
