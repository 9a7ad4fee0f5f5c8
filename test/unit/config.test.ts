import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { installationOf, InstallationInvalid } from '../../client/config.js';
import {
  readCodecServerConfig,
  readIngressConfig,
  readSingleProcessConfig,
  readWorkerConfig,
} from '../../workers/config.js';
import { ConfigInvalid } from '../../workers/settings/faults.js';

const service = { SERVICE_BASE_URL: 'http://127.0.0.1:4010', SERVICE_API_KEY: 'sk_invented' };
const secret = `whsec_${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}`;
const webhooks = { WEBHOOK_SECRETS: secret };
const encryptionKey = Buffer.from('an-invented-key-with-32-bytes-02').toString('base64');
const encryption = { LABOPS_ENCRYPTION_KEYS: `new:${encryptionKey},old:${encryptionKey}` };

/** The faults by setting. */
function faultsOf(read: () => unknown): Record<string, string> {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    return Object.fromEntries(error.faults.map(({ setting, problem }) => [setting, problem]));
  }
  return expect.unreachable('the settings were accepted');
}

const workerFaults = (env: object) => faultsOf(() => readWorkerConfig({ ...service, ...env }));
const ingressFaults = (env: object) => faultsOf(() => readIngressConfig({ ...webhooks, ...env }));

