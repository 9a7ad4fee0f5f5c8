import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { Container, Service } from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { sideQueueName, sideQueues } from '../../protocol/task-queues.js';
import {
  chart,
  headerOf,
  helm,
  rendered,
  renderedPath,
  type Variant,
  valuesPath,
  variants,
} from '../../tools/manifests/manifests.js';
import type {
  Connection,
  PrometheusRule,
  ScaledObject,
  ServiceMonitor,
  WorkerDeployment,
} from '../rig/custom-resources.js';
import { unknownSettings } from '../rig/deployed.js';
import { type Manifest, manifestFaults } from '../rig/manifest-types.js';
import { rulesPath } from '../rig/monitoring.js';
import { projectFolder } from '../rig/processes.js';

function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** The settings of a container, and not the variables of others' libraries. */
function settingsOf({ env = [] }: Container): Map<string, string> {
  const own = env.filter(({ name }) => !name.startsWith('OTEL_'));
  expect(new Set(own.map(({ name }) => name)).size, 'each variable once').toBe(own.length);
  return new Map(own.map(({ name, value = '' }) => [name, value] as const));
}

/** The programs of a variant, each with its pod's template. */
function programsOf(manifests: readonly Manifest[]) {
  const workloads = manifests.filter(({ kind }) => /Deployment$|^Job$/.test(kind)) as unknown as (
    | Deployment
    | WorkerDeployment
    | Job
  )[];
  return workloads.map((workload) => {
    const pod = workload.spec?.template.spec;
    const [container, ...others] = pod?.containers ?? [];
    if (pod === undefined || container === undefined || others.length > 0) throw new Error('not one container');
    const program = container.command?.at(-1) ?? '';
    const sources = pod.volumes?.find(({ name }) => name === 'secrets')?.projected?.sources ?? [];
    const items = sources.flatMap(({ secret }) =>
      (secret?.items ?? []).map(({ path }) => [path, secret?.name] as const),
    );
    /** By the files that they fill. */
    const secrets = new Map(items);
    return { program, workload, pod, container, sources, items, secrets, settings: settingsOf(container) };
  });
}

async function readRendered(variant: Variant): Promise<string> {
  return readFile(join(projectFolder, renderedPath(variant)), 'utf8');
}

async function findIn(variant: Variant, kind: string): Promise<unknown> {
  return manifestsOf(await readRendered(variant)).find((manifest) => manifest.kind === kind);
}

