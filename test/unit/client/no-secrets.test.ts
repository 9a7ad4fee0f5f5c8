import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { AppointmentHandle } from '../../../client/appointment/appointment-handle.js';
import { createLabService, labDataConverter, LabOperations, parseKeyRing } from '../../../client/index.js';
import { createWebhookHandler } from '../../../client/webhooks/index.js';
import { createNotificationHandler } from '../../../client/notifications/index.js';
import { LinkHandle } from '../../../client/link/link-handle.js';
import { MatchReviewHandle } from '../../../client/match-review/match-review-handle.js';
import { OrderHandle } from '../../../client/order/order-handle.js';
import { ReportHandle } from '../../../client/report/report-handle.js';
import { DeletionHandle } from '../../../client/user/deletion-handle.js';
import { TemporalCalls } from '../../../client/workflow-calls.js';
import { withoutCredentials } from '../../../client/user/export.js';

const made = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`;
const secrets = {
  ...{ temporal: made('temporal'), metadata: made('metadata'), service: made('sk'), management: made('mk') },
  signing: `whsec_${randomBytes(32).toString('base64')}`,
  encryption: randomBytes(32).toString('base64'),
};

const metadata = { 'x-team': secrets.metadata };
const connection = Connection.lazy({ address: '127.0.0.1:1', apiKey: secrets.temporal, metadata });
const temporal = new Client({ connection, dataConverter: labDataConverter(parseKeyRing(`k:${secrets.encryption}`)) });
const config = { baseUrl: 'http://127.0.0.1:1', apiKey: secrets.service, managementKey: secrets.management };
const lab = new LabOperations(temporal, { service: config });
const service = createLabService(config);
const calls = new TemporalCalls(temporal, { taskQueue: 'invented' });
const access = { calls, service };
const id = '6f0c0a49-2f0a-4b5e-8d6f-000000000001';

test.each(
  Object.entries({
    lab,
    ...Object.fromEntries(Object.entries(lab)),
    order: new OrderHandle(access, { reference: 'invented' }),
    report: new ReportHandle(access, { reference: 'invented' }),
    appointment: new AppointmentHandle(calls, id),
    'match review': new MatchReviewHandle(calls, id),
    link: new LinkHandle(calls, id, 'oura'),
    deletion: new DeletionHandle(calls, id),
    'lab service': service,
    'key ring': parseKeyRing(`k:${secrets.encryption}`),
    'webhook handler': createWebhookHandler({ temporal, secrets: [secrets.signing], taskQueue: 'invented' }),
    'notification handler': createNotificationHandler({ secrets: [secrets.signing], on: {} }),
  }),
)('%s shows no secret in a log, neither as JSON nor inspected', (_name, object) => {
  const shown = `${JSON.stringify(object)}${inspect(object, { depth: Infinity })}`;
  for (const [name, secret] of Object.entries(secrets)) expect(shown.includes(secret), name).toBe(false);
});

test('the export has what was sent without credentials: the token of a later run, a code, a signed address', () => {
  const link = { userId: 'u', phase: 'awaiting_code', tokens: 1 };
  const carried = { ...link, token: { token: 't', url: 'https://x.test/t' } };
  expect(withoutCredentials('start', { carried })).toEqual({ carried: link });
  expect(withoutCredentials('submitMfaCode', { code: '900001' })).toEqual({});
  const signed = { url: 'https://files.test/1.pdf?X-Amz-Signature=abc' };
  expect(withoutCredentials('start', { file: signed, reference: 'r' })).toEqual({ file: {}, reference: 'r' });
  const plain = { file: { url: 'https://files.test/1.pdf' }, site: { code: 'A7' } };
  expect(withoutCredentials('start', plain)).toEqual(plain);
  expect([null, undefined].map((content) => withoutCredentials('start', content))).toEqual([null, undefined]);
});