describe('the worker', () => {
  // proves 211, 217, 225, 244, 313
  test('needs an address and a key of the service, and has a default for the rest', () => {
    expect(readWorkerConfig(service)).toEqual({
      temporal: { address: '127.0.0.1:7233', namespace: 'default', connection: { address: '127.0.0.1:7233' } },
      taskQueue: 'lab-operations',
      logLevel: 'info',
      monitoring: { host: '127.0.0.1' },
      shutdownGraceSeconds: 35,
      addresses: {},
      allowsPlaintext: false,
      serviceSeconds: 30,
      service: {
        baseUrl: 'http://127.0.0.1:4010',
        apiKey: 'sk_invented',
        brand: 'service',
        keyPrefixes: {},
        deprecatedManagementHeader: false,
        ordersPath: '/orders',
        usersPath: '/v2/user/',
        createOrderPath: '/v3/order',
        orderRules: 'service',
        headersTimeoutMs: 30_000,
        timeoutMs: 60_000,
      },
      installation: ['default'],
      echoesPassthrough: true,
      reportFiles: { maxBytes: 10_485_760, allowedHosts: [] },
      queues: {
        polls: ['main', 'background', 'notifications', 'files'],
        slots: { background: 16, notifications: 50, files: 4 },
      },
      maxCachedWorkflows: 1000,
      reconcileEveryMinutes: 60,
      databasePoolSize: 10,
      encryption: 'optional',
      traces: 'off',
      healthData: 'on',
      notifications: 'on',
      rejectedEventsDays: 90,
      warnings: [],
    });
  });

  test('takes every setting', () => {
    const config = readWorkerConfig({
      ...service,
      SERVICE_BRAND: 'acme',
      SERVICE_ORDERS_PATH: '/v3/orders',
      SERVICE_USERS_PATH: '/v2/user',
      SERVICE_CREATE_ORDER_PATH: '/v3/order/create',
      SERVICE_ECHOES_PASSTHROUGH: 'false',
      SERVICE_TIMEOUT_SECONDS: '10',
      NOTIFY_URL: 'https://product.example/lab?tenant=1',
      NOTIFY_SECRET: secret,
      NOTIFY_CLIENT_USER_ID: 'true',
      TASK_QUEUE: 'other',
      LOG_LEVEL: 'warn',
      MAX_CACHED_WORKFLOWS: '50',
      REPORT_ROOT: '/srv/reports',
      REPORT_MAX_BYTES: '31457280',
      REPORT_URL_ALLOWED_HOSTS: 'Files.internal:8443, [::1]:9000 ,',
      SHUTDOWN_GRACE_SECONDS: '0',
    });
    expect(config).toMatchObject({
      service: {
        brand: 'acme',
        ordersPath: '/v3/orders',
        usersPath: '/v2/user',
        createOrderPath: '/v3/order/create',
        headersTimeoutMs: 10_000,
      },
      echoesPassthrough: false,
      notify: { url: 'https://product.example/lab?tenant=1', secret, namesClientUser: true },
      reportFiles: { root: '/srv/reports', maxBytes: 31_457_280, allowedHosts: ['files.internal:8443', '[::1]:9000'] },
      taskQueue: 'other',
      logLevel: 'warn',
      maxCachedWorkflows: 50,
      shutdownGraceSeconds: 0,
    });
  });

  // proves 12-15
  test.each([
    ['production-us', 'SERVICE_URL_PRODUCTION_US'],
    ['production-eu', 'SERVICE_URL_PRODUCTION_EU'],
    ['sandbox-us', 'SERVICE_URL_SANDBOX_US'],
    ['sandbox-eu', 'SERVICE_URL_SANDBOX_EU'],
  ])('reads the address of the environment %s from %s, and none is built in', (environment, setting) => {
    const env = { SERVICE_API_KEY: 'sk_invented', SERVICE_ENVIRONMENT: environment };
    expect(faultsOf(() => readWorkerConfig(env))).toEqual({
      [setting]: `is missing, but SERVICE_ENVIRONMENT is ${environment}`,
    });
    const config = readWorkerConfig({ ...env, [setting]: 'https://api.example.com' });
    expect(config.service.baseUrl).toBe('https://api.example.com');
  });

  test('takes no address beside an environment: nobody could see which of the two has no effect', () => {
    const env = { ...service, SERVICE_ENVIRONMENT: 'sandbox-eu', SERVICE_URL_SANDBOX_EU: 'https://api.example.com' };
    expect(faultsOf(() => readWorkerConfig(env))).toEqual({
      SERVICE_BASE_URL: 'is set, and so is SERVICE_ENVIRONMENT',
    });
    expect(readWorkerConfig({ ...env, SERVICE_BASE_URL: '' }).service.baseUrl).toBe('https://api.example.com');
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
    const blank = { ...service, NOTIFY_URL: '', NOTIFY_SECRET: ' ', TASK_QUEUE: '', TEMPORAL_ADDRESS: '' };
    expect(readWorkerConfig(blank)).toEqual(readWorkerConfig(service));
    expect(workerFaults({ SERVICE_API_KEY: ' ' })).toEqual({ SERVICE_API_KEY: 'is missing' });
  });

  test('needs no webhook secrets, and ignores invalid settings of the ingress', () => {
    expect(() => readWorkerConfig({ ...service, INGRESS_PORT: 'wrong' })).not.toThrow();
  });

  test('needs NOTIFY_SECRET if NOTIFY_URL is set', () => {
    expect(workerFaults({ NOTIFY_URL: 'https://product.example' })).toEqual({
      NOTIFY_SECRET: 'is missing, but NOTIFY_URL is set',
    });
  });

  test('sends no notifications only if that is set explicitly, and not beside an endpoint', () => {
    expect(readWorkerConfig(service)).not.toHaveProperty('notify');
    expect(readWorkerConfig({ ...service, NOTIFICATIONS: 'on' })).not.toHaveProperty('notify');
    expect(readWorkerConfig({ ...service, NOTIFICATIONS: 'off' })).toMatchObject({ notify: 'off' });
    const endpoint = { NOTIFY_URL: 'https://product.example', NOTIFY_SECRET: secret };
    expect(workerFaults({ ...endpoint, NOTIFICATIONS: 'off' })).toEqual({
      NOTIFICATIONS: 'is off, but NOTIFY_URL is set',
    });
    expect(workerFaults({ NOTIFICATIONS: 'no' })).toEqual({ NOTIFICATIONS: 'is neither on nor off' });
  });

  test('lists all faults at once', () => {
    const env = {
      SERVICE_ENVIRONMENT: 'mars',
      SERVICE_BRAND: 'two words',
      SERVICE_ORDERS_PATH: 'orders',
      SERVICE_ECHOES_PASSTHROUGH: 'maybe',
      SERVICE_TIMEOUT_SECONDS: '0',
      NOTIFY_URL: 'ftp://product.example',
      NOTIFY_SECRET: 'not base64!',
      LOG_LEVEL: 'loud',
      MAX_CACHED_WORKFLOWS: '1e3',
      REPORT_ROOT: 'reports',
      REPORT_MAX_BYTES: '0',
      REPORT_URL_ALLOWED_HOSTS: 'https://files.internal',
      SHUTDOWN_GRACE_SECONDS: '-1',
      TEMPORAL_PROFILE: 'not-there',
    };
    const faults = faultsOf(() => readWorkerConfig(env));
    expect(Object.keys(faults).toSorted()).toEqual(
      ['SERVICE_API_KEY', 'TEMPORAL_*', ...Object.keys(env).filter((name) => name !== 'TEMPORAL_PROFILE')].toSorted(),
    );
  });

  test('reports rules between settings beside a setting that is missing: a start that fails twice costs two deployments', () => {
    const env = {
      NODE_ENV: 'production',
      SERVICE_BRAND: 'two words',
      SERVICE_API_KEY: 'sk_invented',
      SERVICE_MANAGEMENT_KEY: 'sk_invented',
      NOTIFICATIONS: 'off',
      NOTIFY_URL: 'https://product.example',
      REPORT_URL_HEADERS_FILE: '/not/there.json',
      TEMPORAL_CONFIG_FILE: '/not/there.toml',
      TEMPORAL_TLS: 'True',
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

  test.each([
    'api.example.com',
    'ftp://api.example.com',
    'https://user:password@api.example.com',
    'https://api.example.com?key=1',
    'https://api.example.com#part',
  ])('refuses %s as the address of the service', (address) => {
    expect(workerFaults({ SERVICE_BASE_URL: address })).toHaveProperty('SERVICE_BASE_URL');
  });
});

describe('the headers for reports at URLs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lab-operations-headers-'));
  afterAll(() => rm(folder, { recursive: true }));

  async function headersFile(text: string): Promise<string> {
    const file = join(folder, `${randomUUID()}.json`);
    await writeFile(file, text);
    return file;
  }

  test('are read from their file', async () => {
    const sets = { store: { hosts: ['files.example.com'], headers: { authorization: 'Bearer invented' } } };
    const file = await headersFile(JSON.stringify(sets));
    const { reportFiles } = readWorkerConfig({ ...service, REPORT_URL_HEADERS_FILE: file });
    expect(reportFiles.headerSets).toEqual(sets);
  });

  test.each([
    ['is not JSON', '{"store": very-secret', 'names a file that is not a JSON object of header sets'],
    [
      'lacks its hosts',
      '{"store":{"headers":{"a":"very-secret"}}}',
      'names a file that is not a JSON object of header sets',
    ],
    [
      'has a header that cannot be sent',
      '{"store":{"hosts":["files.example.com"],"headers":{"a":"very-secret\\n"}}}',
      'names a file with a fault: header set store: a must be printable ASCII',
    ],
  ])(
    'the headers for reports at URLs from a file that %s are a fault that shows no value',
    async (_what, text, problem) => {
      const file = await headersFile(text);
      expect(workerFaults({ REPORT_URL_HEADERS_FILE: file })).toEqual({ REPORT_URL_HEADERS_FILE: problem });
    },
  );

  test('the headers for reports at URLs from a file may begin with a byte order mark, and must be UTF-8', async () => {
    const sets = '{"store":{"hosts":["files.example.com"],"headers":{"a":"b"}}}';
    const marked = await headersFile(`\uFEFF${sets}`);
    expect(readWorkerConfig({ ...service, REPORT_URL_HEADERS_FILE: marked })).toBeDefined();
    await writeFile(marked, Buffer.from(sets, 'utf16le'));
    expect(workerFaults({ REPORT_URL_HEADERS_FILE: marked })).toEqual({
      REPORT_URL_HEADERS_FILE: 'names a file that is UTF-16 instead of UTF-8',
    });
  });

  test('the headers for reports at URLs from a file that does not exist are a fault', () => {
    const env = { ...service, REPORT_URL_HEADERS_FILE: join(folder, 'not-there.json') };
    expect(faultsOf(() => readWorkerConfig(env))).toEqual({
      REPORT_URL_HEADERS_FILE: 'names a file that cannot be read',
    });
  });
});

