import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { errors, LabOperations } from '../../client/index.js';
import { rejectedEventsId, webhookEndpointsId } from '../../protocol/ids.js';
import {
  callFaults,
  operatorCalls,
  unprotected,
  type OperatorCallName,
} from '../../protocol/operators/operator-calls.js';
import { operatorCall } from '../../workflows/operator-calls.js';
import { Life } from './life.js';
import { rejection } from './service/recording-server.js';

const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };
const webhook = { ...place, webhookId: 'ep_1' };
const url = 'https://labs.example.com/webhooks';
const short = `whsec_${Buffer.alloc(23).toString('base64')}`;

test.each<[OperatorCallName, object | null, string]>([
  ['listWebhooks', null, 'input'],
  ['listWebhooks', [], 'input'],
  ['listWebhooks', { ...place, teamId: 'somebody@example.com' }, 'teamId'],
  ['listWebhooks', { ...place, environment: undefined }, 'environment'],
  ['registerWebhook', place, 'url'],
  ['registerWebhook', { ...place, url: 'labs.example.com' }, 'url'],
  ['registerWebhook', { ...place, url: 'ftp://labs.example.com' }, 'url'],
  ['registerWebhook', { ...place, url, eventTypes: 'all' }, 'eventTypes'],
  ['readWebhook', { ...place, webhookId: '' }, 'webhookId'],
  ['deleteWebhook', { ...place, webhookId: '../team' }, 'webhookId'],
  ['updateWebhook', webhook, 'change'],
  ['updateWebhook', { ...webhook, url: 7 }, 'url'],
  ['updateWebhook', { ...webhook, eventTypes: [''] }, 'eventTypes'],
  ['updateWebhook', { ...webhook, rateLimit: 0 }, 'rateLimit'],
  ['updateWebhook', { ...webhook, disabled: 'no' }, 'disabled'],
  ['updateWebhook', { ...webhook, description: 7 }, 'description'],
  ['updateWebhook', { ...webhook, filter_types: [] }, 'filter_types'],
  ['setWebhookHeaders', { ...webhook, headers: 'all' }, 'headers'],
  ['setWebhookHeaders', { ...webhook, headers: { 'X-Invented': 'two\nlines' } }, 'headers'],
  ['setWebhookHeaders', { ...webhook, headers: { 'X Invented': 'yes' } }, 'headers'],
  ['rotateWebhookSecret', { ...webhook, secret: 'an-invented-secret' }, 'secret'],
  ['rotateWebhookSecret', { ...webhook, secret: short }, 'secret'],
  ['listRejectedEvents', { limit: 0 }, 'limit'],
  ['listRejectedEvents', { limit: 1_001 }, 'limit'],
  ['listRejectedEvents', { after: 'x' }, 'after'],
  ['listRejectedEvents', { state: 'odd' }, 'state'],
  ['listRejectedEvents', { eventType: 7 }, 'eventType'],
  ['replayRejectedEvents', { limit: 10_001 }, 'limit'],
  // Without an id it would mean all of them.
  ['replayRejectedEvents', { id: null }, 'id'],
  ['replayRejectedEvents', { event_type: 'misspelt' }, 'event_type'],
  ['replayRejectedEvents', null, 'input'],
  ['discardRejectedEvent', { id: '1', reason: '  ' }, 'reason'],
  ['discardRejectedEvent', { id: '1', reason: 'x'.repeat(501) }, 'reason'],
  ['discardRejectedEvent', { reason: 'a test' }, 'id'],
  ['replayNotifications', { since: '2026-11-27' }, 'since'],
  ['replayNotifications', { since: "2026-11-27T18:00:00.000Z' OR WorkflowId = 'x" }, 'since'],
])('%s with %j is refused for its %s', (name, input, field) => {
  const faults = callFaults(name, input);
  expect(faults.map((fault) => fault.field)).toEqual([field]);
  expect(JSON.stringify(faults)).not.toContain('somebody');
});

test.each<[OperatorCallName, object]>([
  ['registerWebhook', { ...place, url, eventTypes: null }],
  ['updateWebhook', { ...webhook, rateLimit: null }],
  ['updateWebhook', { ...webhook, url, description: '', disabled: false, eventTypes: [], rateLimit: 5 }],
  ['setWebhookHeaders', { ...webhook, headers: {} }],
  ['rotateWebhookSecret', { ...webhook, secret: `whsec_${Buffer.alloc(24).toString('base64')}` }],
  ['listRejectedEvents', { state: 'expired', eventType: 'a', reason: 'b', after: '17', limit: 1_000 }],
  ['replayRejectedEvents', {}],
  ['replayRejectedEvents', { id: '17' }],
  ['discardRejectedEvent', { id: '17', reason: 'x'.repeat(500) }],
  ['replayNotifications', { since: '2026-11-27T18:00:00.000Z' }],
])('%s takes %j', (name, input) => expect(callFaults(name, input)).toEqual([]));

