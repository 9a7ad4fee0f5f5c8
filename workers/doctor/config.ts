import type { WebhookPlace } from '../../service/management/webhooks.js';
import { type IngressConfig, readIngressConfig, readWorkerConfig, type WorkerConfig } from '../settings/config.js';
import { misspeltSettings } from '../settings/misspelt.js';
import { ConfigInvalid, type SettingFault } from '../settings/values.js';
import type { CodecEndpoint } from './codec-server.js';
import { type Finding, fault, notChecked, ok, type Verdict, warning } from './findings.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The settings of a deployment as far as they are valid, and what was found in them. */
export interface DoctorConfig {
  /** Undefined if its settings have faults. */
  worker: WorkerConfig | undefined;
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
  const ofWorker = verdictsOf(worker.faults, worker.config?.warnings ?? misspeltSettings(env));
  const ingress = isSet(env, 'WEBHOOK_SECRETS') ? attempt(() => readIngressConfig(env)) : undefined;
  const ofIngress = ingress && verdictsOf(ingress.faults, ingress.config?.warnings ?? []);
  const own = ofIngress?.filter(({ found }) => !ofWorker.some((other) => other.found === found));
  const valid = ingress?.config ? 'What is set here is valid for an ingress.' : 'Its other settings are valid.';
  return {
    worker: worker.config,
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
