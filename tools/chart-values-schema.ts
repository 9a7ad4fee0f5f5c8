import { z } from 'zod';
import { settingsOf } from '../workers/settings/config.js';
import { secretSettings, settings } from '../workers/settings/settings.js';

type Schema = Record<string, unknown>;

/** The chart sets these itself, because a port, a volume or a policy belongs to each. */
const ofTheChart = [
  ...['METRICS_HOST', 'METRICS_PORT', 'INGRESS_HOST', 'INGRESS_PORT', 'CODEC_HOST', 'CODEC_PORT', 'CODEC_OPEN'],
  ...['NOTIFICATIONS', 'HEALTH_DATA', 'SERVICE_DESCRIPTION', 'TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'],
];

const isOpen = (name: string) => name in settings && !ofTheChart.includes(name) && !secretSettings.includes(name);

const text = { type: 'string' };
const flag = { type: 'boolean' };
const list = { type: 'array', items: { type: 'object' } };
const object = { type: 'object' };
const texts = { type: 'object', additionalProperties: text };
const count = { type: 'integer', minimum: 1 };
const rules = {
  type: 'object',
  additionalProperties: { ...closed({ to: list, ports: list }), required: ['to', 'ports'] },
};
const scalar = { type: ['string', 'number', 'boolean'] };

/** Worker and ingress have these in common. */
const shared = settingsOf.worker.filter((name) => settingsOf.ingress.includes(name));

/** Those that a program has for itself: of the common ones, only those that the codec server reads as well. */
const ownOf = (names: readonly string[]) =>
  names.filter((name) => !(shared as string[]).includes(name) || (settingsOf.codecServer as string[]).includes(name));

/** The schema of the chart's values, as JSON: the settings of each program by their names, so a misspelt one is refused. */
export function chartValuesSchema(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Written by `npm run docs` from tools/chart-values-schema.ts: edit that.',
    ...closed({
      global: object,
      image: closed({
        ...{ repository: text, tag: text },
        digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      }),
      serviceDescription: text,
      notifications: closed({ enabled: flag }),
      healthData: closed({ enabled: flag }),
      audit: closed({ enabled: flag }),
      ...programValues(),
      autoscaling: closed({
        ...{ enabled: flag, minReplicas: count, maxReplicas: count, targetQueueSize: count, cooldownSeconds: count },
        triggerAuthentication: text,
      }),
      workerVersioning: closed({ enabled: flag, connection: object, rollout: object, sunset: object }),
      prometheusOperator: closed({
        ...{ enabled: flag, labels: texts, interval: text },
        docs: { type: 'string', pattern: '^(https?://.+/)?$' },
      }),
      networkPolicies: closed({
        enabled: flag,
        egress: { ...rules, required: ['dns', 'database'] },
        workerEgress: rules,
        ...{ toIngress: list, toCodecServer: list, toMetrics: list },
      }),
      ...{ env: list, pod: object, podAnnotations: texts, podLabels: texts },
    }),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function programValues() {
  const volumes = { volumes: list, volumeMounts: list };
  const valuesOf = (names: readonly string[], ...required: string[]) => ({
    settings: { ...closed(settingsSchema(ownOf(names))), required },
    secrets: secretsSchema(names),
    resources: object,
  });
  const { secrets, resources } = valuesOf(settingsOf.migration);
  return {
    settings: {
      ...closed(settingsSchema(shared)),
      patternProperties: { '^TEMPORAL_(ADDRESS|NAMESPACE|PROFILE|CONFIG_FILE|TLS(_[A-Z_]+)?)$': scalar },
      required: ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TASK_QUEUE'],
    },
    secrets: secretsSchema(shared),
    worker: closed({ replicas: count, ...valuesOf(settingsOf.worker, 'SERVICE_TIMEOUT_SECONDS'), ...volumes }),
    ingress: closed({
      replicas: count,
      ...valuesOf(settingsOf.ingress, 'INGRESS_DRAIN_SECONDS', 'SHUTDOWN_GRACE_SECONDS'),
      ...volumes,
    }),
    codecServer: closed({ enabled: flag, ...valuesOf(settingsOf.codecServer, 'SHUTDOWN_GRACE_SECONDS'), ...volumes }),
    migration: closed({ enabled: flag, secrets, resources, ...volumes }),
  };
}

function closed(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties, additionalProperties: false };
}

function settingsSchema(names: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(names.filter(isOpen).map((name) => [name, settingSchema(name as keyof typeof settings)]));
}

/** Values are YAML, so a number or a flag may come without quotes. A blank setting is not set. */
function settingSchema(name: keyof typeof settings): Schema {
  const schema = z.toJSONSchema(settings[name], { io: 'input', unrepresentable: 'any' });
  const { description } = schema;
  if (schema.enum?.includes('true')) return { description, enum: [true, false, ...schema.enum, ''] };
  if (schema.enum) return { description, enum: [...schema.enum, ''] };
  if (schema.pattern?.startsWith(String.raw`^\d`))
    return { description, type: ['integer', 'string'], pattern: '^\\d*$' };
  return { description, ...scalar };
}

/** Where each secret setting of a program comes from. */
function secretsSchema(names: readonly string[]): Schema {
  const secrets = [...names, ...(names.includes('TEMPORAL_*') ? ['TEMPORAL_API_KEY'] : [])].filter((name) =>
    secretSettings.includes(name),
  );
  const place = { ...closed({ name: { type: 'string', minLength: 1 }, key: text }), required: ['name'] };
  return closed(Object.fromEntries(secrets.map((name) => [name, place])));
}
