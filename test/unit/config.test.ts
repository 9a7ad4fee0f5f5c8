import { describe, expect, test } from 'vitest';
import { installationOf, InstallationInvalid, readInstallation, TemporalSettingInvalid } from '../../client/config.js';
import { readTemporalSettings } from '../../client/temporal.config.js';
import { readCodecServerConfig, readIngressConfig, readWorkerConfig } from '../../workers/settings/config.js';
import { settings } from '../../workers/settings/settings.js';
import { ConfigInvalid } from '../../workers/settings/values.js';
import {
  codecServer,
  encryption,
  encryptionKey,
  faultsOf,
  fileWith,
  ingress,
  secret,
  service,
  single,
  worker,
} from './settings.js';

type Env = Record<string, string>;

const descriptionWith = async (content: unknown) => ({ SERVICE_DESCRIPTION: await fileWith(JSON.stringify(content)) });

function errorOf(read: () => unknown): Error {
  try {
    read();
  } catch (error) {
    return error as Error;
  }
  return expect.unreachable('the settings were accepted');
}

describe('the worker', () => {
  // proves 211, 217, 225, 244, 313
  test('needs an address and a key of the service, and has a default for the rest', () => {
    const sides = ['background', 'notifications', 'files'];
    expect(worker()).toEqual({
      temporal: { address: '127.0.0.1:7233', namespace: 'default', connection: { address: '127.0.0.1:7233' } },
      ...{ taskQueue: 'lab-operations', logLevel: 'info', logFormat: 'names', monitoring: { host: '127.0.0.1' } },
      ...{ shutdownGraceSeconds: 35, allowsPlaintext: false, serviceSeconds: 30 },
      service: {
        ...{ baseUrl: 'https://api.example.com', apiKey: 'sk_invented', brand: 'service', keyPrefixes: {} },
        ...{ deprecatedManagementHeader: false, orderRules: 'service', headersTimeoutMs: 30_000, timeoutMs: 60_000 },
        ...{ ordersPath: '/orders', usersPath: '/v2/user/', createOrderPath: '/v3/order' },
      },
      ...{ installation: ['default'], echoesPassthrough: true, encryptionKeyDays: 90, erasesHistories: true },
      reportFiles: { maxBytes: 10_485_760, allowedHosts: [] },
      queues: { polls: ['main', ...sides], slots: { background: 16, notifications: 50, files: 4 } },
      ...{ maxCachedWorkflows: 1000, reconcileEveryMinutes: 60, databasePoolSize: 10, rejectedEventsDays: 90 },
      ...{ encryption: 'optional', traces: 'off', healthData: 'on', notifications: 'on', warnings: [] },
    });
  });

  const url = 'https://product.example/lab?tenant=1';
  const notify = { NOTIFY_URL: url, NOTIFY_SECRET: secret };
  const hosts = 'Files.internal:8443, [::1]:9000 ,';
  const prefixes = { SERVICE_TEAM_KEY_PREFIX: 'sk_', SERVICE_MANAGEMENT_KEY_PREFIX: 'mk_' };
  const managementUrl = 'https://org.example.com';

  // proves 246, 247
  test.each<[Env, object]>([
    [{ SERVICE_MANAGEMENT_KEY: 'mk_invented' }, { service: { managementKey: 'mk_invented' } }],
    [{ SERVICE_MANAGEMENT_URL: managementUrl }, { service: { managementBaseUrl: managementUrl } }],
    [prefixes, { service: { keyPrefixes: { team: 'sk_', management: 'mk_' } } }],
    [{ SERVICE_DEPRECATED_MANAGEMENT_HEADER: 'true' }, { service: { deprecatedManagementHeader: true } }],
    [{ SERVICE_BRAND: 'acme' }, { service: { brand: 'acme' } }],
    [{ SERVICE_ORDERS_PATH: '/v3/orders' }, { service: { ordersPath: '/v3/orders' } }],
    [{ SERVICE_USERS_PATH: '/v2/user' }, { service: { usersPath: '/v2/user' } }],
    [{ SERVICE_CREATE_ORDER_PATH: '/v3/order/create' }, { service: { createOrderPath: '/v3/order/create' } }],
    [{ SERVICE_ECHOES_PASSTHROUGH: 'false' }, { echoesPassthrough: false }],
    [{ SERVICE_TIMEOUT_SECONDS: '10' }, { service: { headersTimeoutMs: 10_000 } }],
    [{ ...notify, NOTIFY_CLIENT_USER_ID: 'true' }, { notify: { url, secret, namesClientUser: true } }],
    [{ TASK_QUEUE: 'other' }, { taskQueue: 'other' }],
    [{ LOG_LEVEL: 'warn' }, { logLevel: 'warn' }],
    [{ LOG_FORMAT: 'numbers' }, { logFormat: 'numbers' }],
    [{ MAX_CACHED_WORKFLOWS: '50' }, { maxCachedWorkflows: 50 }],
    [{ REPORT_ROOT: '/srv/reports', REPORT_MAX_BYTES: '5' }, { reportFiles: { root: '/srv/reports', maxBytes: 5 } }],
    [{ REPORT_URL_ALLOWED_HOSTS: hosts }, { reportFiles: { allowedHosts: ['files.internal:8443', '[::1]:9000'] } }],
    [{ SHUTDOWN_GRACE_SECONDS: '0' }, { shutdownGraceSeconds: 0 }],
  ])('takes %j', (env, config) => {
    expect(worker(env)).toMatchObject(config);
  });

  // proves 12-15
  test.each(['production-us', 'production-eu', 'sandbox-us', 'sandbox-eu'])(
    'has no address of %s but that of the description',
    async (environment) => {
      const read = (more: Env = {}) =>
        readWorkerConfig({ SERVICE_API_KEY: 'sk_invented', SERVICE_ENVIRONMENT: environment, ...more });
      const undescribed = { SERVICE_DESCRIPTION: 'is missing, but SERVICE_ENVIRONMENT is set' };
      expect(faultsOf(() => read())).toEqual(undescribed);
      const described = (name: string) => descriptionWith({ addresses: { [name]: 'https://eu.example.com' } });
      expect(read(await described(environment)).service.baseUrl).toBe('https://eu.example.com');
      const other = await described('mars');
      expect(faultsOf(() => read(other))).toEqual({
        SERVICE_ENVIRONMENT: 'is not in the `addresses` of the description',
      });
    },
  );

  test('takes no address beside an environment: nobody could see which of the two has no effect', async () => {
    const described = await descriptionWith({ addresses: { 'sandbox-eu': 'https://eu.example.com' } });
    const env = { ...described, SERVICE_ENVIRONMENT: 'sandbox-eu' };
    expect(faultsOf(() => worker(env))).toEqual({ SERVICE_BASE_URL: 'is set, and so is SERVICE_ENVIRONMENT' });
    expect(worker({ ...env, SERVICE_BASE_URL: '' }).service.baseUrl).toBe('https://eu.example.com');
  });

  test('takes what is not set from the description, as the ingress does', async () => {
    const paths = { ordersPath: '/v3/orders', usersPath: '/v2/user', createOrderPath: '/v3/order/create' };
    const more = { managementBaseUrl: 'https://org.example.com', echoesPassthrough: false, reportMaxBytes: 7 };
    const described = await descriptionWith({ brand: 'acme', ...paths, ...more, teamId: 'team-1', missing: ['a'] });
    const { managementBaseUrl, echoesPassthrough, reportMaxBytes: maxBytes } = more;
    expect(worker(described)).toMatchObject({
      service: { brand: 'acme', ...paths, managementBaseUrl },
      ...{ echoesPassthrough, reportFiles: { maxBytes } },
    });
    const set = { SERVICE_BRAND: 'other', SERVICE_USERS_PATH: '/users', SERVICE_ECHOES_PASSTHROUGH: 'true' };
    expect(worker({ ...described, ...set })).toMatchObject({
      service: { brand: 'other', usersPath: '/users', ordersPath: '/v3/orders' },
      echoesPassthrough: true,
    });
    expect(ingress(described).teamId).toBe('team-1');
    expect(ingress({ ...described, SERVICE_TEAM_ID: 'team-2' }).teamId).toBe('team-2');
    // The rules between settings hold for it, too.
    const plain = await descriptionWith({ managementBaseUrl: 'http://org.example.com' });
    const faults = { SERVICE_MANAGEMENT_URL: 'is plain http, which others can read in transit' };
    expect(faultsOf(() => worker(plain))).toEqual(faults);
  });

  test.each<[unknown, string[]]>([
    [[], ['its content is not a JSON object']],
    [
      { brand: 'two words', ordersPath: 'orders', usersPath: 7, addresses: { mars: 'mars.example.com' }, brnad: 'x' },
      [
        'brand is not one word of letters, digits and hyphens',
        'ordersPath is not a path that begins with a slash',
        'usersPath is not a text',
        'addresses.mars is not an http or https address without credentials',
        'brnad is not a field of a description',
      ],
    ],
  ])('names every fault of the description %j', async (description, faults) => {
    const described = await descriptionWith(description);
    for (const read of [worker, ingress]) {
      const { message } = errorOf(() => read(described));
      const sentences = faults.map((fault) => `SERVICE_DESCRIPTION names a file with a fault: ${fault}: set the path`);
      for (const sentence of sentences) expect(message).toContain(sentence);
      expect(message.match(/SERVICE_DESCRIPTION/g)).toHaveLength(faults.length);
    }
  });

  test('names a description that is not there, or not JSON', async () => {
    const problemOf = (file: string) => faultsOf(() => worker({ SERVICE_DESCRIPTION: file }))['SERVICE_DESCRIPTION'];
    expect(problemOf('/not/there.json')).toBe('names a file that cannot be read');
    expect(problemOf(await fileWith('brand: acme'))).toBe('names a file that is not JSON');
  });

  test.each(['"', "'"])('refuses a value in quotes (%s), which some readers of env files keep', (quote) => {
    const quoted = Object.fromEntries(Object.entries(service).map(([name, value]) => [name, quote + value + quote]));
    const problem = 'is in quotes';
    const unread = { TEMPORAL_CODEC_AUTH: '"invented"', INGRESS_HOST: '"::"', TEMPORAL_GRPC_META_TEAM: '"labs"' };
    const env = { ...quoted, ...unread, NODE_ENV: '"production"', TEMPORAL_NAMESPACE: `${quote}lab${quote}` };
    expect(faultsOf(() => readWorkerConfig(env))).toEqual({
      SERVICE_BASE_URL: problem,
      SERVICE_API_KEY: problem,
      NODE_ENV: problem,
      TEMPORAL_NAMESPACE: problem,
      LABOPS_INSTALLATION: 'is missing, but this is production',
      LABOPS_ENCRYPTION_KEYS: 'is missing, but LABOPS_ENCRYPTION is required (the default in production)',
    });
  });

  test('treats a blank setting as missing', () => {
    expect(worker({ NOTIFY_URL: '', NOTIFY_SECRET: ' ', TASK_QUEUE: '', TEMPORAL_ADDRESS: '' })).toEqual(worker());
    expect(faultsOf(() => worker({ SERVICE_API_KEY: ' ' }))).toEqual({ SERVICE_API_KEY: 'is missing' });
  });

  test('needs no webhook secrets, and ignores invalid settings of the ingress', () => {
    expect(() => worker({ INGRESS_PORT: 'wrong' })).not.toThrow();
  });

  test('sends no notifications only if that is set explicitly, and not beside an endpoint', () => {
    for (const env of [{}, { NOTIFICATIONS: 'on' }]) expect(worker(env)).not.toHaveProperty('notify');
    expect(worker({ NOTIFICATIONS: 'off' })).toMatchObject({ notify: 'off' });
    const faults = { NOTIFICATIONS: 'is off, but NOTIFY_URL is set' };
    expect(faultsOf(() => worker({ ...notify, NOTIFICATIONS: 'off' }))).toEqual(faults);
  });

  test('lists all faults at once', () => {
    const env = {
      ...{ SERVICE_DESCRIPTION: '/not/there', SERVICE_BRAND: 'two words', SERVICE_ORDERS_PATH: 'orders' },
      ...{ SERVICE_ECHOES_PASSTHROUGH: 'maybe', SERVICE_TIMEOUT_SECONDS: '0', SHUTDOWN_GRACE_SECONDS: '-1' },
      ...{ NOTIFY_URL: 'ftp://product.example', NOTIFY_SECRET: 'not base64!', LOG_LEVEL: 'loud' },
      ...{ MAX_CACHED_WORKFLOWS: '1e3', REPORT_ROOT: 'reports', REPORT_MAX_BYTES: '0' },
      ...{ REPORT_URL_ALLOWED_HOSTS: 'https://files.internal' },
    };
    const faults = faultsOf(() => readWorkerConfig({ ...env, TEMPORAL_PROFILE: 'not-there' }));
    const missing = ['SERVICE_API_KEY', 'SERVICE_BASE_URL', 'TEMPORAL_*'];
    expect(Object.keys(faults).toSorted()).toEqual([...missing, ...Object.keys(env)].toSorted());
  });

  test('reports rules between settings beside a setting that is missing: a start that fails twice costs two deployments', () => {
    const env = {
      ...{ NODE_ENV: 'production', SERVICE_BRAND: 'two words', SERVICE_API_KEY: 'sk_invented' },
      ...{ SERVICE_MANAGEMENT_KEY: 'sk_invented', NOTIFICATIONS: 'off', NOTIFY_URL: 'https://product.example' },
      ...{ REPORT_URL_HEADERS_FILE: '/not/there.json', TEMPORAL_CONFIG_FILE: '/not/there.toml', TEMPORAL_TLS: 'True' },
    };
    expect(faultsOf(() => readWorkerConfig(env))).toEqual({
      SERVICE_BASE_URL: 'is missing',
      SERVICE_BRAND: 'is not one word of letters, digits and hyphens',
      SERVICE_API_KEY: 'must not be the management key',
      LABOPS_ENCRYPTION_KEYS: 'is missing, but LABOPS_ENCRYPTION is required (the default in production)',
      LABOPS_INSTALLATION: 'is missing, but this is production',
      NOTIFICATIONS: 'is off, but NOTIFY_URL is set',
      NOTIFY_SECRET: 'is missing, but NOTIFY_URL is set',
      REPORT_URL_HEADERS_FILE: 'names a file that cannot be read',
      TEMPORAL_CONFIG_FILE: 'names a file that does not exist',
      TEMPORAL_TLS: 'is neither true nor false',
    });
  });

  // test/unit/service/http/keys.test.ts has every rule.
  test('refuses a key in the place of the other kind, and prefixes that are the same', () => {
    const faultsWith = (env: Env) => faultsOf(() => worker({ ...prefixes, ...env }));
    const team = { SERVICE_MANAGEMENT_KEY: 'begins as a team key does' };
    expect(faultsWith({ SERVICE_MANAGEMENT_KEY: 'sk_other' })).toEqual(team);
    const same = { SERVICE_MANAGEMENT_KEY_PREFIX: 'must differ for the two kinds of keys' };
    expect(faultsWith({ SERVICE_MANAGEMENT_KEY_PREFIX: 'sk_' })).toEqual(same);
  });
});

