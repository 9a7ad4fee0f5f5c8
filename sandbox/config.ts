import { serviceDescriptionIn } from '../client/files.js';
import { type ServiceDescription, serviceFields, settingOf } from '../service/description.js';
import type { LabServiceOptions } from './lab-service/server.js';
import { secretFault } from './lab-service/settings.js';

/** The settings cannot be used: every fault is named, each with the setting to change. */
export class SandboxConfigError extends Error {
  override readonly name = 'SandboxConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The sandbox cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

const defaultPort = 4010;
const defaultIngressPort = 4000;
const realDaySeconds = 86_400;

/**
 * The stand-in's options from the environment; docs/sandbox.md lists the settings.
 * @throws SandboxConfigError that names all faults at once
 */
export function readSandboxConfig(environment: NodeJS.ProcessEnv = process.env): LabServiceOptions {
  const faults: string[] = [];
  const setting = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const number = numbersIn(environment, faults);
  const port = number('SANDBOX_PORT', defaultPort, 'a port from 0 to 65535', isPort);
  const ingressPort = number('INGRESS_PORT', defaultIngressPort, 'a port from 0 to 65535', isPort);
  const daySeconds = number('SANDBOX_DAY_SECONDS', realDaySeconds, 'a number above 0', (value) => value > 0);
  // Empty is a choice (no webhooks), not an absence.
  const webhookUrl = (environment['SANDBOX_WEBHOOK_URL'] ?? `http://127.0.0.1:${ingressPort}/webhooks`).trim();
  if (webhookUrl !== '' && !isHttpUrl(webhookUrl)) {
    faults.push(
      `SANDBOX_WEBHOOK_URL is "${webhookUrl}": it must be an http or https address, or empty for no webhooks`,
    );
  }
  const apiKey = setting('SERVICE_API_KEY') ?? '';
  if (apiKey === '') faults.push('SERVICE_API_KEY is missing: set it to the key that callers will send');
  const managementKey = setting('SERVICE_MANAGEMENT_KEY');
  if (managementKey !== undefined && managementKey === apiKey) {
    faults.push('SERVICE_MANAGEMENT_KEY is the same as SERVICE_API_KEY: set another one');
  }
  const file = setting('SERVICE_DESCRIPTION');
  const inFile = file === undefined ? {} : serviceDescriptionIn(file);
  const description: ServiceDescription = Array.isArray(inFile) ? {} : inFile;
  if (Array.isArray(inFile)) faults.push(...inFile.map((fault) => `SERVICE_DESCRIPTION ${fault}`));
  for (const field of ['brand', 'ordersPath', 'usersPath', 'createOrderPath'] as const) {
    const given = setting(settingOf[field]);
    if (given === undefined) continue;
    const { error } = serviceFields[field].safeParse(given);
    faults.push(...(error?.issues ?? []).map(({ message }) => `${settingOf[field]} ${message}`));
    description[field] = given;
  }
  const address = description.addresses?.[setting('SERVICE_ENVIRONMENT') ?? ''];
  const secret = setting('WEBHOOK_SECRETS')?.split(',')[0]?.trim();
  if (webhookUrl !== '') faults.push(...secretFaults(secret));
  if (faults.length > 0) throw new SandboxConfigError(faults);
  return {
    port,
    host: setting('SANDBOX_HOST') ?? '127.0.0.1',
    apiKey,
    ...(managementKey !== undefined && { managementKey }),
    description,
    ...(address !== undefined && { basePath: new URL(address).pathname.replace(/\/$/, '') }),
    settings: { webhookUrl, webhookSecrets: secret === undefined ? [] : [secret], daySeconds },
  };
}

/** The shell may have the settings of a real deployment: what is played here must not reach it. */
const deployment =
  /^(TEMPORAL|SERVICE|NOTIFY|REPORT|WEBHOOK|SANDBOX|INGRESS|LABOPS|CODEC|DATABASE|HEALTH_DATA|METRICS)_|^(NOTIFICATIONS|HEALTH_DATA|TASK_QUEUE|LOG_LEVEL|MAX_CACHED_WORKFLOWS)$/;

export function withoutDeployment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined || deployment.test(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

/** Reads settings that are numbers, and adds a fault for each that breaks its rule. */
export function numbersIn(environment: NodeJS.ProcessEnv, faults: string[]) {
  return (name: string, otherwise: number, rule: string, holds: (value: number) => boolean): number => {
    const text = environment[name]?.trim();
    const value = text ? Number(text) : otherwise;
    if (!holds(value)) faults.push(`${name} is "${text}": it must be ${rule}`);
    return value;
  };
}

export function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 65_535;
}

/** A secret itself is never shown. */
function secretFaults(secret: string | undefined): string[] {
  if (secret === undefined) {
    return [
      'WEBHOOK_SECRETS is missing: set it to whsec_…, or set SANDBOX_WEBHOOK_URL to an empty text to send no webhooks',
    ];
  }
  const fault = secretFault(secret);
  return fault === undefined ? [] : [`WEBHOOK_SECRETS: the first secret ${fault}`];
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}
