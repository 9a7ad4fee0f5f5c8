import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readKeyRing, TemporalSettingInvalid } from '../../client/config.js';
import { readTemporalSettings } from '../../client/temporal.config.js';
import { readIngressConfig, readWorkerConfig } from '../../workers/settings/config.js';
import { misspeltSettings } from '../../workers/settings/misspelt.js';
import { otherPair, serverPair } from '../rig/certificates.js';
import { projectFolder } from '../rig/processes.js';
import {
  codecServer,
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

const bytes = (count: number) => Buffer.from('an-invented-secret-of-many-bytes'.slice(0, count)).toString('base64');
const keys = `k:${encryptionKey}`;

describe('plain http', () => {
  const plain = 'is plain http, which others can read in transit';

  test.each<[string, string, Env?]>([
    ['SERVICE_BASE_URL', 'http://api.example.com'],
    ['SERVICE_MANAGEMENT_URL', 'http://[2001:db8::1]/'],
    ['NOTIFY_URL', 'http://localhost.example.com/events', { NOTIFY_SECRET: secret }],
  ])('is refused for %s=%s, unless it is declared protected', (setting, url, env = {}) => {
    const given = { ...env, [setting]: url };
    expect(faultsOf(() => worker(given))).toEqual({ [setting]: plain });
    expect(faultsOf(() => worker({ ...given, ALLOW_PLAINTEXT: 'false' }))).toEqual({ [setting]: plain });
    expect(() => worker({ ...given, ALLOW_PLAINTEXT: 'true' })).not.toThrow();
  });

  test.each(['localhost:4010', '127.0.0.1:4010', '127.9.9.9', '[::1]:4010', 'sandbox:4010', 'lab.localhost'])(
    'is accepted for %s, which is reached without leaving this machine or network',
    (host) => expect(() => worker({ SERVICE_BASE_URL: `http://${host}` })).not.toThrow(),
  );
});

describe('a warning', () => {
  const warningsOf = (env: Env) => worker(env).warnings;

  test('says that the database is reached without TLS, and shows nothing of its address', () => {
    for (const query of ['', '?sslmode=prefer', '?sslmode=disable']) {
      const warnings = warningsOf({ DATABASE_URL: `postgres://user:hidden@db.example.com/health${query}` });
      const said = /^The database is reached without TLS: add \?sslmode=verify-full/;
      expect(warnings).toEqual([expect.stringMatching(said)]);
      expect(warnings.join('')).not.toMatch(/hidden|db\.example/);
    }
    for (const address of ['db.example.com/health?sslmode=verify-full', 'localhost/health', 'postgresql:5432/health']) {
      expect(warningsOf({ DATABASE_URL: `postgres://user:hidden@${address}` }), address).toEqual([]);
    }
  });

  test.each([
    ['user@%2Fvar%2Frun%2Fpostgresql/health', 0],
    ['user@%2ftmp:5433/health', 0],
    ['/health?host=/run/postgresql', 0],
    ['db.example.com/health?host=/run/postgresql', 0],
    ['/health?host=db.example.com', 1],
    ['user@db%2Eexample.com/health', 1],
  ])('about the database depends on where it is: a socket needs no TLS, as in postgres://%s', (address, warnings) => {
    expect(warningsOf({ DATABASE_URL: `postgres://${address}` })).toHaveLength(warnings);
  });

  test('says which setting a misspelt name may mean, unless that one is set, and not its value', () => {
    const said = 'NOTIFICATION is not a setting: did you mean NOTIFICATIONS?';
    expect(warningsOf({ NOTIFICATION: 'off' })).toEqual([said]);
    expect(warningsOf({ NOTIFICATION: 'off', NOTIFICATIONS: 'off' })).toEqual([]);
    expect(warningsOf({ NOTIFICATION: ' ' })).toEqual([]);
    expect(warningsOf({ task_queue: 'mine', LABOPS_COLOUR: 'red' })).toEqual([
      'task_queue is not a setting: did you mean TASK_QUEUE?',
      'LABOPS_COLOUR is not a setting: docs/settings.md lists them.',
    ]);
    expect(warningsOf({ TEMPORAL_NAMESPCE: 'lab', TEMPORAL_GRPC_META_TEAM: 'x' })).toEqual([
      'TEMPORAL_NAMESPCE is not a setting: did you mean TEMPORAL_NAMESPACE?',
    ]);
    expect(warningsOf({ LABOPS_ACTOR: 'nurse-7', LABOPS_READS_FILE: 'reads' })).toEqual([]);
    const read = () => readWorkerConfig({ SERVICE_BASEURL: 'https://api.example.com', SERVICE_API_KEY: 'sk_invented' });
    expect(read).toThrow(
      /\n {2}SERVICE_BASE_URL is missing: .*\n {2}SERVICE_BASEURL is not a setting: did you mean SERVICE_BASE_URL\?$/,
    );
    const both = single({ NOTIFICATION: 'off', HEALTH_DATA_DIRECTORY: '/data' });
    expect([...both.worker.warnings, ...both.ingress.warnings]).toEqual([said]);
    const ofCodecServer = codecServer({ CODEC_PORTS: '1' }).warnings;
    expect(ofCodecServer).toEqual(['CODEC_PORTS is not a setting: did you mean CODEC_PORT?']);
  });

  test("is not given for what the project's other programs read", async () => {
    const inFolder = async (folder: string) => {
      const files = await readdir(join(projectFolder, folder), { recursive: true });
      return files.filter((file) => file.endsWith('config.ts')).map((file) => join(projectFolder, folder, file));
    };
    const configs = await Promise.all(['sandbox', 'proof', 'tools'].map(inFolder));
    const texts = await Promise.all(configs.flat().map((file) => readFile(file, 'utf8')));
    const names = texts.flatMap((text) => text.match(/\b[A-Z][A-Z\d]*(_[A-Z\d]+)+\b/g) ?? []);
    expect(names).toContain('TEMPORAL_TEST_SERVER');
    for (const name of new Set(names)) expect(misspeltSettings({ [name]: 'invented' }), name).toEqual([]);
  });

  test('is not given for the variables of other programs', () => {
    const others = { NOTIFY_SOCKET: '/run/notify', DATABASE_HOST: 'db', SERVICE_NAME: 'x', INGRESS_SERVICE_PORT: '80' };
    const files = { LABOPS_ENCRYPTION_KEYS_FILE: '', LABOPS_TEAM_ID: 'team', TEMPORAL_TLS: 'true', LOGLEVEL: '' };
    const ofKubernetes = { LABOPS_SERVICE_HOST: '10.0.0.1', LABOPS_PORT: 'tcp://10.0.0.1:1', LABOPS_PORT_80_TCP: '' };
    expect(warningsOf(ofKubernetes)).toEqual([]);
    expect(warningsOf({ ...others, ...files, npm_config_user_agent: 'npm', NODE_ENV: 'test' })).toEqual([]);
  });

  test('says that Temporal is reached without TLS', () => {
    const far = { TEMPORAL_ADDRESS: 'temporal.example.com:7233' };
    expect(warningsOf(far)).toEqual([expect.stringMatching(/^Temporal is reached without TLS: set TEMPORAL_TLS=true/)]);
    expect(warningsOf({ ...far, TEMPORAL_TLS: 'true' })).toEqual([]);
    expect(warningsOf({ TEMPORAL_ADDRESS: 'temporal:7233' })).toEqual([]);
    expect(warningsOf({})).toEqual([]);
  });

  test('says that a webhook secret is short, which the service has chosen', () => {
    const warningsFor = (...counts: number[]) =>
      ingress({ WEBHOOK_SECRETS: counts.map((count) => `whsec_${bytes(count)}`).join(',') }).warnings;
    expect(warningsFor(24, 32)).toEqual([]);
    const said = /^WEBHOOK_SECRETS holds a secret of fewer than 24 bytes/;
    expect(warningsFor(32, 23)).toEqual([expect.stringMatching(said)]);
  });
});

test('a secret of our own has at least 24 bytes', () => {
  const notify = (count: number) =>
    worker({ NOTIFY_URL: 'https://product.example.com', NOTIFY_SECRET: `whsec_${bytes(count)}` }).notify;
  expect(faultsOf(() => notify(23))).toEqual({ NOTIFY_SECRET: 'has 23 bytes instead of at least 24' });
  expect(notify(24)).toBeDefined();
  const token = (count: number) => codecServer({ CODEC_TOKEN: 'x'.repeat(count) }).token;
  expect(faultsOf(() => token(23))).toEqual({ CODEC_TOKEN: 'is not 24 characters or more without spaces' });
  expect(token(24)).toBe('x'.repeat(24));
});

test('the codec server allows no page by default if it can be reached from elsewhere', () => {
  const open = { CODEC_OPEN: 'true', CODEC_HOST: '0.0.0.0' };
  expect(codecServer(open).allowedOrigins).toEqual([]);
  const origin = 'https://temporal.example.com';
  expect(codecServer({ ...open, CODEC_ALLOWED_ORIGINS: origin }).allowedOrigins).toEqual([origin]);
});

describe('a secret in a file', () => {
  test('is read for every setting that holds one', async () => {
    const database = 'postgres://user:password@localhost/health';
    const [keyRing, apiKey] = [await fileWith(`${keys}\n`), await fileWith('temporal_from_file')];
    const signing = await fileWith(`${secret}\n`);
    const config = readWorkerConfig({
      SERVICE_BASE_URL: service.SERVICE_BASE_URL,
      SERVICE_API_KEY_FILE: await fileWith('sk_from_file\n'),
      SERVICE_MANAGEMENT_KEY_FILE: await fileWith('\uFEFFmk_from_file'),
      LABOPS_ENCRYPTION_KEYS_FILE: keyRing,
      DATABASE_URL_FILE: await fileWith(database),
      TEMPORAL_API_KEY_FILE: apiKey,
      NOTIFY_URL: 'https://product.example.com',
      NOTIFY_SECRET_FILE: signing,
    });
    expect(config).toMatchObject({
      service: { apiKey: 'sk_from_file', managementKey: 'mk_from_file' },
      notify: { secret },
      databaseUrl: database,
      temporal: { connection: { apiKey: 'temporal_from_file' } },
      keyRing: [{ id: 'k' }],
    });
    expect(readIngressConfig({ WEBHOOK_SECRETS_FILE: signing }).webhookSecrets).toEqual([secret]);
    expect(codecServer({ CODEC_TOKEN_FILE: await fileWith('x'.repeat(24)) }).token).toBe('x'.repeat(24));
    expect(readKeyRing({ LABOPS_ENCRYPTION_KEYS_FILE: keyRing })?.[0].id).toBe('k');
    const { connectionOptions } = readTemporalSettings({ TEMPORAL_API_KEY_FILE: apiKey });
    expect(connectionOptions.apiKey).toBe('temporal_from_file');
  });

  test.each<[string, string | Uint8Array | undefined, string]>([
    ['SERVICE_API_KEY_FILE', 'invented', 'is set, and so is SERVICE_API_KEY'],
    ['NOTIFY_SECRET_FILE', undefined, 'names a file that cannot be read (ENOENT)'],
    ['DATABASE_URL_FILE', ' \n', 'names an empty file'],
    ['TEMPORAL_API_KEY_FILE', Buffer.from('\uFEFFsk', 'utf16le'), 'names a file that is UTF-16 instead of UTF-8'],
    [
      ...(['NOTIFY_SECRET_FILE', Buffer.from('clé', 'latin1')] as const),
      'names a file that is not UTF-8: the byte at position 2, counted from 0, is wrong',
    ],
  ])('is refused: %s (%s) %s', async (setting, content, problem) => {
    const path = content === undefined ? '/not/there' : await fileWith(content);
    expect(faultsOf(() => worker({ [setting]: path }))).toEqual({ [setting]: problem });
  });

  test('is refused to a client, too', async () => {
    expect(() => readKeyRing({ LABOPS_ENCRYPTION_KEYS_FILE: '/not/there' })).toThrow(
      /^The key ring cannot be read: LABOPS_ENCRYPTION_KEYS_FILE names a file that cannot be read \(ENOENT\)/,
    );
    const both = { TEMPORAL_API_KEY: 'key', TEMPORAL_API_KEY_FILE: await fileWith('key') };
    expect(() => readTemporalSettings(both)).toThrow(TemporalSettingInvalid);
  });
});

test.each(['invented-old\ninvented-new', 'invented-é'])('no header can hold the API key %j', (key) => {
  const [setting, problem] = ['TEMPORAL_API_KEY', 'must be printable ASCII, on one line'] as const;
  expect(faultsOf(() => worker({ [setting]: key }))).toEqual({ [setting]: problem });
  expect(() => readTemporalSettings({ [setting]: key })).toThrow(new RegExp(`^${setting} ${problem}$`));
});

describe("a client's certificate", () => {
  const cert = { TEMPORAL_TLS_CLIENT_CERT_DATA: serverPair.certificate };
  const key = { TEMPORAL_TLS_CLIENT_KEY_DATA: serverPair.key };

  const notCertificate = { ...key, TEMPORAL_TLS_CLIENT_CERT_DATA: 'invented' };
  const notKey = { ...cert, TEMPORAL_TLS_CLIENT_KEY_DATA: 'pa55' };
  const ofAnother = { ...cert, TEMPORAL_TLS_CLIENT_KEY_DATA: otherPair.key };
  test.each<[string, Env, 'CERT' | 'KEY', RegExp]>([
    ['has no key', cert, 'KEY', /^is missing: .+ belong together/],
    ['is missing', key, 'CERT', /^is missing: .+ belong together/],
    ["has another one's key", ofAnother, 'KEY', /^is not the key of the certificate/],
    ['is something else', notCertificate, 'CERT', /does not give a certificate in PEM$/],
    ['has something else for a key', notKey, 'KEY', /does not give a private key without a passphrase in PEM$/],
  ])('that %s is a fault of every process and of clients', (_case, env, part, problem) => {
    const setting = `TEMPORAL_TLS_CLIENT_${part}_PATH`;
    expect(faultsOf(() => worker(env))).toEqual({ [setting]: expect.stringMatching(problem) as string });
    expect(() => readTemporalSettings(env)).toThrow(TemporalSettingInvalid);
    expect(() => readTemporalSettings(env)).toThrow(setting);
  });

  test('half of which is in the profile is a fault, too', async () => {
    const profile = `[profile.default.tls]\nclient_cert_data = """${serverPair.certificate}"""\n`;
    const file = await fileWith(profile);
    const read = (env: Env = {}) => readTemporalSettings({ TEMPORAL_CONFIG_FILE: file, ...env });
    expect(() => read()).toThrow('TEMPORAL_TLS_CLIENT_KEY_PATH is missing');
    const { connectionOptions } = read(key);
    expect(connectionOptions.tls).toMatchObject({ clientCertPair: {} });
  });

  test('reaches the connection together with its key', () => {
    expect(readTemporalSettings({ ...cert, ...key }).connectionOptions.tls).toMatchObject({ clientCertPair: {} });
  });
});

test("a client's connection to Temporal counts a blank setting as not set", () => {
  const { connectionOptions, namespace } = readTemporalSettings({ TEMPORAL_ADDRESS: ' ', TEMPORAL_NAMESPACE: '' });
  expect(connectionOptions.address).toBeUndefined();
  expect(namespace ?? 'default').toBe('default');
});
