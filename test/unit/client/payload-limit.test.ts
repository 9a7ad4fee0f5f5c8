import { randomBytes, randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { errors, labDataConverter, LabOperations, parseKeyRing } from '../../../client/index.js';
import { createWebhookHandler } from '../../../client/webhooks/handler.js';
import type { RejectedEventReceived } from '../../../client/webhooks/sinks.js';
import { clientAnsweredWith } from '../../rig/grpc-answers.js';
import { kitFor, shippingDetails } from '../../rig/cast.js';
import { rejection } from '../service/recording-server.js';
import { orderEvent, secret, signed } from '../webhooks/sending.js';

const dataConverter = labDataConverter(parseKeyRing(`k:${randomBytes(32).toString('base64')}`));

/** A client of a Temporal that refuses every call, with the calls that reached it. */
async function refusing(options = {}): Promise<{ client: Client; sent: string[] }> {
  const sent: string[] = [];
  const client = await clientAnsweredWith((method) => {
    if (method !== 'DescribeTaskQueue') sent.push(method);
    return { code: 7, details: 'refused' };
  }, options);
  return { client, sent };
}

const userId = randomUUID();
const mebibyte = 1024 * 1024;

const calls: [string, (lab: LabOperations, text: string) => Promise<unknown>][] = [
  [
    'a start',
    ({ orders }, text) => {
      const input = kitFor(userId, 'too-large');
      const address = { ...shippingDetails, receiver_name: text };
      return orders.place({ ...input, order: { ...input.order, shipping_details: address } });
    },
  ],
  ['an update', ({ notifications }, text) => notifications.discard('kit-order/invented', { ids: [text] })],
  ['an update that may start its workflow', ({ users }, text) => users.requestDeletion({ userId, clientUserId: text })],
];

describe.each(calls)('%s', (_name, call) => {
  test.each([
    ['above Temporal’s limit', 2 * mebibyte],
    ['above that of gRPC', 5 * mebibyte],
  ])('%s is refused with its size before it is sent', async (_which, length) => {
    for (const options of [{}, { dataConverter }]) {
      const { client, sent } = await refusing(options);
      const error = (await rejection(call(new LabOperations(client), 'x'.repeat(length)))) as errors.CallTooLarge;
      expect(error).toBeInstanceOf(errors.CallTooLarge);
      expect(error.bytes).toBeGreaterThan(length);
      expect(error.message).toContain(String(error.bytes));
      expect(sent).toEqual([]);
    }
  });

  test('below the limit is sent', async () => {
    const { client, sent } = await refusing({ dataConverter });
    const error = await rejection(call(new LabOperations(client), 'x'.repeat(2 * mebibyte - 16_384)));
    expect(error).toMatchObject({ name: 'TemporalRefused' });
    expect(sent).toHaveLength(1);
  });
});

test('the size is that of the bytes, not of the letters', async () => {
  const { client, sent } = await refusing();
  const discarding = new LabOperations(client).notifications.discard('kit-order/invented', {
    ids: ['é'.repeat(mebibyte)],
  });
  expect(await rejection(discarding)).toBeInstanceOf(errors.CallTooLarge);
  expect(sent).toEqual([]);
});

test('an event that becomes too large a signal is set aside, and not sent', async () => {
  const { client, sent } = await refusing({ dataConverter });
  const set: RejectedEventReceived[] = [];
  const rejected = async (event: RejectedEventReceived) => void set.push(event);
  const usual = { temporal: client, secrets: [secret], logger: false } as const;
  const handler = createWebhookHandler({ ...usual, maxBytes: 8 * mebibyte, rejected });
  const shipment = { outbound_tracking_number: 'x'.repeat(2 * mebibyte) };
  const event = orderEvent(randomUUID(), { details: { type: 'testkit', data: { shipment } } });
  expect((await handler.handle(signed(event))).status).toBe(204);
  expect(handler.counts().answers).toMatchObject({ event_set_aside: 1 });
  expect(set).toHaveLength(1);
  expect(sent).toEqual([]);
});
