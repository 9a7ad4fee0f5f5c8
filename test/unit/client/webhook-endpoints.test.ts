import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { EncryptionRequired, LabOperations, WebhookInvalid } from '../../../client/index.js';
import { rejection } from '../service/recording-server.js';

type Webhooks = LabOperations['webhooks'];

/** Nothing listens at Temporal's address. */
function webhooks(): Webhooks {
  const lab = new LabOperations(new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) }));
  onTestFinished(() => lab.close());
  return lab.webhooks;
}

const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };
const short = `whsec_${Buffer.alloc(23).toString('base64')}`;

test.each<[string, (all: Webhooks) => Promise<unknown>]>([
  ['change', (all) => all.update(place, 'ep_1', {})],
  ['url', (all) => all.update(place, 'ep_1', { url: 'labs.example.com' })],
  ['eventTypes', (all) => all.update(place, 'ep_1', { eventTypes: [''] })],
  ['rateLimit', (all) => all.update(place, 'ep_1', { rateLimit: 0 })],
  ['disabled', (all) => all.update(place, 'ep_1', { disabled: 'no' } as object)],
  ['filter_types', (all) => all.update(place, 'ep_1', { filter_types: [] } as object)],
  ['headers', (all) => all.setHeaders(place, 'ep_1', { 'X-Invented': 'two\nlines' })],
  ['headers', (all) => all.setHeaders(place, 'ep_1', { 'X Invented': 'yes' })],
  ['secret', (all) => all.rotate(place, 'ep_1', { secret: 'an-invented-secret' })],
  ['secret', (all) => all.rotate(place, 'ep_1', { secret: short })],
  ['webhookId', (all) => all.enable(place, '../team')],
  ['webhookId', (all) => all.get(place, '')],
])('a command whose %s breaks a rule is refused before anything is started', async (field, command) => {
  const error = await rejection(command(webhooks()));
  expect(error).toBeInstanceOf(WebhookInvalid);
  expect((error as WebhookInvalid).fields.map((fault) => fault.field)).toEqual([field]);
});

test('without encryption a rotation is refused before anything is started', async () => {
  expect(await rejection(webhooks().rotate(place, 'ep_1'))).toBeInstanceOf(EncryptionRequired);
});