describe.each(variants)('%s', async (variant) => {
  const written = await readRendered(variant);
  const manifests = manifestsOf(written);

  test('is rendered from its present sources', async () => {
    const [header] = written.split(/(?<=\n)/);
    expect(header, 'run `npm run manifests` and read what changed').toBe(await headerOf(projectFolder, variant));
    // Without Helm, the hash of the sources has to do.
    const now = (await rendered(projectFolder, variant)) ?? written;
    expect(manifests).toEqual(manifestsOf(now));
  });

  test('has only fields and values that Kubernetes knows', () => {
    expect(manifestFaults(manifests)).toEqual([]);
  });

  test('contains no Secret and no secret value', () => {
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(written).not.toMatch(/whsec_|postgres(ql)?:\/\/|Bearer /);
  });

  const each = programsOf(manifests).map((one) => [one.program, one] as const);

  test.each(each)('%s gets only settings that it reads', (program, { settings }) => {
    expect(unknownSettings(program, [...settings.keys()])).toEqual([]);
  });

  test.each(each)('%s runs without privileges, and writes only to /tmp', (_program, { pod, container }) => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.securityContext?.runAsUser).toBeGreaterThan(0);
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const writable = container.volumeMounts?.filter(({ readOnly }) => readOnly !== true);
    expect(writable?.map(({ mountPath }) => mountPath)).toEqual(['/tmp']);
  });

  test.each(each)(
    '%s reads every secret from a file that a Secret fills',
    (_program, { container, items, settings }) => {
      const mount = container.volumeMounts?.find(({ name }) => name === 'secrets')?.mountPath;
      const files = items.map(([path]) => `${mount}/${path}`);
      const named = [...settings].filter(([name]) => name.endsWith('_FILE')).map(([, value]) => value);
      expect(named.length).toBeGreaterThan(0);
      expect(named.toSorted()).toEqual(files.toSorted());
    },
  );

  const programs = programsOf(manifests).filter(({ workload }) => workload.kind !== 'Job');
  const staying = programs.map((one) => [one.program, one] as const);

  test('runs the worker, the ingress and, unless it is switched off, the codec server', () => {
    expect(programs.map(({ program }) => program).toSorted()).toEqual([
      ...(variant === 'least' ? [] : ['dist/workers/codec-server.js']),
      ...['dist/workers/ingress.js', 'dist/workers/worker.js'],
    ]);
  });

  test.each(staying)('%s has the time to stop that docs/operations.md asks for', (_program, { pod, settings }) => {
    const seconds = (name: string) => Number(settings.get(name) ?? 0);
    const timeout = seconds('SERVICE_TIMEOUT_SECONDS');
    // The worker's own default.
    const grace = settings.has('SHUTDOWN_GRACE_SECONDS') ? seconds('SHUTDOWN_GRACE_SECONDS') : timeout + 5;
    expect(grace).toBeGreaterThanOrEqual(timeout + 5);
    expect(pod.terminationGracePeriodSeconds).toBe(grace + seconds('INGRESS_DRAIN_SECONDS') + 10);
  });

  test.each(staying)('%s is probed where no stranger keeps probes out', async (_program, { container, settings }) => {
    const { startupProbe, livenessProbe, readinessProbe, ports = [] } = container;
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      const { path, port } = probe?.httpGet ?? {};
      const number = ports.find(({ name }) => name === port)?.containerPort;
      const [setting] = [...settings].find(([, value]) => value === String(number)) ?? [];
      expect(setting).toBe('METRICS_PORT');
      const source = await readFile(join(projectFolder, 'workers/monitoring/server.ts'), 'utf8');
      expect(source).toContain(`app.get('${path}'`);
    }
    expect(livenessProbe?.httpGet?.path).toBe('/health');
    expect(readinessProbe?.httpGet?.path).toBe('/ready');
  });

  test.each(staying)('%s shows its metrics at the port that Prometheus reads', (_program, { container, settings }) => {
    const service = manifests.find(({ metadata }) => metadata.name === 'lab-operations-metrics') as Service | undefined;
    const read = service?.spec?.ports?.[0]?.targetPort;
    const port = container.ports?.find(({ name }) => name === read)?.containerPort;
    expect(settings.get('METRICS_PORT')).toBe(String(port));
    expect(settings.get('METRICS_HOST')).toBe('0.0.0.0');
  });

  test('allows the eviction of a ready pod only while another one of the program is ready', () => {
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget') as PodDisruptionBudget[];
    const several = programs
      // Without a number, KEDA keeps two or more.
      .filter(({ workload }) => ((workload.spec as { replicas?: number } | undefined)?.replicas ?? 2) > 1)
      .map(({ workload }) => workload.metadata?.name ?? '');
    expect(budgets.map(({ metadata }) => metadata?.name ?? '').toSorted()).toEqual(several.toSorted());
    // Readiness depends on Temporal, whose outage must not hold up the drain of a node.
    for (const { spec } of budgets) expect(spec?.unhealthyPodEvictionPolicy).toBe('AlwaysAllow');
  });

  test('gives the ingress, which strangers reach, neither the keys nor the database role of the worker', () => {
    const [ingress, worker] = ['ingress.js', 'worker.js'].map(
      (file) => programs.find(({ program }) => program.endsWith(`/${file}`))?.secrets,
    );
    const withDatabase = variant === 'least' ? [] : ['DATABASE_URL'];
    for (const path of ['LABOPS_ENCRYPTION_KEYS', ...withDatabase])
      expect(ingress?.get(path)).not.toBe(worker?.get(path));
    // By these both recognise a deleted user.
    expect(ingress?.get('DELETED_USERS_KEYS')).toBe(worker?.get('DELETED_USERS_KEYS'));
  });

  test('gives no pod that stays the user who owns the tables', () => {
    const [job] = programsOf(manifests).filter(({ workload }) => workload.kind === 'Job');
    expect(job?.secrets.get('DATABASE_URL')).toBe(variant === 'least' ? undefined : 'lab-operations-migration');
    const names = programs.flatMap(({ secrets }) => [...secrets.values()]);
    expect(names).not.toContain('lab-operations-migration');
  });

  test('names, for every port that a pod may reach, whom it may reach there', () => {
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as NetworkPolicy[];
    const rules = policies.flatMap(({ spec }) => spec?.egress ?? []);
    for (const { to = [], ports = [] } of rules) {
      expect(to.length, JSON.stringify(ports)).toBeGreaterThan(0);
      const everywhere = to.filter(({ ipBlock }) => ipBlock?.cidr.endsWith('/0'));
      // Whatever is everywhere is outside of the cluster: private addresses and the cloud's metadata are not.
      for (const { ipBlock } of everywhere) {
        const inside = ipBlock?.cidr.includes(':') ? ['fc00::/7', 'fe80::/10'] : ['10.0.0.0/8', '169.254.0.0/16'];
        expect(ipBlock?.except).toEqual(expect.arrayContaining(inside));
      }
    }
  });

  test('selects by labels that some pod has', () => {
    const labels = programsOf(manifests).map(({ workload }) => workload.spec?.template.metadata?.labels ?? {});
    // A ServiceMonitor selects Services.
    const ofPods = manifests.filter(({ kind }) => kind !== 'ServiceMonitor');
    const selectors = ofPods.flatMap((manifest) => {
      const { selector, podSelector } = (manifest as Manifest & { spec?: Record<string, unknown> }).spec ?? {};
      const given = (selector ?? podSelector ?? {}) as Record<string, unknown>;
      return [(given['matchLabels'] ?? given) as Record<string, string>];
    });
    for (const selector of selectors) expect(labels).toContainEqual(expect.objectContaining(selector));
  });
});

