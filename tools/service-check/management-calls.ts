import type { Calls } from './calls.js';
import { ids } from './ids.js';

const { orgId, teamId, keyId, webhookId, accountId } = ids;
const region = { orgId, environment: 'sandbox', region: 'us' };
const place = { orgId, teamId, environment: 'sandbox' };
const url = 'https://product.example.com/webhooks';

const teams: Calls = {
  'management.teams.list': ({ management }) =>
    management.teams.list(orgId, { teamId, region: ['us'], searchQuery: 'invented' }),
  'management.teams.create': ({ management }) => management.teams.create(orgId, { name: 'Invented', region: 'us' }),
  'management.teams.create: with all fields': ({ management }) =>
    management.teams.create(orgId, {
      name: 'Invented',
      region: 'us',
      id: teamId,
      lab_tests_patient_sms_communication_enabled: true,
      lab_tests_patient_email_communication_enabled: false,
      critical_result_notification_email: 'alarm@example.com',
      logo_url: 'https://product.example.com/logo.png',
      reject_duplicate_connection: true,
      sdk_per_device_activity_timeseries: false,
      partial_webhooks_enabled: true,
      minor_ordering_enabled: false,
    }),
  'management.teams.get': ({ management }) => management.teams.get(orgId, teamId, { includeEnvironment: ['sandbox'] }),
  'management.teams.delete': ({ management }) => management.teams.delete(orgId, teamId),
};

const webhooks: Calls = {
  'management.webhooks.list': ({ management }) => management.webhooks.list(place),
  'management.webhooks.create': ({ management }) =>
    management.webhooks.create(place, {
      url,
      description: 'Invented',
      rate_limit: 10,
      disabled: false,
      filter_types: ['labtest.order.updated'],
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    }),
  'management.webhooks.get': ({ management }) => management.webhooks.get(place, webhookId),
  'management.webhooks.update': ({ management }) => management.webhooks.update(place, webhookId, { disabled: true }),
  'management.webhooks.delete': ({ management }) => management.webhooks.delete(place, webhookId),
  'management.webhooks.getHeaders': ({ management }) => management.webhooks.getHeaders(place, webhookId),
  'management.webhooks.setHeaders': ({ management }) =>
    management.webhooks.setHeaders(place, webhookId, { 'x-invented': 'invented' }),
  'management.webhooks.getSecret': ({ management }) => management.webhooks.getSecret(place, webhookId),
  'management.webhooks.rotateSecret': ({ management }) => management.webhooks.rotateSecret(place, webhookId),
};

const keys: Calls = {
  'management.managementKeys.list': ({ management }) => management.managementKeys.list(orgId),
  'management.managementKeys.create': ({ management }) =>
    management.managementKeys.create(orgId, {
      label: 'Invented',
      role: 'team_admin',
      team_role_bindings: [{ team_id: teamId }],
    }),
  'management.managementKeys.delete': ({ management }) => management.managementKeys.delete(orgId, keyId),
  'management.teamApiKeys.list': ({ management }) => management.teamApiKeys.list(region, { teamId }),
  'management.teamApiKeys.create': ({ management }) =>
    management.teamApiKeys.create(region, { team_id: teamId, label: 'Invented' }),
  'management.teamApiKeys.delete': ({ management }) => management.teamApiKeys.delete(region, [keyId]),
  'management.labAccounts.list': ({ management }) => management.labAccounts.list(region),
  'management.labAccounts.setTeams': ({ management }) => management.labAccounts.setTeams(region, accountId, [teamId]),
};

export const managementCalls: Calls = { ...teams, ...webhooks, ...keys };