describe('the ingress', () => {
  test('needs webhook secrets only', () => {
    expect(readIngressConfig(webhooks)).toMatchObject({
      host: '0.0.0.0',
      port: 4000,
      webhookSecrets: [secret],
      webhookMaxBytes: 2 * 1024 * 1024,
      drainSeconds: 5,
      taskQueue: 'lab-operations',
    });
    expect(faultsOf(() => readIngressConfig({}))).toEqual({ WEBHOOK_SECRETS: 'is missing' });
  });

  test('accepts the id of its team', () => {
    expect(readIngressConfig({ ...webhooks, SERVICE_TEAM_ID: 'team-1' }).teamId).toBe('team-1');
    expect(readIngressConfig(webhooks)).not.toHaveProperty('teamId');
    expect(ingressFaults({ SERVICE_TEAM_ID: 'our team' })).toEqual({ SERVICE_TEAM_ID: 'is not an id' });
  });

  test('accepts several secrets, with spaces and a comma at the end', () => {
    const other = 'AAECAwQFBgcICQoLDA0ODw==';
    expect(readIngressConfig({ WEBHOOK_SECRETS: ` ${secret} , ${other}, ` }).webhookSecrets).toEqual([secret, other]);
  });

  test.each([
    [',', 'holds no secret'],
    ['whsec_', 'is empty after whsec_'],
    ['whsec_!', 'is not whsec_ followed by base64'],
    [`${secret},whsec_!`, '(secret 2 of 2) is not whsec_ followed by base64'],
    [`${secret},c2hvcnQ=`, '(secret 2 of 2) has 5 bytes instead of at least 16'],
    [`v1,${secret}`, '(secret 1 of 2) begins with v1, which is the version of a signature and not part of a secret'],
  ])('refuses the secrets %j', (secrets, problem) => {
    expect(faultsOf(() => readIngressConfig({ WEBHOOK_SECRETS: secrets }))).toEqual({ WEBHOOK_SECRETS: problem });
  });

  test.each(['-1', '65536', '80.5', 'http', '0x50'])('refuses the port %s', (port) => {
    expect(ingressFaults({ INGRESS_PORT: port })).toEqual({ INGRESS_PORT: 'is not a whole number from 0 to 65535' });
  });
});

