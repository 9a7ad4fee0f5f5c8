import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { ConfigMap, Container, Service } from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import {
  headerOf,
  type Overlay,
  overlays,
  prometheusRule,
  prometheusRulePath,
  rendered,
  renderedPath,
} from '../../tools/manifests/manifests.js';
import type { Connection, PrometheusRule, ServiceMonitor, WorkerDeployment } from '../rig/custom-resources.js';
import { unknownSettings } from '../rig/deployed.js';
import { type Manifest, manifestFaults } from '../rig/manifest-types.js';
import { rulesPath } from '../rig/monitoring.js';
import { projectFolder } from '../rig/processes.js';

function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** The settings of a container: from its ConfigMaps, then its own, which win. */
function settingsOf(container: Container, manifests: readonly Manifest[]): Map<string, string> {
  const maps = manifests.filter(({ kind }) => kind === 'ConfigMap') as unknown as ConfigMap[];
  const shared = (container.envFrom ?? []).flatMap(({ configMapRef }) => {
    const map = maps.find(({ metadata }) => metadata?.name === configMapRef?.name);
    if (map === undefined) throw new Error(`there is no ConfigMap ${configMapRef?.name}`);
    return Object.entries(map.data ?? {});
  });
  return new Map([...shared, ...(container.env ?? []).map(({ name, value = '' }) => [name, value] as const)]);
}

/** The programs of an overlay, each with its pod's template. */
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
    return { program, workload, pod, container, settings: settingsOf(container, manifests) };
  });
}

/** The Secrets of the program whose path has this part, by the files that they fill. */
function secretsOf(programs: ReturnType<typeof programsOf>, part: string): Map<string, string | undefined> {
  const { pod } = programs.find(({ program }) => program.includes(part)) ?? {};
  const sources = pod?.volumes?.find(({ name }) => name === 'secrets')?.projected?.sources ?? [];
  return new Map(sources.flatMap(({ secret }) => (secret?.items ?? []).map(({ path }) => [path, secret?.name])));
}

async function readRendered(overlay: Overlay): Promise<string> {
  return readFile(join(projectFolder, renderedPath(overlay)), 'utf8');
}

async function findIn(overlay: Overlay, kind: string): Promise<unknown> {
  return manifestsOf(await readRendered(overlay)).find((manifest) => manifest.kind === kind);
}