describe('the headers for reports at URLs', () => {
  const sets = { store: { hosts: ['files.example.com'], headers: { authorization: 'Bearer invented' } } };
  const json = JSON.stringify(sets);

  test.each([json, `\uFEFF${json}`])('are read from their file, with or without a byte order mark', async (text) => {
    expect(worker({ REPORT_URL_HEADERS_FILE: await fileWith(text) }).reportFiles.headerSets).toEqual(sets);
  });

  const noSets = 'names a file that is not a JSON object of header sets';
  const noHeader = 'names a file with a fault: header set store: authorization must be printable ASCII';
  test.each([
    ['is not JSON', '{"store": invented', noSets],
    ['lacks its hosts', JSON.stringify({ store: { headers: sets.store.headers } }), noSets],
    ['has a header that cannot be sent', json.replace('invented', String.raw`invented\n`), noHeader],
    ['is not UTF-8', Buffer.from(json, 'utf16le'), 'names a file that is UTF-16 instead of UTF-8'],
  ])('from a file that %s are a fault that shows no value', async (_what, content, problem) => {
    const env = { REPORT_URL_HEADERS_FILE: await fileWith(content) };
    expect(faultsOf(() => worker(env))).toEqual({ REPORT_URL_HEADERS_FILE: problem });
  });
});