/** Settings and Secrets of the program of a variant whose file this is. */
async function programOf(variant: Variant, file: 'worker' | 'ingress' | 'codec-server') {
  const programs = programsOf(manifestsOf(await readRendered(variant)));
  const found = programs.find(({ program }) => program === `dist/workers/${file}.js`);
  if (found === undefined) throw new Error(`${variant} does not run ${file}`);
  return found;
}

test('with the worker controller, the worker and the ingress use the same server and namespace', async () => {
  const { settings } = await programOf('worker-deployment', 'ingress');
  const worker = await programOf('worker-deployment', 'worker');
  const { spec } = (await findIn('worker-deployment', 'WorkerDeployment')) as WorkerDeployment;
  const connection = (await findIn('worker-deployment', 'Connection')) as Connection;
  expect(connection.metadata.name).toBe(spec.workerOptions.connectionRef.name);
  expect(connection.spec.hostPort).toBe(settings.get('TEMPORAL_ADDRESS'));
  expect(spec.workerOptions.temporalNamespace).toBe(settings.get('TEMPORAL_NAMESPACE'));
  // The controller sets them.
  expect([...worker.settings.keys()].filter((name) => name.startsWith('TEMPORAL_'))).toEqual([]);
});

test('what is switched off needs no Secret and no setting', async () => {
  const worker = await programOf('least', 'worker');
  expect([...worker.secrets.keys()]).toEqual(['LABOPS_ENCRYPTION_KEYS', 'SERVICE_API_KEY']);
  expect(worker.settings.get('NOTIFICATIONS')).toBe('off');
  for (const { settings } of [worker, await programOf('least', 'ingress')])
    expect(settings.get('HEALTH_DATA')).toBe('off');
});

test('Secrets of other names fill the files that the settings name', async () => {
  const { sources, settings } = await programOf('most', 'worker');
  expect(sources).toContainEqual({
    secret: { name: 'temporal-cloud', items: [{ key: 'api-key', path: 'TEMPORAL_API_KEY' }] },
  });
  expect(settings.get('TEMPORAL_API_KEY_FILE')).toBe('/run/secrets/lab-operations/TEMPORAL_API_KEY');
});

