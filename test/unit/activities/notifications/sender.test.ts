import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, onTestFinished, test, vi } from 'vitest';
import { callMs, senderTo } from '../../../../activities/notifications/sender.js';
import { createNotificationHandler } from '../../../../client/notifications/index.js';
import type { CloudEvent } from '../../../../protocol/notifications/events.js';
import { answering, rejection, serving } from '../../service/recording-server.js';
import { closedPort } from '../../webhooks/sending.js';

const secret = `whsec_${Buffer.from('an-invented-secret-32-bytes-long').toString('base64')}`;

/** Failures are what this is about: they need not be read. */
const attempt = () => new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR', () => undefined) });

/** The failure of one delivery to a receiver at this address. */
const failureAt = (url: string): Promise<unknown> =>
  rejection(attempt().run(async () => senderTo({ url, secret }).send(event)));

const event: CloudEvent = {
  specversion: '1.0',
  id: 'order-1/7/phase_changed',
  source: 'kit-order/order-1',
  type: 'labops.order.phase_changed',
  subject: 'order-1',
  time: '2026-03-10T12:00:00.000Z',
  datacontenttype: 'application/json',
  data: {},
};

const delivered = { as: 'delivered' };

test('an endpoint that fails five times in a row is left alone for a moment, then asked by one delivery', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let status = 503;
  const { baseUrl, requests } = await answering(() => ({ status }));
  const { send } = senderTo({ url: baseUrl, secret });
  const sendOnce = () =>
    attempt()
      .run(() => send(event))
      .catch((error: unknown) => error);
  const paused = { type: 'ReceiverPaused', nonRetryable: false };
  for (let failures = 0; failures < 5; failures += 1)
    expect(await sendOnce()).toMatchObject({ type: 'NotificationRefused' });
  expect(await Promise.all([sendOnce(), sendOnce(), sendOnce()])).toMatchObject([paused, paused, paused]);
  expect(requests).toHaveLength(5);

  vi.setSystemTime(Date.now() + 10_000);
  const refused = { type: 'NotificationRefused' };
  expect(await Promise.all([sendOnce(), sendOnce(), sendOnce()])).toMatchObject([refused, paused, paused]);
  expect(await sendOnce()).toMatchObject(paused);
  expect(requests).toHaveLength(6);

  status = 204;
  vi.setSystemTime(Date.now() + 10_000);
  expect(await sendOnce()).toEqual(delivered);
  expect(await Promise.all([sendOnce(), sendOnce()])).toEqual([delivered, delivered]);
});

test.each([301, 302, 307, 308])('a redirect by %i is not followed, and the failure says so', async (status) => {
  const { baseUrl, requests } = await answering(() => ({ status, headers: { location: '/elsewhere' } }));
  const failure = await failureAt(baseUrl);
  expect(failure).toMatchObject({
    type: 'NotificationRefused',
    nonRetryable: false,
    message: expect.stringMatching(
      `NOTIFY_URL answered ${status} .+redirects are not followed: set NOTIFY_URL`,
    ) as string,
  });
  expect(requests.map(({ url }) => url)).toEqual(['/']);
});

test('a receiver that cannot be reached is a failure that says why', async () => {
  const failure = await failureAt(`http://127.0.0.1:${await closedPort()}`);
  expect(failure).toMatchObject({
    type: 'ReceiverUnreachable',
    message: expect.stringMatching(/^NOTIFY_URL cannot be reached \(ECONNREFUSED\): /) as string,
  });
});

test('a pause that the receiver asks for is in the failure as well, for a workflow that waits between two deliveries', async () => {
  const { baseUrl } = await answering(() => ({ status: 503, headers: { 'retry-after': '1800' } }));
  const failure = await failureAt(baseUrl);
  const asked = 1_800_000;
  expect(failure).toMatchObject({ nextRetryDelay: asked, details: [{ fields: [], retryAfterMs: asked }] });
});

test('a refusal for good says that the endpoint is there', async () => {
  const { baseUrl, requests } = await answering(() => ({ status: 422 }));
  const { send } = senderTo({ url: baseUrl, secret });
  for (let refusals = 0; refusals < 8; refusals += 1) {
    expect(await attempt().run(() => send(event))).toEqual({ as: 'refused', status: 422 });
  }
  expect(requests).toHaveLength(8);
});

test("the client's handler names its answer, and nothing of another receiver's body is repeated", async () => {
  const others = `whsec_${Buffer.from('another-invented-secret-32-bytes').toString('base64')}`;
  const handler = createNotificationHandler({ secrets: [others], on: {}, logger: false });
  const ours = await serving((request, response) => void handler.node(request, response));
  const { baseUrl } = await answering(() => ({ status: 401, body: { error: 'Testperson', data: event } }));
  const refusedBy = (url: string) => attempt().run(() => senderTo({ url, secret }).send(event));
  expect(await refusedBy(ours.baseUrl)).toEqual({ as: 'refused', status: 401, answer: 'signature_mismatch' });
  expect(await refusedBy(baseUrl)).toEqual({ as: 'refused', status: 401 });
});

test('a notification whose id cannot be a header is refused for good, so it holds up nothing that comes after it', async () => {
  const { baseUrl, requests } = await answering(() => ({ status: 204 }));
  const { send } = senderTo({ url: baseUrl, secret });
  for (const id of ['order-1/7.abnormal – see comment/correction', 'order-1/7.a\nb/correction', '']) {
    expect(await attempt().run(() => send({ ...event, id }))).toEqual({ as: 'refused', status: 400 });
  }
  expect(await attempt().run(() => send(event))).toEqual(delivered);
  expect(requests).toHaveLength(1);
});

test('an answer whose body never ends is a delivery all the same, and holds nothing up', async () => {
  const { baseUrl } = await serving((_request, response) => void response.writeHead(200).write('{'));
  const before = Date.now();
  expect(await attempt().run(() => senderTo({ url: baseUrl, secret }).send(event))).toEqual(delivered);
  expect(Date.now() - before).toBeLessThan(callMs);
});