describe('the ingress', () => {
  test('needs webhook secrets only', () => {
    expect(ingress()).toMatchObject({
      ...{ host: '0.0.0.0', port: 4000, drainSeconds: 5, taskQueue: 'lab-operations' },
      ...{ webhookSecrets: [secret], webhookMaxBytes: 2 * 1024 * 1024 },
    });
    expect(faultsOf(() => readIngressConfig({}))).toEqual({ WEBHOOK_SECRETS: 'is missing' });
  });

  test('accepts several secrets, with spaces and a comma at the end', () => {
    const other = 'AAECAwQFBgcICQoLDA0ODw==';
    expect(ingress({ WEBHOOK_SECRETS: ` ${secret} , ${other}, ` }).webhookSecrets).toEqual([secret, other]);
  });
});

describe('the name of the installation', () => {
  test('is required in production, and default elsewhere', () => {
    const production = { NODE_ENV: 'production', ...encryption };
    const fault = { LABOPS_INSTALLATION: 'is missing, but this is production' };
    expect(faultsOf(() => worker(production))).toEqual(fault);
    expect(faultsOf(() => ingress({ ...production, LABOPS_INSTALLATION: ' ' }))).toEqual(fault);
    expect(ingress().installation).toEqual(['default']);
  });

  test('is followed by its former names', () => {
    const env = { LABOPS_INSTALLATION: 'eu-1', LABOPS_FORMER_INSTALLATIONS: ' eu, ,europe' };
    expect(worker(env).installation).toEqual(['eu-1', 'eu', 'europe']);
    expect(readInstallation(env)).toEqual(['eu-1', 'eu', 'europe']);
  });

  test.each(['a:b', 'a b', 'a/b', 'ü', 'x'.repeat(33)])('is refused if it cannot stand in a signature: %j', (name) => {
    const present = () => worker({ LABOPS_INSTALLATION: name });
    const former = () => worker({ LABOPS_FORMER_INSTALLATIONS: `eu,${name}` });
    expect(Object.keys(faultsOf(present))).toEqual(['LABOPS_INSTALLATION']);
    expect(present).toThrow(/^(?!.*1 to 32.*1 to 32).*1 to 32/m);
    expect(Object.keys(faultsOf(former))).toEqual(['LABOPS_FORMER_INSTALLATIONS']);
    expect(() => installationOf([name])).toThrow(InstallationInvalid);
  });

  test('may be given alone by a backend, which must give one in production, and no empty list', () => {
    expect(installationOf('eu')).toEqual(['eu']);
    expect(installationOf(['eu'], { NODE_ENV: 'production' })).toEqual(['eu']);
    expect(installationOf(undefined, {})).toEqual(['default']);
    expect(() => installationOf(undefined, { NODE_ENV: 'production' })).toThrow(InstallationInvalid);
    for (const wrong of ['e u', [] as never]) expect(() => installationOf(wrong)).toThrow(InstallationInvalid);
  });
});