test('worker and ingress read the description of the deployment from a file that is mounted', async () => {
  const environment = (await programOf('most', 'worker')).settings.get('SERVICE_ENVIRONMENT');
  for (const program of ['worker', 'ingress'] as const) {
    const { settings, pod, container, workload } = await programOf('most', program);
    const volume = pod.volumes?.find(({ downwardAPI }) => downwardAPI !== undefined);
    const mount = container.volumeMounts?.find(({ name }) => name === volume?.name);
    const [item] = volume?.downwardAPI?.items ?? [];
    expect(settings.get('SERVICE_DESCRIPTION')).toBe(`${mount?.mountPath}/${item?.path}`);
    const [, annotation = ''] = /^metadata\.annotations\['(.*)'\]$/.exec(item?.fieldRef?.fieldPath ?? '') ?? [];
    const text = workload.spec?.template.metadata?.annotations?.[annotation];
    const { addresses } = parse(text ?? '') as { addresses: Record<string, string> };
    expect(Object.keys(addresses)).toEqual([environment]);
  }
});

test('with the audit trail, the codec server gets keys and a database, and reaches nothing else', async () => {
  const { secrets } = await programOf('most', 'codec-server');
  expect([...secrets.keys()]).toEqual(expect.arrayContaining(['AUDIT_KEYS', 'DATABASE_URL']));
  expect(secrets.get('AUDIT_KEYS')).toBe((await programOf('most', 'worker')).secrets.get('AUDIT_KEYS'));
  const policies = manifestsOf(await readRendered('most')).filter(({ kind }) => kind === 'NetworkPolicy');
  const egress = (policies as unknown as NetworkPolicy[])
    .filter(({ spec }) => spec?.podSelector.matchLabels?.['app.kubernetes.io/component'] === 'codec-server')
    .flatMap(({ spec }) => spec?.egress ?? []);
  expect(egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))).toEqual([53, 53, 5432]);
});

test('workers are scaled by the backlog of every task queue that they poll', async () => {
  const { spec } = (await findIn('most', 'ScaledObject')) as ScaledObject;
  const { settings, workload } = await programOf('most', 'worker');
  expect(spec.scaleTargetRef.name).toBe(workload.metadata?.name);
  expect(workload.spec).not.toHaveProperty('replicas');
  const queue = settings.get('TASK_QUEUE') ?? '';
  const polled = [queue, ...sideQueues.map((side) => sideQueueName(queue, side))];
  expect(spec.triggers.map(({ metadata }) => metadata.taskQueue).toSorted()).toEqual(polled.toSorted());
  const { metadata } = (await findIn('most', 'TriggerAuthentication')) as { metadata: { name: string } };
  for (const { authenticationRef } of spec.triggers) expect(authenticationRef?.name).toBe(metadata.name);
});

test('the ServiceMonitor reads the port of the Service for metrics', async () => {
  const monitor = (await findIn('most', 'ServiceMonitor')) as ServiceMonitor | undefined;
  const services = manifestsOf(await readRendered('most')).filter(({ kind }) => kind === 'Service') as Service[];
  const wanted = Object.entries(monitor?.spec.selector.matchLabels ?? {});
  const [service, ...others] = services.filter(({ metadata }) =>
    wanted.every(([label, value]) => metadata?.labels?.[label] === value),
  );
  expect(others).toEqual([]);
  expect(monitor?.spec.endpoints.map(({ port }) => port)).toEqual(service?.spec?.ports?.map(({ name }) => name));
  const source = await readFile(join(projectFolder, 'workers/monitoring/server.ts'), 'utf8');
  expect(source).toContain(`app.get('${monitor?.spec.endpoints[0]?.path}'`);
});

test("the operator gets the alerts of deploy/chart/prometheus-rules.yml, with the runbooks' addresses if the values say where they are", async () => {
  const rules = await readFile(rulesPath, 'utf8');
  const specOf = async (variant: Variant) => ((await findIn(variant, 'PrometheusRule')) as PrometheusRule).spec;
  expect(await specOf('worker-deployment')).toEqual(parse(rules));
  const docs = 'https://git.example.com/lab-operations-worker/blob/v0.1.0/';
  expect(await specOf('most')).toEqual(parse(rules.replaceAll('{{ $externalLabels.labops_docs }}', docs)));
});