describe('the name of the installation', () => {
  test('is required in production, and default elsewhere', () => {
    const production = { NODE_ENV: 'production', ...encryption };
    const fault = { LABOPS_INSTALLATION: 'is missing, but this is production' };
    expect(workerFaults({ ...production })).toEqual(fault);
    expect(ingressFaults({ ...production, LABOPS_INSTALLATION: ' ' })).toEqual(fault);
    expect(readIngressConfig(webhooks).installation).toEqual(['default']);
  });

  test('is followed by its former names', () => {
    const env = { ...service, LABOPS_INSTALLATION: 'eu-1', LABOPS_FORMER_INSTALLATIONS: ' eu, ,europe' };
    expect(readWorkerConfig(env).installation).toEqual(['eu-1', 'eu', 'europe']);
    expect(installationOf(undefined, env)).toEqual(['eu-1', 'eu', 'europe']);
  });

  test.each(['a:b', 'a b', 'a/b', 'ü', 'x'.repeat(33)])('is refused if it cannot stand in a signature: %j', (name) => {
    const one = { ...service, LABOPS_INSTALLATION: name };
    const former = { ...service, LABOPS_FORMER_INSTALLATIONS: `eu,${name}` };
    expect(Object.keys(faultsOf(() => readWorkerConfig(one)))).toEqual(['LABOPS_INSTALLATION']);
    expect(() => readWorkerConfig(one)).toThrow(/^(?!.*1 to 32.*1 to 32).*1 to 32/m);
    expect(Object.keys(faultsOf(() => readWorkerConfig(former)))).toEqual(['LABOPS_FORMER_INSTALLATIONS']);
    expect(() => installationOf([name])).toThrow(InstallationInvalid);
    expect(() => installationOf(undefined, { LABOPS_INSTALLATION: name })).toThrow(InstallationInvalid);
  });

  test('is required of a backend in production', () => {
    expect(() => installationOf(undefined, { NODE_ENV: 'production' })).toThrow(InstallationInvalid);
    expect(installationOf(['eu'], { NODE_ENV: 'production' })).toEqual(['eu']);
    expect(installationOf(undefined, {})).toEqual(['default']);
  });
});