describe('encryption keys', () => {
  test.each([
    ['the worker', () => worker(encryption)],
    ['the ingress', () => ingress(encryption)],
    ['the codec server', () => codecServer()],
  ])('are taken by %s, the first to encrypt with', (_process, read) => {
    expect(read().keyRing?.map(({ id }) => id)).toEqual(['new', 'old']);
  });

  test('may be left out for worker and ingress, and not for the codec server', () => {
    expect(worker({ LABOPS_ENCRYPTION_KEYS: ' ' })).not.toHaveProperty('keyRing');
    expect(ingress()).not.toHaveProperty('keyRing');
    expect(faultsOf(() => readCodecServerConfig({}))).toEqual({ LABOPS_ENCRYPTION_KEYS: 'is missing' });
  });

  test.each([
    ['the worker', worker],
    ['the ingress', ingress],
    ['one process', (env: Env) => single(env).worker],
  ])('are required of %s if encryption is required, which it is in production', (_process, read) => {
    const named = (env: Env) => read({ LABOPS_INSTALLATION: 'invented', ...env });
    const missing = 'is missing, but LABOPS_ENCRYPTION is required (the default in production)';
    const production = { NODE_ENV: 'production' };
    for (const env of [{ LABOPS_ENCRYPTION: 'required' }, production, { ...production, LABOPS_ENCRYPTION: ' ' }]) {
      expect(faultsOf(() => named(env))).toEqual({ LABOPS_ENCRYPTION_KEYS: missing });
      expect(named({ ...env, ...encryption }).encryption).toBe('required');
    }
    for (const env of [{ ...production, LABOPS_ENCRYPTION: 'optional' }, { NODE_ENV: 'test' }]) {
      expect(named(env).encryption).toBe('optional');
    }
  });
});

