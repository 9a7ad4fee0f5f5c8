import type { WebhookPlace } from '../../service/management/webhooks.js';
import { type IngressConfig, readIngressConfig, readWorkerConfig, type WorkerConfig } from '../settings/config.js';
import { misspeltSettings } from '../settings/misspelt.js';
import { ConfigInvalid, type SettingFault } from '../settings/values.js';
import type { CodecEndpoint } from './codec-server.js';
import { type Finding, fault, notChecked, ok, type Verdict, warning } from './findings.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The settings of a deployment as far as they are valid, and what was found in them. */
export interface DoctorConfig {
  /** Undefined if nothing can be read without the faulty settings. */
  worker: WorkerConfig | undefined;
  /** The checks whose settings have faults: `worker` has stand-ins in their place. */
  unreadable: readonly string[];
  /** Undefined if the settings of the ingress are not set here, or have faults. */
  ingress: IngressConfig | undefined;
  /** The team whose endpoints are checked: the settings of `labops webhooks`. */
  place: WebhookPlace | undefined;
  /** Undefined if TEMPORAL_CODEC_ENDPOINT is not set, which the `temporal` command line reads, too. */
  codec: CodecEndpoint | undefined;
  findings: Finding[];
}

/** Reads the settings of the worker and, if WEBHOOK_SECRETS is set, those of the ingress. A fault is a finding, not an error. */
export function readDoctorConfig(env: Env = process.env): DoctorConfig {
  const worker = attempt(() => readWorkerConfig(env));
  const rest = withoutFaulty(env, worker.faults);
  const ofWorker = verdictsOf(worker.faults, worker.config?.warnings ?? misspeltSettings(env));
  const ingress = isSet(env, 'WEBHOOK_SECRETS') ? attempt(() => readIngressConfig(env)) : undefined;
  const ofIngress = ingress && verdictsOf(ingress.faults, ingress.config?.warnings ?? []);
  const own = ofIngress?.filter(({ found }) => !ofWorker.some((other) => other.found === found));
  const valid = ingress?.config ? 'What is set here is valid for an ingress.' : 'Its other settings are valid.';
  return {
    worker: worker.config ?? attempt(() => readWorkerConfig(rest.env)).config,
    unreadable: rest.checks,
    ingress: ingress?.config,
    place: placeOf(env),
    codec: codecOf(env),
    findings: [
      ...findingsOf('settings', ofWorker, 'What is set here is valid for a worker.'),
      ...findingsOf('ingress settings', own ?? [notChecked('WEBHOOK_SECRETS is not set here')], valid),
    ],
  };
}

function findingsOf(check: string, verdicts: readonly Verdict[], allValid: string): Finding[] {
  return (verdicts.length > 0 ? verdicts : [ok(allValid)]).map((verdict) => ({ check, ...verdict }));
}

function verdictsOf(faults: readonly SettingFault[], warnings: readonly string[]): Verdict[] {
  return [
    ...faults.map(({ setting, problem, remedy }) => fault(`${setting} ${problem}.`, sentence(remedy))),
    // A warning names what is wrong, a colon, and the remedy.
    ...warnings.map((text) => {
      const [found = '', remedy = 'see docs/settings.md'] = text.split(/: (.*)/s);
      return warning(`${found.replace(/\.$/, '')}.`, sentence(remedy));
    }),
  ];
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? '' : '.'}`;
}

function attempt<Config>(read: () => Config): { config?: Config; faults: readonly SettingFault[] } {
  try {
    return { config: read(), faults: [] };
  } catch (error) {
    if (error instanceof ConfigInvalid) return { faults: error.faults };
    throw error;
  }
}

/**
 * Checks by the settings that they depend on, and what stands in for these settings while one of them has a fault. A
 * setting belongs to the first group that fits; a setting of no group decides no check.
 */
const groups: readonly { of: RegExp; checks: readonly string[]; standIn?: Env }[] = [
  { of: /^TEMPORAL_(DEPLOYMENT_NAME|WORKER_BUILD_ID)$/, checks: ['release'] },
  { of: /^(TEMPORAL_|TASK_QUEUE$)/, checks: ['Temporal'] },
  {
    of: /^(LABOPS_)?ENCRYPTION/,
    checks: ['encryption', 'encryption keys'],
    standIn: { LABOPS_ENCRYPTION: 'optional' },
  },
  { of: /^LABOPS_(FORMER_)?INSTALLATION/, checks: ['installations'], standIn: { LABOPS_INSTALLATION: 'stand-in' } },
  { of: /^RECONCILE_/, checks: ['reconciliation', 'retention'] },
  { of: /^(DATABASE_|HEALTH_DATA)/, checks: ['database'] },
  { of: /^SERVICE_ECHOES_PASSTHROUGH$/, checks: ['retention', 'installations'] },
  {
    of: /^SERVICE_/,
    checks: ['lab service', 'clock', 'webhook endpoint', 'installations'],
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