test('without encryption, what holds or answers a credential is refused, and nothing else', () => {
  const needs = (input: object) =>
    (Object.keys(operatorCalls) as OperatorCallName[]).filter((name) => unprotected(name, input as never));
  const always = ['readWebhookHeaders', 'setWebhookHeaders', 'rotateWebhookSecret'];
  expect(needs({ ...webhook, url })).toEqual(always);
  const signed = needs({ ...webhook, url: `${url}?token=invented` });
  expect(signed.toSorted()).toEqual([...always, 'registerWebhook', 'updateWebhook'].toSorted());
});

test('the client refuses a call that breaks a rule, or would show a credential, before anything is started', async () => {
  // Nothing listens at Temporal's address.
  const lab = new LabOperations(new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) }));
  onTestFinished(() => lab.close());
  const invalid = { name: 'OperatorCallInvalid', fields: [{ field: 'webhookId' }] };
  expect(await rejection(lab.webhooks.enable(place, '../team'))).toMatchObject(invalid);
  expect(await rejection(lab.rejectedEvents.discard('1', { reason: '' }))).toBeInstanceOf(errors.OperatorCallInvalid);
  expect(await rejection(lab.rejectedEvents.replay(undefined as never))).toBeInstanceOf(errors.OperatorCallInvalid);
  expect(await rejection(lab.webhooks.rotate(place, 'ep_1'))).toBeInstanceOf(errors.EncryptionRequired);
});

/** The run that a backend in another language starts for a call. */
async function run(input: object, workflowId = webhookEndpointsId(place), answers = {}): Promise<Life> {
  return new Life({ workflow: operatorCall, type: 'operatorCall', workflowId, now: 0 }, answers).start(input);
}

test.each([
  [{ ...place }, 'do'],
  [{ do: 'toString', ...place }, 'do'],
  [{ do: 'readWebhook', ...place }, 'webhookId'],
  [{ do: 'listWebhooks', ...place, teamId: 'team-2' }, 'workflowId'],
])('the worker refuses %j for its %s before it does anything', async (input, field) => {
  const { run: ended, calls } = await run(input);
  expect(ended.end).toMatchObject({ kind: 'failed', type: 'InvalidCommand', details: { fields: [{ field }] } });
  expect(calls).toEqual([]);
});

const echo = (_now: number, argument: unknown) => argument;
const completed = (result: unknown) => ({ kind: 'completed', result });

test('a field that another language writes as null is left out, except where null removes a limit', async () => {
  const change = { ...webhook, url: null, rateLimit: null };
  const updated = await run({ do: 'updateWebhook', ...change }, undefined, { updateWebhook: echo });
  expect(updated.run.end).toEqual(completed({ ...webhook, rateLimit: null }));
  const id = rejectedEventsId('invented');
  const listed = await run({ do: 'listRejectedEvents', after: null }, id, { listRejectedEvents: echo });
  expect(listed.run.end).toEqual(completed({}));
});

test('a rotation names the secret from before, so one whose answer was lost is recognised; a given secret is recognised by itself', async () => {
  const answers = { fingerprintWebhookSecret: 'a fingerprint', rotateWebhookSecret: echo };
  const made = await run({ do: 'rotateWebhookSecret', ...webhook }, undefined, answers);
  expect(made.run.end).toEqual(completed({ ...webhook, before: 'a fingerprint' }));
  const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
  const given = await run({ do: 'rotateWebhookSecret', ...webhook, secret }, undefined, answers);
  expect(given.run.end).toEqual(completed({ ...webhook, secret }));
  expect(given.calls).toEqual(['0h rotateWebhookSecret']);
});

test('a replay of many rejected events shows how many are handled so far', async () => {
  const pages = [{ replayed: { delivered: 49 }, left: { not_handled: 1 }, leftEvents: [], next: '7' }];
  const answers = { replayRejectedEvents: () => pages.shift() ?? { failure: { type: 'StoreUnavailable' } } };
  const replay = await run({ do: 'replayRejectedEvents' }, rejectedEventsId('invented'), answers);
  expect(await replay.run.query('progress')).toMatchObject({ replayed: { delivered: 49 }, left: { not_handled: 1 } });
});

test.each(['ManagementKeyMissing', 'EncryptionRequired'])('a call that fails with %s says so, once', async (type) => {
  const listWebhooks = { failure: { type } };
  const { run: ended, calls } = await run({ do: 'listWebhooks', ...place }, undefined, { listWebhooks });
  expect(ended.end).toMatchObject({ kind: 'failed', type });
  expect(calls).toHaveLength(1);
});