describe('the codec server', () => {
  test('listens on this machine and allows its Web UI by default', () => {
    const allowedOrigins = ['http://localhost:8233', 'http://127.0.0.1:8233'];
    expect(codecServer()).toMatchObject({ host: '127.0.0.1', port: 8234, allowedOrigins });
  });

  test.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('needs no token on %s', (host) => {
    expect(codecServer({ CODEC_HOST: host })).not.toHaveProperty('token');
  });

  const tokenless = 'is missing, but CODEC_HOST is not an address of this machine only';
  const elsewhere = ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', 'localhost.example.com'];
  test.each(elsewhere)('needs a token on %s, or an explicit setting that it may be open', (host) => {
    const on = (env: Env = {}) => codecServer({ CODEC_HOST: host, ...env });
    const token = 'an-invented-token-to-read';
    expect(faultsOf(on)).toEqual({ CODEC_TOKEN: tokenless });
    expect(on({ CODEC_TOKEN: token })).toMatchObject({ token });
    expect(on({ CODEC_OPEN: 'true' })).not.toHaveProperty('token');
  });

  test('accepts origins', () => {
    const origins = ['https://temporal.example.com', 'http://localhost:8080'];
    expect(codecServer({ CODEC_ALLOWED_ORIGINS: `${origins.join(', ')},` }).allowedOrigins).toEqual(origins);
  });

  test('lists all faults at once, rules between settings among them', () => {
    const wrong = { CODEC_PORT: 'x', CODEC_TOKEN: 'x', CODEC_OPEN: 'yes', LOG_LEVEL: 'x', LABOPS_ENCRYPTION_KEYS: 'x' };
    expect(Object.keys(faultsOf(() => codecServer(wrong))).toSorted()).toEqual(Object.keys(wrong).toSorted());
    expect(faultsOf(() => readCodecServerConfig({ CODEC_HOST: '0.0.0.0' }))).toEqual({
      ...{ LABOPS_ENCRYPTION_KEYS: 'is missing', CODEC_TOKEN: tokenless },
    });
  });
});