describe.each(overlays)('%s', async (overlay) => {
  const written = await readRendered(overlay);
  const manifests = manifestsOf(written);

  test('is rendered from its present sources', async () => {
    const [header] = written.split(/(?<=\n)/);
    expect(header, 'run `npm run manifests` and read what changed').toBe(await headerOf(projectFolder, overlay));
    // Without Kustomize, the hash of the sources has to do.
    const now = (await rendered(projectFolder, overlay)) ?? written;
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

  test.each(each)('%s reads every secret from a file that a Secret fills', (_program, { pod, container, settings }) => {
    const mount = container.volumeMounts?.find(({ name }) => name === 'secrets')?.mountPath;
    const sources = pod.volumes?.find(({ name }) => name === 'secrets')?.projected?.sources ?? [];
    const files = sources.flatMap(({ secret }) => secret?.items ?? []).map(({ path }) => `${mount}/${path}`);
    const named = [...settings].filter(([name]) => name.endsWith('_FILE')).map(([, value]) => value);
    expect(named.length).toBeGreaterThan(0);
    expect(named.toSorted()).toEqual(files.toSorted());
  });
});

describe.each(['base', 'worker-deployment'] as const)('%s', async (overlay) => {
  const manifests = manifestsOf(await readRendered(overlay));
  const programs = programsOf(manifests);
  const each = programs.map((one) => [one.program, one] as const);

  test('runs the worker, the ingress and the codec server', () => {
    expect(programs.map(({ program }) => program).toSorted()).toEqual([
      ...['dist/workers/codec-server.js', 'dist/workers/ingress.js', 'dist/workers/worker.js'],
    ]);
  });

  test.each(each)('%s has the time to stop that docs/operations.md asks for', (_program, { pod, settings }) => {
    const seconds = (name: string) => Number(settings.get(name) ?? 0);
    expect(seconds('SHUTDOWN_GRACE_SECONDS')).toBeGreaterThanOrEqual(seconds('SERVICE_TIMEOUT_SECONDS') + 5);
    const needed = seconds('SHUTDOWN_GRACE_SECONDS') + seconds('INGRESS_DRAIN_SECONDS') + 10;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
  });

  test.each(each)(
    '%s is probed where it answers, and where no stranger can keep a probe out',
    async (_program, { container, settings }) => {
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
    },
  );

  test.each(each)('%s shows its metrics at the port that Prometheus reads', (_program, { container, settings }) => {
    const service = manifests.find(({ metadata }) => metadata.name === 'lab-operations-metrics') as Service | undefined;
    const read = service?.spec?.ports?.[0]?.targetPort;
    const port = container.ports?.find(({ name }) => name === read)?.containerPort;
    expect(settings.get('METRICS_PORT')).toBe(String(port));
    expect(settings.get('METRICS_HOST')).toBe('0.0.0.0');
  });

  test('allows the eviction of a ready pod only while another one of the program is ready', () => {
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget') as PodDisruptionBudget[];
    const several = programs
      .filter(({ workload }) => ((workload.spec as { replicas?: number } | undefined)?.replicas ?? 1) > 1)
      .map(({ workload }) => workload.metadata?.name ?? '');
    expect(budgets.map(({ metadata }) => metadata?.name ?? '').toSorted()).toEqual(several.toSorted());
    // Readiness depends on Temporal, whose outage must not hold up the drain of a node.
    expect(new Set(budgets.map(({ spec }) => spec?.unhealthyPodEvictionPolicy))).toEqual(new Set(['AlwaysAllow']));
    expect(several.length).toBeGreaterThan(0);
  });

  test('gives the ingress, which strangers reach, neither the keys nor the database role of the worker', () => {
    const [ingress, worker] = [secretsOf(programs, 'ingress'), secretsOf(programs, 'worker.js')];
    for (const path of ['LABOPS_ENCRYPTION_KEYS', 'DATABASE_URL']) expect(ingress.get(path)).not.toBe(worker.get(path));
    // By these both recognise a deleted user.
    expect(ingress.get('DELETED_USERS_KEYS')).toBe(worker.get('DELETED_USERS_KEYS'));
  });

  test('gives no pod that stays the user who owns the tables', async () => {
    const [job] = programsOf(manifestsOf(await readRendered('migration')));
    if (job === undefined) throw new Error('there is no Job');
    const owner = secretsOf([job], 'migrate').get('DATABASE_URL');
    expect(owner).toBe('lab-operations-migration');
    expect(await readRendered(overlay)).not.toContain(owner);
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
    const labels = programs.map(({ workload }) => workload.spec?.template.metadata?.labels ?? {});
    const selectors = manifests.flatMap((manifest) => {
      const { selector, podSelector } = (manifest as Manifest & { spec?: Record<string, unknown> }).spec ?? {};
      const given = (selector ?? podSelector ?? {}) as Record<string, unknown>;
      return [(given['matchLabels'] ?? given) as Record<string, string>];
    });
    for (const selector of selectors) expect(labels).toContainEqual(expect.objectContaining(selector));
  });
});

test('with the worker controller, the worker and the ingress use the same server and namespace', async () => {
  const manifests = manifestsOf(await readRendered('worker-deployment'));
  const ingress = programsOf(manifests).find(({ program }) => program === 'dist/workers/ingress.js')?.settings;
  const { spec } = (await findIn('worker-deployment', 'WorkerDeployment')) as WorkerDeployment;
  const connection = (await findIn('worker-deployment', 'Connection')) as Connection;
  expect(connection.metadata.name).toBe(spec.workerOptions.connectionRef.name);
  expect(connection.spec.hostPort).toBe(ingress?.get('TEMPORAL_ADDRESS'));
  expect(spec.workerOptions.temporalNamespace).toBe(ingress?.get('TEMPORAL_NAMESPACE'));
});

test('the ServiceMonitor reads the port of the Service for metrics', async () => {
  const monitor = (await findIn('service-monitor', 'ServiceMonitor')) as ServiceMonitor | undefined;
  const services = manifestsOf(await readRendered('base')).filter(({ kind }) => kind === 'Service') as Service[];
  const wanted = Object.entries(monitor?.spec.selector.matchLabels ?? {});
  const [service, ...others] = services.filter(({ metadata }) =>
    wanted.every(([label, value]) => metadata?.labels?.[label] === value),
  );
  expect(others).toEqual([]);
  expect(monitor?.spec.endpoints.map(({ port }) => port)).toEqual(service?.spec?.ports?.map(({ name }) => name));
  const source = await readFile(join(projectFolder, 'workers/monitoring/server.ts'), 'utf8');
  expect(source).toContain(`app.get('${monitor?.spec.endpoints[0]?.path}'`);
});

test('the operator gets the alerts of deploy/prometheus-rules.yml', async () => {
  const written = await readFile(join(projectFolder, prometheusRulePath), 'utf8');
  expect(written, 'run `npm run manifests`').toBe(await prometheusRule(projectFolder));
  const rule = (await findIn('service-monitor', 'PrometheusRule')) as PrometheusRule | undefined;
  expect(rule?.spec).toEqual(parse(await readFile(rulesPath, 'utf8')));
});