describe('encryption keys', () => {
  test.each([
    ['the worker', () => readWorkerConfig({ ...service, ...encryption })],
    ['the ingress', () => readIngressConfig({ ...webhooks, ...encryption })],
    ['the codec server', () => readCodecServerConfig(encryption)],
  ])('are taken by %s, the first to encrypt with', (_process, read) => {
    expect(read().keyRing?.map(({ id }) => id)).toEqual(['new', 'old']);
  });

  test('may be left out for worker and ingress, and not for the codec server', () => {
    expect(readWorkerConfig({ ...service, LABOPS_ENCRYPTION_KEYS: ' ' })).not.toHaveProperty('keyRing');
    expect(readIngressConfig(webhooks)).not.toHaveProperty('keyRing');
    expect(faultsOf(() => readCodecServerConfig({}))).toEqual({ LABOPS_ENCRYPTION_KEYS: 'is missing' });
  });

  test('are required if encryption is required, which it is in production', () => {
    const named = { LABOPS_INSTALLATION: 'invented' };
    const read = {
      worker: (env: object) => readWorkerConfig({ ...service, ...named, ...env }),
      ingress: (env: object) => readIngressConfig({ ...webhooks, ...named, ...env }),
      single: (env: object) => readSingleProcessConfig({ ...service, ...webhooks, ...named, ...env }).worker,
    };
    for (const [name, readConfig] of Object.entries(read)) {
      const fault = {
        LABOPS_ENCRYPTION_KEYS: 'is missing, but LABOPS_ENCRYPTION is required (the default in production)',
      };
      for (const env of [
        { LABOPS_ENCRYPTION: 'required' },
        { NODE_ENV: 'production' },
        { NODE_ENV: 'production', LABOPS_ENCRYPTION: ' ' },
      ]) {
        expect(
          faultsOf(() => readConfig(env)),
          name,
        ).toEqual(fault);
        expect(readConfig({ ...env, ...encryption }).encryption, name).toBe('required');
      }
      expect(readConfig({ NODE_ENV: 'production', LABOPS_ENCRYPTION: 'optional' }).encryption, name).toBe('optional');
      expect(readConfig({ NODE_ENV: 'test' }).encryption, name).toBe('optional');
      expect(
        faultsOf(() => readConfig({ LABOPS_ENCRYPTION: 'yes' })),
        name,
      ).toEqual({ LABOPS_ENCRYPTION: 'is neither required nor optional' });
    }
  });

  test('are required by LABOPS_ENCRYPTION: its former name is a fault', () => {
    for (const faults of [workerFaults, ingressFaults]) {
      expect(faults({ ENCRYPTION: 'required' })).toEqual({ ENCRYPTION: 'is now called LABOPS_ENCRYPTION' });
    }
    expect(() => readCodecServerConfig({ ...encryption, ENCRYPTION: 'required' })).not.toThrow();
  });

  test('are refused by their position', () => {
    const wrong = { LABOPS_ENCRYPTION_KEYS: `new:${encryptionKey},old:c2hvcnQ=` };
    for (const read of [() => readWorkerConfig({ ...service, ...wrong }), () => readCodecServerConfig(wrong)]) {
      expect(faultsOf(read)).toEqual({ LABOPS_ENCRYPTION_KEYS: '(key 2 of 2) has a key of 5 bytes instead of 32' });
    }
  });
});

describe('the codec server', () => {
  test('listens on this machine and allows its Web UI by default', () => {
    expect(readCodecServerConfig(encryption)).toMatchObject({
      host: '127.0.0.1',
      port: 8234,
      allowedOrigins: ['http://localhost:8233', 'http://127.0.0.1:8233'],
    });
  });

  test.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('needs no token on %s', (host) => {
    expect(readCodecServerConfig({ ...encryption, CODEC_HOST: host })).not.toHaveProperty('token');
  });

  test.each(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', 'localhost.example.com'])(
    'needs a token on %s, or an explicit setting that it may be open',
    (host) => {
      const env = { ...encryption, CODEC_HOST: host };
      expect(faultsOf(() => readCodecServerConfig(env))).toEqual({
        CODEC_TOKEN: 'is missing, but CODEC_HOST is not an address of this machine only',
      });
      expect(readCodecServerConfig({ ...env, CODEC_TOKEN: 'an-invented-token-to-read' }).token).toBe(
        'an-invented-token-to-read',
      );
      expect(readCodecServerConfig({ ...env, CODEC_OPEN: 'true' })).not.toHaveProperty('token');
    },
  );

  test('accepts origins, and refuses what a browser would never send as one', () => {
    const withOrigins = (origins: string) => readCodecServerConfig({ ...encryption, CODEC_ALLOWED_ORIGINS: origins });
    expect(withOrigins('https://temporal.example.com, http://localhost:8080,').allowedOrigins).toEqual([
      'https://temporal.example.com',
      'http://localhost:8080',
    ]);
    for (const wrong of ['*', 'https://temporal.example.com/', 'temporal.example.com', 'https://*.example.com', ',']) {
      expect(
        faultsOf(() => withOrigins(wrong)),
        wrong,
      ).toEqual({
        CODEC_ALLOWED_ORIGINS: 'is not a list of origins such as https://temporal.example.com',
      });
    }
  });

  test('lists all faults at once', () => {
    const env = {
      LABOPS_ENCRYPTION_KEYS: 'x',
      CODEC_PORT: 'x',
      CODEC_TOKEN: 'short',
      CODEC_OPEN: 'yes',
      LOG_LEVEL: 'x',
    };
    expect(Object.keys(faultsOf(() => readCodecServerConfig(env))).toSorted()).toEqual(Object.keys(env).toSorted());
    expect(faultsOf(() => readCodecServerConfig({ CODEC_HOST: '0.0.0.0' }))).toEqual({
      LABOPS_ENCRYPTION_KEYS: 'is missing',
      CODEC_TOKEN: 'is missing, but CODEC_HOST is not an address of this machine only',
    });
  });
});

