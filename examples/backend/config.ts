import { readFileSync } from 'node:fs';
import type { ServiceConfig, ServiceDescription, WebhookPlace } from '../../client/index.js';

/** The settings of the example, from the environment. */
export interface BackendConfig {
  port: number;
  service: ServiceConfig;
  notifySecrets: string[];
  /** The folder that is also the worker's REPORT_ROOT. */
  reportFolder: string;
  taskQueue: string;
  /** With this key people sign in as staff; without it nobody can. */
  staffKey?: string;
  /** The worker's database, or a role of it that may only read. Without it there are no pages of health data. */
  databaseUrl?: string;
  /** The team whose webhook endpoints the staff manage. Without it they cannot. */
  webhookPlace?: WebhookPlace;
}

export function readConfig(env: NodeJS.ProcessEnv = process.env): BackendConfig {
  const { STAFF_KEY: staffKey, DATABASE_URL: databaseUrl } = env;
  const webhookPlace = placeOf(env);
  return {
    port: Number(env['PORT'] ?? '4000'),
    service: serviceOf(env),
    notifySecrets: [required(env, 'NOTIFY_SECRET')],
    reportFolder: required(env, 'REPORT_ROOT'),
    taskQueue: env['TASK_QUEUE'] || 'lab-operations',
    ...(staffKey !== undefined && staffKey !== '' && { staffKey }),
    ...(databaseUrl !== undefined && databaseUrl !== '' && { databaseUrl }),
    ...(webhookPlace && { webhookPlace }),
  };
}

/** The same settings as the worker's: a description says how the deployment differs. */
function serviceOf(env: NodeJS.ProcessEnv): ServiceConfig {
  const { SERVICE_DESCRIPTION: file, SERVICE_ENVIRONMENT: environment } = env;
  const apiKey = required(env, 'SERVICE_API_KEY');
  if (!file) return { apiKey, baseUrl: required(env, 'SERVICE_BASE_URL') };
  const description = JSON.parse(readFileSync(file, 'utf8')) as ServiceDescription;
  return { apiKey, description, ...(environment ? { environment } : { baseUrl: required(env, 'SERVICE_BASE_URL') }) };
}

/** The settings of `labops webhooks`. */
function placeOf(env: NodeJS.ProcessEnv): WebhookPlace | undefined {
  const { LABOPS_ORG_ID: orgId, LABOPS_TEAM_ID: teamId, LABOPS_ENVIRONMENT: environment } = env;
  if (orgId === undefined || teamId === undefined || environment === undefined) return undefined;
  return { orgId, teamId, environment };
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set. See examples/backend/README.md.`);
  return value;
}