describe('the chart', async () => {
  const chartFile = async (name: string) => readFile(join(projectFolder, chart, name), 'utf8');
  const hasHelm = (await helm('version')) !== undefined;

  test('has the version of the project', async () => {
    const { version } = JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8')) as { version: string };
    expect(parse(await chartFile('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  test('shows a default for every value that is not a setting', async () => {
    const schema = JSON.parse(await chartFile('values.schema.json')) as { properties: Record<string, ObjectSchema> };
    const values = parse(await chartFile('values.yaml')) as Record<string, unknown>;
    // Helm itself adds `global` if another chart has this one as a part.
    expect(['global', ...Object.keys(values)].toSorted()).toEqual(Object.keys(schema.properties).toSorted());
    for (const [name, { properties, additionalProperties }] of Object.entries(schema.properties)) {
      if (additionalProperties !== false || ['settings', 'secrets'].includes(name)) continue;
      expect(Object.keys(values[name] as object).toSorted(), name).toEqual(Object.keys(properties ?? {}).toSorted());
    }
  });

  test.runIf(hasHelm)('passes the lint of Helm without a finding', async () => {
    for (const variant of variants) {
      const options = ['--strict', '--values', join(projectFolder, valuesPath(variant))];
      expect(await helm('lint', join(projectFolder, chart), ...options)).toMatch(
        /1 chart\(s\) linted, 0 chart\(s\) failed/,
      );
    }
  });

  const refusal = async (...options: string[]) =>
    rendered(projectFolder, 'base', ...options).then(
      () => 'rendered',
      ({ stderr }: { stderr: string }) => stderr,
    );

  test.runIf(hasHelm)('names everything that is missing at once', async () => {
    const paths = [
      ...['image.repository', 'settings.LABOPS_INSTALLATION', 'worker.settings.SERVICE_BASE_URL'],
      ...['worker.settings.NOTIFY_URL', 'codecServer.settings.CODEC_ALLOWED_ORIGINS'],
    ];
    const text = await refusal('--set', paths.map((path) => `${path}=`).join(','));
    for (const path of paths) expect(text).toContain(`- ${path} is missing: `);
  });

  test.runIf(hasHelm).each([
    ['a misspelt setting', 'worker.settings.SERVICE_BASEURL=https://x', 'SERVICE_BASEURL'],
    ['a secret as a setting', 'worker.settings.SERVICE_API_KEY=sk', 'SERVICE_API_KEY'],
    ['a level that is not one', 'codecServer.settings.LOG_LEVEL=loud', /LOG_LEVEL.*'trace', 'debug'/],
    ['words for a number', 'worker.replicas=two', /worker\/replicas.*want integer/],
    ['scaled versions', 'autoscaling.enabled=true,workerVersioning.enabled=true', 'autoscaling.enabled does not'],
    ['an audit trail without a database', 'audit.enabled=true,healthData.enabled=false', 'audit.enabled needs'],
    ['a description that is not JSON', 'serviceDescription=brand', 'serviceDescription is not a JSON object'],
  ])('refuses %s', async (_what, values, said) => {
    const text = await refusal('--set', values);
    expect(text).toMatch(said);
  });

  test.runIf(hasHelm)(
    'lets a blank setting of a component remove a shared one, and leaves the worker its API key from the controller alone',
    async () => {
      const values = [
        'workerVersioning.enabled=true,secrets.TEMPORAL_API_KEY.name=invented-key',
        'settings.LOG_LEVEL=debug,ingress.settings.LOG_LEVEL=',
      ];
      const text = await rendered(projectFolder, 'base', '--set', values.join(','));
      const programs = programsOf(manifestsOf(text ?? ''));
      const [worker, ingress] = ['worker', 'ingress'].map((name) =>
        programs.find(({ program }) => program === `dist/workers/${name}.js`),
      );
      expect([worker, ingress].map((of) => of?.settings.get('LOG_LEVEL'))).toEqual(['debug', undefined]);
      expect([worker, ingress].map((of) => of?.settings.has('TEMPORAL_API_KEY_FILE'))).toEqual([false, true]);
    },
  );
});

interface ObjectSchema {
  properties?: object;
  additionalProperties?: unknown;
}
