import type { WebhookPlace } from '../service/management-webhooks.js';
import { type IngressConfig, readIngressConfig, readWorkerConfig, type WorkerConfig } from './config.js';
import { ConfigInvalid, type SettingFault } from './setting-faults.js';
import type { CodecEndpoint } from './doctor/codec-server.js';
import { type Finding, fault, ok, notChecked, warning } from './doctor/findings.js';
import { misspeltSettings } from './misspelt.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The settings of a deployment as far as they are valid, and what was found in them. */
export interface DoctorConfig {
  /** Absent if nothing can be read without the faulty settings. */
  worker?: WorkerConfig;
  /** The checks whose settings have faults: `worker` has stand-ins in their place. */
  unreadable: readonly string[];
  /** Present if the settings of the ingress are set here, too. */
  ingress?: IngressConfig;
  /** The team whose endpoints are checked: the settings of `labops webhooks`. */
  place?: WebhookPlace;
  /** Present if TEMPORAL_CODEC_ENDPOINT is set, as for the `temporal` command line. */
  codec?: CodecEndpoint;
  findings: Finding[];
}

/** Reads the settings of the worker and, if WEBHOOK_SECRETS is set, those of the ingress. A fault is a finding, not an error. */
export function readDoctorConfig(env: Env = process.env): DoctorConfig {
  const worker = attempt(() => readWorkerConfig(env));
  const rest = worker.config ? { env, checks: [] } : withoutFaulty(env, worker.invalid);
  const config = worker.config ?? attempt(() => readWorkerConfig(rest.env)).config;
  const ingress = isSet(env, 'WEBHOOK_SECRETS') ? attempt(() => readIngressConfig(env)) : undefined;
  const hints = worker.config ? worker.config.warnings : misspeltSettings(env);
  const known = new Set(worker.faults.map(({ found }) => found));
  const findings: Finding[] = [
    ...of('settings', [...worker.faults, ...hints.map(asWarning)], 'What is set here is valid for a worker.'),
    ...(ingress
      ? of(
          'ingress settings',
          [
            ...ingress.faults.filter(({ found }) => !known.has(found)),
            ...(ingress.config?.warnings ?? []).filter((text) => !hints.includes(text)).map(asWarning),
          ],
          ingress.config ? 'What is set here is valid for an ingress.' : 'Its other settings are valid.',
        )
      : [{ check: 'ingress settings', ...notChecked('WEBHOOK_SECRETS is not set here') }]),
  ];
  const [place, codec] = [placeOf(env), codecOf(env)];
  return {
    ...(config && { worker: config }),
    unreadable: rest.checks,
    ...(ingress?.config && { ingress: ingress.config }),
    ...(place && { place }),
    ...(codec && { codec }),
    findings,
  };
}

type Verdicts = readonly ReturnType<typeof fault>[];

function of(check: string, verdicts: Verdicts, allValid: string): Finding[] {
  return (verdicts.length > 0 ? verdicts : [ok(allValid)]).map((verdict) => ({ check, ...verdict }));
}

/**
 * Checks by the settings that they depend on, and what stands in for these settings while one of them has a fault. A
 * setting belongs to the first group that fits; a setting of no group decides no check.
 */
const groups: readonly { of: RegExp; checks: readonly string[]; standIn?: Env }[] = [
  { of: /^TEMPORAL_(DEPLOYMENT_NAME|WORKER_BUILD_ID)$/, checks: ['release'] },
  { of: /^(TEMPORAL_|TASK_QUEUE$)/, checks: ['Temporal'] },
  { of: /^(ENCRYPTION$|LABOPS_ENCRYPTION_KEYS)/, checks: ['encryption'], standIn: { ENCRYPTION: 'optional' } },
  { of: /^LABOPS_(FORMER_)?INSTALLATION/, checks: ['installations'], standIn: { LABOPS_INSTALLATION: 'stand-in' } },
  { of: /^RECONCILE_/, checks: ['reconciliation', 'retention'] },
  { of: /^(DATABASE_|HEALTH_DATA)/, checks: ['database'] },
  { of: /^SERVICE_ECHOES_PASSTHROUGH$/, checks: ['retention', 'installations'] },
  {
    of: /^SERVICE_/,
    checks: ['lab service', 'clock (service)', 'webhook endpoint', 'installations'],
    standIn: { SERVICE_BASE_URL: 'https://service.invalid', SERVICE_API_KEY: 'stand-in' },
  },
  { of: /^NOTIF/, checks: ['notifications'] },
];

/** One wrong setting must not hide what the others are good for. */
function withoutFaulty(env: Env, faults: readonly SettingFault[]): { env: Env; checks: readonly string[] } {
  const names = faults.map(({ setting }) => setting);
  const groupOf = (name: string) => groups.find(({ of: settings }) => settings.test(name));
  const faulty = groups.filter((group) => names.some((name) => groupOf(name) === group));
  const isFaulty = (name: string) => names.includes(name) || faulty.some((group) => groupOf(name) === group);
  const kept = Object.entries(env).filter(([name]) => !isFaulty(name));
  const standIns = faulty.flatMap(({ standIn = {} }) => Object.entries(standIn));
  return { env: Object.fromEntries([...kept, ...standIns]), checks: faulty.flatMap(({ checks }) => checks) };
}

interface Attempt<Config> {
  config?: Config;
  faults: Verdicts;
  invalid: readonly SettingFault[];
}

function attempt<Config>(read: () => Config): Attempt<Config> {
  try {
    return { config: read(), faults: [], invalid: [] };
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    const faults = error.faults.map(({ setting, problem, remedy }) =>
      fault(`${setting} ${problem}.`, sentence(remedy)),
    );
    return { faults, invalid: error.faults };
  }
}

/** A warning of the settings names the fault, a colon, and the remedy. */
function asWarning(text: string): ReturnType<typeof warning> {
  const at = text.indexOf(': ');
  return at === -1
    ? warning(text, 'See docs/settings.md.')
    : warning(`${text.slice(0, at)}.`, sentence(text.slice(at + 2)));
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? '' : '.'}`;
}

function isSet(env: Env, name: string): boolean {
  return [name, `${name}_FILE`].some((each) => (env[each] ?? '').trim() !== '');
}

function placeOf(env: Env): WebhookPlace | undefined {
  const [orgId, teamId, environment] = ['LABOPS_ORG_ID', 'LABOPS_TEAM_ID', 'LABOPS_ENVIRONMENT'].map(
    (name) => env[name]?.trim() || undefined,
  );
  return orgId && teamId && environment ? { orgId, teamId, environment } : undefined;
}

function codecOf(env: Env): CodecEndpoint | undefined {
  const [url, authorization] = ['TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_AUTH'].map((name) => env[name]?.trim());
  return url ? { url, ...(authorization && { authorization }) } : undefined;
}