describe('the place of health data', () => {
  const databaseUrl = 'postgres://lab:password@127.0.0.1:5432/lab?sslmode=require';
  const directory = '/var/lib/invented';

  test('is nowhere unless it is set', () => {
    expect(readIngressConfig(webhooks)).not.toHaveProperty('databaseUrl');
    expect(readSingleProcessConfig({ ...service, ...webhooks })).not.toHaveProperty('store');
  });

  test('is a PostgreSQL database', () => {
    expect(readIngressConfig({ ...webhooks, DATABASE_URL: databaseUrl })).toMatchObject({ databaseUrl });
    expect(readWorkerConfig({ ...service, DATABASE_URL: databaseUrl })).toMatchObject({ databaseUrl });
    const config = readSingleProcessConfig({ ...service, ...webhooks, DATABASE_URL: databaseUrl });
    expect(config.store).toEqual({ databaseUrl, poolSize: 10 });
  });

  test('may explicitly be off, but not beside a place', () => {
    for (const read of [
      () => readWorkerConfig({ ...service, HEALTH_DATA: 'off' }),
      () => readIngressConfig({ ...webhooks, HEALTH_DATA: 'off' }),
      () => readSingleProcessConfig({ ...service, ...webhooks, HEALTH_DATA: 'off' }).worker,
    ]) {
      expect(read()).toMatchObject({ healthData: 'off' });
    }
    const fault = (place: string) => ({ HEALTH_DATA: `is off, but ${place} is set` });
    const off = { ...service, ...webhooks, HEALTH_DATA: 'off' };
    for (const read of [readWorkerConfig, readIngressConfig, readSingleProcessConfig]) {
      expect(faultsOf(() => read({ ...off, DATABASE_URL: databaseUrl }))).toEqual(fault('DATABASE_URL'));
    }
    expect(faultsOf(() => readSingleProcessConfig({ ...off, HEALTH_DATA_DIRECTORY: directory }))).toEqual(
      fault('HEALTH_DATA_DIRECTORY'),
    );
  });

  test('is written to by as many connections as are set', () => {
    const env = { ...webhooks, DATABASE_URL: databaseUrl };
    expect(readIngressConfig({ ...env, DATABASE_POOL_SIZE: '3' })).toMatchObject({ databasePoolSize: 3 });
    expect(faultsOf(() => readIngressConfig({ ...env, DATABASE_POOL_SIZE: '0' }))).toEqual({
      DATABASE_POOL_SIZE: 'is not a whole number from 1 to 1000',
    });
  });

  test.each(['mysql://127.0.0.1/lab', '127.0.0.1:5432', 'postgres'])('is never %s', (url) => {
    const faults = ingressFaults({ DATABASE_URL: url });
    expect(faults).toEqual({ DATABASE_URL: 'is not the address of a PostgreSQL database' });
  });

  test('can be a directory only if one process does everything', () => {
    const env = { ...service, ...webhooks, HEALTH_DATA_DIRECTORY: directory };
    for (const read of [readWorkerConfig, readIngressConfig]) {
      expect(faultsOf(() => read(env))).toEqual({
        HEALTH_DATA_DIRECTORY: 'is only for programs that run everything in one process',
      });
    }
    expect(readSingleProcessConfig(env).store).toEqual({ directory });
    expect(faultsOf(() => readSingleProcessConfig({ ...env, DATABASE_URL: databaseUrl }))).toEqual({
      HEALTH_DATA_DIRECTORY: 'is set, and so is DATABASE_URL',
    });
  });

  test('can be read from the machine of one process if a port is set', () => {
    const env = { ...service, ...webhooks, HEALTH_DATA_DIRECTORY: directory };
    expect(readSingleProcessConfig(env)).not.toHaveProperty('healthDataPort');
    expect(readSingleProcessConfig({ ...env, HEALTH_DATA_PORT: ' 0 ' })).toMatchObject({ healthDataPort: 0 });
    for (const port of ['x', '65536', '-1', '1.5']) {
      expect(faultsOf(() => readSingleProcessConfig({ ...env, HEALTH_DATA_PORT: port }))).toEqual({
        HEALTH_DATA_PORT: 'is not a whole number from 0 to 65535',
      });
    }
  });

  test('one process lists every fault of its health data settings once', () => {
    expect(faultsOf(() => readSingleProcessConfig({ LOG_LEVEL: 'loud' }))).toEqual({
      LOG_LEVEL: 'is not a level',
      SERVICE_API_KEY: 'is missing',
      SERVICE_BASE_URL: 'is missing',
      WEBHOOK_SECRETS: 'is missing',
    });
  });
});