describe('the place of health data', () => {
  const databaseUrl = 'postgres://lab:password@127.0.0.1:5432/lab?sslmode=require';
  const database = { DATABASE_URL: databaseUrl };
  const directory = '/var/lib/invented';
  const inDirectory = { HEALTH_DATA_DIRECTORY: directory };

  test('is nowhere unless it is set', () => {
    expect(ingress()).not.toHaveProperty('databaseUrl');
    expect(single()).not.toHaveProperty('store');
  });

  test('is a PostgreSQL database, written to by as many connections as are set', () => {
    for (const read of [ingress, worker]) expect(read(database)).toMatchObject({ databaseUrl });
    expect(single(database).store).toEqual({ databaseUrl, poolSize: 10 });
    expect(ingress({ ...database, DATABASE_POOL_SIZE: '3' })).toMatchObject({ databasePoolSize: 3 });
  });

  test.each([worker, ingress, single])('may explicitly be off, but not beside a place', (read) => {
    const off = { HEALTH_DATA: 'off' };
    const config = read(off);
    expect('worker' in config ? config.worker : config).toMatchObject({ healthData: 'off' });
    expect(faultsOf(() => read({ ...off, ...database }))).toEqual({ HEALTH_DATA: 'is off, but DATABASE_URL is set' });
    if (read !== single) return;
    const besideDirectory = { HEALTH_DATA: 'is off, but HEALTH_DATA_DIRECTORY is set' };
    expect(faultsOf(() => read({ ...off, ...inDirectory }))).toEqual(besideDirectory);
  });

  test('can be a directory only if one process does everything', () => {
    const only = { HEALTH_DATA_DIRECTORY: 'is only for programs that run everything in one process' };
    for (const read of [worker, ingress]) expect(faultsOf(() => read(inDirectory))).toEqual(only);
    expect(single(inDirectory).store).toEqual({ directory });
    const both = { HEALTH_DATA_DIRECTORY: 'is set, and so is DATABASE_URL' };
    expect(faultsOf(() => single({ ...inDirectory, ...database }))).toEqual(both);
  });

  test('can be read from the machine of one process if a port is set', () => {
    expect(single(inDirectory)).not.toHaveProperty('healthDataPort');
    expect(single({ ...inDirectory, HEALTH_DATA_PORT: ' 0 ' })).toMatchObject({ healthDataPort: 0 });
  });

  test('one process lists every fault of its settings once', () => {
    const env = { LOG_LEVEL: 'loud', SERVICE_API_KEY: '', SERVICE_BASE_URL: '', WEBHOOK_SECRETS: '' };
    expect(faultsOf(() => single(env))).toEqual({
      LOG_LEVEL: 'is not a level',
      ...{ SERVICE_API_KEY: 'is missing', SERVICE_BASE_URL: 'is missing', WEBHOOK_SECRETS: 'is missing' },
    });
  });
});

