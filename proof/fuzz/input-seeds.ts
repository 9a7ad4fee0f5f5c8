import type { OperatorCallName } from '../../protocol/operators/operator-calls.js';
import { ids } from '../../tools/service-check/ids.js';
import {
  consents,
  insurance,
  patientAddress,
  patientInFull,
  physician,
  shippingDetails,
} from '../../tools/service-check/persons.js';
import { secret } from './webhooks.js';

const { userId, labTestId, accountId } = ids;
const { phone_number: _, ...importAddress } = patientAddress;
const policy = { shippingDeadline: '3d', onLost: 'replace', returnReminders: ['2d', '7d'] };

/** Orders of each kind, as a product places them. */
export const placings = [
  {
    kind: 'unregistered',
    reference: 'order-1001',
    order: { user_id: userId, lab_test_id: labTestId, shipping_details: shippingDetails },
    policy,
  },
  {
    kind: 'with_patient',
    reference: 'order-1002',
    order: {
      user_id: userId,
      order_set: { lab_test_ids: [labTestId], add_on: { marker_ids: [17], provider_ids: ['INVENTED'] } },
      collection_method: 'walk_in_test',
      patient_details: patientInFull,
      patient_address: patientAddress,
      physician,
      health_insurance: insurance,
      icd_codes: ['Z00.00'],
      aoe_answers: [{ marker_id: 17, question_id: 3, answer: 'invented' }],
      activate_by: '2099-01-01',
      consents,
      clinical_notes: 'Invented',
      lab_account_id: accountId,
    },
    policy,
  },
  {
    kind: 'import',
    reference: 'order-1003',
    order: {
      user_id: userId,
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [labTestId] },
      collection_method: 'testkit',
      patient_details: patientInFull,
      patient_address: importAddress,
      sample_id: 'INVENTED-1',
    },
  },
];

const encryptionKey = Buffer.from('an-invented-key-with-32-bytes-02').toString('base64');

/** Settings of all processes, as the environment has them. */
export const settings: Readonly<Record<string, string>> = {
  SERVICE_BASE_URL: 'http://127.0.0.1:4010/api',
  SERVICE_API_KEY: 'sk_invented',
  SERVICE_BRAND: 'service',
  SERVICE_TEAM_ID: ids.teamId,
  SERVICE_ECHOES_PASSTHROUGH: 'true',
  WEBHOOK_SECRETS: secret,
  WEBHOOK_MAX_BYTES: '2097152',
  NOTIFY_URL: 'http://127.0.0.1:4000/notifications',
  NOTIFY_SECRET: secret,
  DATABASE_URL: 'postgres://invented@127.0.0.1:5432/invented',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  TEMPORAL_NAMESPACE: 'default',
  TASK_QUEUE: 'lab-operations',
  LABOPS_ENCRYPTION_KEYS: `new:${encryptionKey},old:${encryptionKey}`,
  LABOPS_ENCRYPTION: 'required',
  HEALTH_DATA: 'off',
  LOG_LEVEL: 'info',
  SHUTDOWN_GRACE_SECONDS: '35',
  INGRESS_PORT: '8080',
  INGRESS_HOST: '127.0.0.1',
  INGRESS_DRAIN_SECONDS: '5',
  METRICS_PORT: '9090',
  CODEC_SERVER_PORT: '8081',
  CODEC_SERVER_TOKEN: 'an-invented-token-of-32-characters',
  CODEC_SERVER_ORIGINS: 'http://localhost:8233',
  REPORT_FILES_HOSTS: 'files.example.com',
  MAX_CACHED_WORKFLOWS: '500',
  REJECTED_EVENTS_DAYS: '90',
};

const webhook = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox', webhookId: 'ep_1' };

export const operatorInputs: readonly (readonly [OperatorCallName, object])[] = [
  ['updateWebhook', { ...webhook, url: 'https://a.example.com/', disabled: true }],
  ['setWebhookHeaders', { ...webhook, headers: { 'x-invented': 'invented' } }],
  ['rotateWebhookSecret', { ...webhook, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  ['replayNotifications', { since: '2026-11-27T18:00:00.000Z' }],
  ['replayRejectedEvents', { reason: 'not_handled', after: '17', limit: 10 }],
];
