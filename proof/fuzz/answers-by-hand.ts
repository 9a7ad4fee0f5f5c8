import { ids } from '../../tools/service-check/ids.js';

/** Answers that the sandbox does not give to the sample requests, in the forms of docs/internals/lab-service.md. */

const appointment = {
  id: 'cb1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  user_id: ids.userId,
  order_id: ids.orderId,
  order_transaction_id: ids.transactionId,
  address: {
    first_line: '77 Fictional Avenue',
    second_line: null,
    city: 'Nowhereville',
    state: 'IL',
    zip_code: '62701',
  },
  location: { lng: -89.6, lat: 39.8 },
  start_at: '2026-02-03T15:00:00',
  end_at: '2026-02-03T16:00:00',
  iana_timezone: 'America/Chicago',
  type: 'phlebotomy',
  provider: 'invented_visits',
  provider_id: 'invented-1',
  external_id: 'INV-1',
  status: 'confirmed',
  event_status: 'scheduled',
  event_data: null,
  can_reschedule: true,
  appointment_notes: null,
  events: [{ created_at: '2026-02-01T10:00:00Z', status: 'scheduled', data: null }],
};

const webhook = {
  id: ids.webhookId,
  url: 'https://product.example.com/webhooks',
  description: 'Invented',
  rate_limit: 10,
  disabled: false,
  filter_types: ['labtest.order.updated'],
  created_at: '2026-01-05T10:00:00Z',
  updated_at: '2026-01-05T10:00:00Z',
};

const managementKey = {
  id: ids.keyId,
  label: 'Invented',
  created_at: '2026-01-05T10:00:00Z',
  creator: { type: 'management_key', id: ids.keyId },
  role: 'team_admin',
  team_role_bindings: [{ team_id: ids.teamId }],
};

const teamKey = {
  id: ids.keyId,
  label: 'Invented',
  value: 'sk_invented',
  team_id: ids.teamId,
  created_at: '2026-01-05T10:00:00Z',
};

const byName: Readonly<Record<string, unknown>> = {
  'management.webhooks.list': { data: [webhook], next_cursor: null },
  'management.webhooks.create': webhook,
  'management.webhooks.get': webhook,
  'management.webhooks.update': webhook,
  'management.webhooks.delete': {},
  'management.webhooks.getHeaders': { headers: { 'x-invented': 'invented' }, sensitive: ['authorization'] },
  'management.webhooks.setHeaders': {},
  'management.webhooks.getSecret': { key: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  'management.webhooks.rotateSecret': {},
  'management.managementKeys.create': { ...managementKey, key: 'mk_invented' },
  'management.managementKeys.delete': {},
  'management.teamApiKeys.list': { api_keys: [teamKey], next_cursor: null },
  'management.teamApiKeys.create': teamKey,
};

const withAppointment = /^(?:appointments|walkIns)\.(?:book|request|reschedule|cancel|get)\b/;

export function byHand(call: string): unknown {
  return withAppointment.test(call) ? appointment : byName[call];
}