const place = 'is not an http or https address without credentials';
const port = 'is not a whole number from 0 to 65535';
const origins = 'is not a list of origins such as https://temporal.example.com';
const ofSecrets = (problem: string) => `(secret 2 of 2) ${problem}`;
const shortKey = `new:${encryptionKey},old:c2hvcnQ=`;
const version = 'begins with v1, which is the version of a signature and not part of a secret';
const inDirectory = (env: Env) => single({ HEALTH_DATA_DIRECTORY: '/var/lib/invented', ...env });

test.each<[setting: string, problem: string, read: (env: Env) => unknown, ...values: string[]]>([
  ['SERVICE_BASE_URL', place, worker, 'api.example.com', 'ftp://api.example.com', 'https://u:p@api.example.com'],
  ['SERVICE_BASE_URL', place, worker, 'localhost:4010'],
  ['SERVICE_BASE_URL', 'has a query or a fragment', worker, 'https://example.com?key=1', 'https://example.com#part'],
  ['SERVICE_TEAM_ID', 'is not an id', ingress, 'our team'],
  ['NOTIFICATIONS', 'is neither on nor off', worker, 'no'],
  ['WEBHOOK_SECRETS', 'holds no secret', ingress, ','],
  ['WEBHOOK_SECRETS', 'is empty after whsec_', ingress, 'whsec_'],
  ['WEBHOOK_SECRETS', 'is not whsec_ followed by base64', ingress, 'whsec_!'],
  ['WEBHOOK_SECRETS', ofSecrets('is not whsec_ followed by base64'), ingress, `${secret},whsec_!`],
  ['WEBHOOK_SECRETS', ofSecrets('has 5 bytes instead of at least 16'), ingress, `${secret},c2hvcnQ=`],
  ['WEBHOOK_SECRETS', `(secret 1 of 2) ${version}`, ingress, `v1,${secret}`],
  ['INGRESS_PORT', port, ingress, '-1', '65536', '80.5', 'http', '0x50'],
  ['HEALTH_DATA_PORT', port, inDirectory, '-1', '65536', '1.5', 'x'],
  ['DATABASE_URL', 'is not the address of a PostgreSQL database', ingress, 'mysql://127.0.0.1/lab', '127.0.0.1:1'],
  ['DATABASE_POOL_SIZE', 'is not a whole number from 1 to 1000', ingress, '0'],
  ['LABOPS_ENCRYPTION', 'is neither required nor optional', worker, 'yes'],
  ['LABOPS_ENCRYPTION_KEYS', '(key 2 of 2) has a key of 5 bytes instead of 32', worker, shortKey],
  ['LABOPS_ENCRYPTION_KEYS', '(key 2 of 2) has a key of 5 bytes instead of 32', codecServer, shortKey],
  // A browser would never send these as an origin.
  ['CODEC_ALLOWED_ORIGINS', origins, codecServer, '*', 'https://temporal.example.com/', 'temporal.example.com', ','],
  ['CODEC_ALLOWED_ORIGINS', origins, codecServer, 'https://*.example.com'],
  ['TEMPORAL_ADDRESS', 'is not host:port', ingress, 'http://temporal:7233', 'temporal:7233/', 'a:72b', ':7233'],
  // The SDK would take them for false.
  ['TEMPORAL_TLS', 'is neither true nor false', ingress, 'True', 'yes', 'on'],
  ['TEMPORAL_TLS_DISABLE_HOST_VERIFICATION', 'is neither true nor false', ingress, 'no'],
])('a wrong setting is refused with what is wrong: %s %s', (setting, problem, read, ...values) => {
  const faults = values.map((value) => faultsOf(() => read({ [setting]: value })));
  expect(faults).toEqual(values.map(() => ({ [setting]: problem })));
});