describe('the message', () => {
  test('names setting, problem and remedy, one line each', () => {
    expect(() => readIngressConfig({ INGRESS_PORT: 'x' })).toThrow(
      new ConfigInvalid([
        {
          setting: 'WEBHOOK_SECRETS',
          problem: 'is missing',
          remedy:
            "copy the signing secret (whsec_…) from the service's webhook settings; during a rotation give both, with a comma between",
        },
        {
          setting: 'INGRESS_PORT',
          problem: 'is not a whole number from 0 to 65535',
          remedy: 'set a free port; the default is 4000',
        },
      ]),
    );
  });

  // proves 246, 247
  test('accepts what the management API needs, and needs none of it if nothing is managed', () => {
    const env = {
      ...service,
      SERVICE_MANAGEMENT_KEY: 'mk_invented',
      SERVICE_MANAGEMENT_URL: 'https://org.example.com',
      SERVICE_TEAM_KEY_PREFIX: 'sk_',
      SERVICE_MANAGEMENT_KEY_PREFIX: 'mk_',
      SERVICE_DEPRECATED_MANAGEMENT_HEADER: 'true',
    };
    const managed = {
      managementKey: 'mk_invented',
      managementBaseUrl: 'https://org.example.com',
      keyPrefixes: { team: 'sk_', management: 'mk_' },
      deprecatedManagementHeader: true,
    };
    expect(readWorkerConfig(env).service).toMatchObject(managed);
    const { service: unmanaged } = readWorkerConfig(service);
    expect(unmanaged).toMatchObject({ keyPrefixes: {}, deprecatedManagementHeader: false });
    for (const name of ['managementKey', 'managementBaseUrl']) expect(unmanaged).not.toHaveProperty(name);
  });

  // proves 250
  test.each([
    [{ SERVICE_MANAGEMENT_KEY: 'sk_invented' }, 'SERVICE_API_KEY', 'must not be the management key'],
    [{ SERVICE_MANAGEMENT_KEY_PREFIX: 'sk_' }, 'SERVICE_API_KEY', 'begins as a management key does'],
    [
      { SERVICE_MANAGEMENT_KEY: 'sk_other', SERVICE_TEAM_KEY_PREFIX: 'sk_' },
      'SERVICE_MANAGEMENT_KEY',
      'begins as a team key does',
    ],
    [
      { SERVICE_TEAM_KEY_PREFIX: 'sk_', SERVICE_MANAGEMENT_KEY_PREFIX: 'sk_' },
      'SERVICE_MANAGEMENT_KEY_PREFIX',
      'must differ for the two kinds of keys',
    ],
  ])('refuses a key in place of the other kind: %j', (more, setting, problem) => {
    expect(workerFaults({ ...more })).toEqual({ [setting]: problem });
  });

  test('shows no value of any setting: each may be a secret in the wrong place', () => {
    const names = [
      ...['SERVICE_BASE_URL', 'SERVICE_API_KEY', 'SERVICE_BRAND', 'SERVICE_ORDERS_PATH', 'SERVICE_TIMEOUT_SECONDS'],
      ...['SERVICE_ECHOES_PASSTHROUGH', 'NOTIFY_URL', 'NOTIFY_SECRET', 'WEBHOOK_SECRETS', 'INGRESS_PORT', 'LOG_LEVEL'],
      ...['REPORT_ROOT', 'REPORT_MAX_BYTES', 'REPORT_URL_ALLOWED_HOSTS', 'REPORT_URL_HEADERS_FILE'],
      ...['WEBHOOK_MAX_BYTES', 'TASK_QUEUE', 'MAX_CACHED_WORKFLOWS', 'SERVICE_ENVIRONMENT', 'INGRESS_HOST'],
      ...['SERVICE_MANAGEMENT_KEY', 'SERVICE_MANAGEMENT_URL', 'SERVICE_DEPRECATED_MANAGEMENT_HEADER'],
      ...['SERVICE_TEAM_KEY_PREFIX', 'SERVICE_MANAGEMENT_KEY_PREFIX'],
      ...['LABOPS_ENCRYPTION_KEYS', 'CODEC_TOKEN', 'CODEC_ALLOWED_ORIGINS', 'CODEC_HOST'],
    ];
    const env = Object.fromEntries(names.map((name) => [name, `very secret ${'x'.repeat(200)}\u0007`]));
    for (const read of [readWorkerConfig, readIngressConfig, readCodecServerConfig]) {
      expect(() => read(env)).toThrow(ConfigInvalid);
      expect(() => read(env)).not.toThrow(/very secret/);
    }
  });
});

describe('Temporal', () => {
  const folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
  });

  async function profileFile(text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'lab-operations-config-'));
    folders.push(folder);
    await writeFile(join(folder, 'temporal.toml'), text);
    return join(folder, 'temporal.toml');
  }

  test('is found by the standard settings', () => {
    const { temporal } = readIngressConfig({
      ...webhooks,
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'lab',
      TEMPORAL_API_KEY: 'invented',
    });
    expect(temporal).toMatchObject({
      address: 'temporal.example:7233',
      namespace: 'lab',
      connection: { address: 'temporal.example:7233', apiKey: 'invented', tls: true },
    });
  });

  test('is found by a profile, and a setting overrides what the profile says', async () => {
    const file = await profileFile('[profile.lab]\naddress = "a.example:7233"\nnamespace = "of-the-profile"\n');
    const env = { ...webhooks, TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'lab', TEMPORAL_NAMESPACE: 'given' };
    expect(readIngressConfig(env).temporal).toMatchObject({ address: 'a.example:7233', namespace: 'given' });
  });

  test('a profile file that is named but not there is a fault', () => {
    const env = { ...webhooks, TEMPORAL_CONFIG_FILE: join(tmpdir(), 'not', 'there.toml') };
    expect(faultsOf(() => readIngressConfig(env))).toEqual({
      TEMPORAL_CONFIG_FILE: 'names a file that does not exist',
    });
  });

  test.each(['http://temporal.example:7233', 'temporal.example:7233/', 'temporal:72a', ':7233'])(
    'an address of another form than host:port is a fault: %s',
    (address) => {
      expect(ingressFaults({ TEMPORAL_ADDRESS: address })).toEqual({ TEMPORAL_ADDRESS: 'is not host:port' });
    },
  );

  test.each(['localhost', '[::1]:7233', 'us-east-1.aws.api.temporal.io:7233'])('takes the address %s', (address) => {
    expect(readIngressConfig({ ...webhooks, TEMPORAL_ADDRESS: address }).temporal.address).toBe(address);
  });

  test.each(['True', 'yes', 'on'])('TEMPORAL_TLS=%s is a fault: the SDK would take it for false', (value) => {
    expect(ingressFaults({ TEMPORAL_TLS: value })).toEqual({ TEMPORAL_TLS: 'is neither true nor false' });
  });

  test('a profile file that is not TOML is a fault that does not show the lines around it', async () => {
    const file = await profileFile('[profile.default]\napi_key = "very-secret"\naddress = \n');
    const faults = ingressFaults({ TEMPORAL_CONFIG_FILE: file });
    expect(faults['TEMPORAL_*']).toMatch(/could not be read/);
    expect(JSON.stringify(faults)).not.toContain('very-secret');
  });
});