describe('the message', () => {
  test('names setting, problem and remedy, one line each', () => {
    const remedy =
      "copy the signing secret (whsec_…) from the service's webhook settings; during a rotation give both, with a comma between";
    const wrongPort = { setting: 'INGRESS_PORT', problem: port, remedy: 'set a free port; the default is 4000' };
    const invalid = new ConfigInvalid([{ setting: 'WEBHOOK_SECRETS', problem: 'is missing', remedy }, wrongPort]);
    expect(() => readIngressConfig({ INGRESS_PORT: 'x' })).toThrow(invalid);
  });

  test('shows no value of any setting: each may be a secret in the wrong place', () => {
    const secretly = `very secret ${'x'.repeat(200)}\u0007`;
    const env = Object.fromEntries(Object.keys(settings).map((name) => [name, secretly]));
    for (const read of [readWorkerConfig, readIngressConfig, readCodecServerConfig]) {
      expect(() => read(env)).toThrow(ConfigInvalid);
      expect(() => read(env)).not.toThrow(/very secret/);
    }
  });
});

describe('Temporal', () => {
  test('is found by the standard settings', () => {
    const address = 'temporal.example:7233';
    const env = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'lab', TEMPORAL_API_KEY: 'invented' };
    const connection = { address, apiKey: 'invented', tls: { serverRootCACertificate: expect.any(Buffer) as Buffer } };
    expect(ingress(env).temporal).toMatchObject({ address, namespace: 'lab', connection });
  });

  test('is found by a profile, and a setting overrides what the profile says', async () => {
    const file = await fileWith('[profile.lab]\naddress = "a.example:7233"\nnamespace = "of-the-profile"\n');
    const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'lab', TEMPORAL_NAMESPACE: 'given' };
    expect(ingress(env).temporal).toMatchObject({ address: 'a.example:7233', namespace: 'given' });
    const ofProfile = { namespace: 'of-the-profile', connectionOptions: { address: 'a.example:7233' } };
    const other = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'other' };
    expect(readTemporalSettings(other, 'lab')).toMatchObject(ofProfile);
    expect(() => readTemporalSettings(other)).toThrow(/Profile 'other' not found/);
  });

  test.each(['localhost', '[::1]:7233', 'us-east-1.aws.api.temporal.io:7233'])('takes the address %s', (address) => {
    expect(ingress({ TEMPORAL_ADDRESS: address }).temporal.address).toBe(address);
  });

  test('a profile file that is not TOML is a fault that does not show the lines around it', async () => {
    const file = await fileWith('[profile.default]\napi_key = "very-secret"\naddress = \n');
    const faults = faultsOf(() => ingress({ TEMPORAL_CONFIG_FILE: file }));
    expect(faults['TEMPORAL_*']).toMatch(/could not be read/);
    expect(JSON.stringify(faults)).not.toContain('very-secret');
    expect(() => readTemporalSettings({ TEMPORAL_CONFIG_FILE: file })).toThrow(TemporalSettingInvalid);
  });
});
