import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type ClientConnectConfig, loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import { proxyFor, ProxyInvalid } from '../service/http/proxy.config.js';
import { TemporalSettingInvalid } from './config.js';
import { SecretFileInvalid, secretOf } from './files.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Temporal's standard settings and configuration file; the API key may also be in the file TEMPORAL_API_KEY_FILE.
 * @param profile the name of a profile of the configuration file
 * @throws TemporalSettingInvalid
 */
export function readTemporalSettings(
  env: Env = process.env,
  profile: string | undefined = env['TEMPORAL_PROFILE'],
): ClientConnectConfig {
  const apiKey = temporalKeyOf(env);
  const named = { ...env, TEMPORAL_PROFILE: profile };
  const read = readConnection({ ...withoutBlanks(named), ...(apiKey !== undefined && { TEMPORAL_API_KEY: apiKey }) });
  if (!Array.isArray(read)) return read;
  const [{ setting, problem }] = read;
  throw new TemporalSettingInvalid(problem, setting);
}

interface Fault {
  setting: string;
  problem: string;
}

/** Reads the settings and the profile, or names what would fail later, or what the SDK would silently ignore. */
export function readConnection(given: Record<string, string>): ClientConnectConfig | [Fault, ...Fault[]] {
  const [first, ...others] = misreadFaults(given);
  if (first !== undefined) return [first, ...others];
  try {
    const profile = loadClientConfigProfile({ overrideEnvVars: given });
    const config = toClientOptions(profile);
    const isPair = (profile.tls?.clientCert === undefined) === (profile.tls?.clientKey === undefined);
    const fault = isPair
      ? (addressFaultOf(config) ?? headersFault(config) ?? pairFault(config) ?? proxyFault(config, given))
      : missingHalf(profile.tls);
    return fault === undefined ? config : [fault];
  } catch (error) {
    // A TOML error shows the lines around it, which may contain a key: only its first line is used.
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    return [{ setting: 'TEMPORAL_*', problem: `could not be read (${reason})` }];
  }
}

/** A fault that the SDK's client would report without the setting's name, as a text that follows it. */
export function addressFault(address: string): string | undefined {
  return /^([^\s:/"'[\]]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(address) ? undefined : 'is not host:port';
}

function addressFaultOf({ connectionOptions: { address = '' } }: ClientConnectConfig): Fault | undefined {
  const problem = address === '' ? undefined : addressFault(address);
  return problem === undefined ? undefined : { setting: 'TEMPORAL_ADDRESS', problem };
}

function missingHalf(tls: { clientKey?: unknown } | undefined): Fault {
  const [there, missing] = tls?.clientKey === undefined ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
  return {
    setting: `TEMPORAL_TLS_CLIENT_${missing}_PATH`,
    problem: `is missing: a client's certificate and its key belong together, and TEMPORAL_TLS_CLIENT_${there}_PATH (or _DATA, or the profile) gives one of them`,
  };
}

function pairFault({ connectionOptions: { tls } }: ClientConnectConfig): Fault | undefined {
  const pair = typeof tls === 'object' ? tls?.clientCertPair : undefined;
  if (!pair) return undefined;
  const certificate = readable('TEMPORAL_TLS_CLIENT_CERT_PATH', () => new X509Certificate(Buffer.from(pair.crt)));
  if ('problem' in certificate) return certificate;
  const key = readable('TEMPORAL_TLS_CLIENT_KEY_PATH', () => createPrivateKey(Buffer.from(pair.key)));
  if ('problem' in key) return key;
  if (certificate.value.checkPrivateKey(key.value)) return undefined;
  return {
    setting: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
    problem: 'is not the key of the certificate in TEMPORAL_TLS_CLIENT_CERT_PATH',
  };
}

/** OpenSSL's own message may quote what it read. */
function readable<T>(setting: string, read: () => T): { value: T } | Fault {
  try {
    return { value: read() };
  } catch {
    const what = setting.includes('KEY') ? 'a private key without a passphrase' : 'a certificate';
    return { setting, problem: `(or _DATA, or the profile) does not give ${what} in PEM` };
  }
}

function proxyFault({ connectionOptions: { address } }: ClientConnectConfig, env: Env): Fault | undefined {
  try {
    if (URL.canParse(`grpc://${address}`)) proxyFor(`grpc://${address}`, env);
    return undefined;
  } catch (error) {
    if (error instanceof ProxyInvalid) return error;
    throw error;
  }
}

/** A blank setting counts as not set: compose files and CI systems pass on settings that they do not have. */
export function withoutBlanks(env: Env): Record<string, string> {
  const entries = Object.entries(env).flatMap(([name, value]) => {
    // Only for these does a blank mean something: it removes a header of the profile.
    if (name.startsWith('TEMPORAL_GRPC_META_') && value !== undefined) return [[name, value] as const];
    return value === undefined || value.trim() === '' ? [] : [[name, value.trim()] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * Settings that the SDK's reader would silently misread: it ignores a file that does not exist, so a process would work in another
 * namespace, and it takes anything but `true` and `1` for false, so an API key would be sent without TLS.
 */
function misreadFaults(given: Env): Fault[] {
  const file = given['TEMPORAL_CONFIG_FILE'];
  const isMissing = file !== undefined && !existsSync(file);
  const unclear = ['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'].filter(
    (name) => !/^(true|false|1|0)$/.test(given[name] ?? 'false'),
  );
  return [
    ...(isMissing ? [{ setting: 'TEMPORAL_CONFIG_FILE', problem: 'names a file that does not exist' }] : []),
    ...unclear.map((setting) => ({ setting, problem: 'is neither true nor false' })),
  ];
}

/** The file that TEMPORAL_API_KEY_FILE names; blank counts as not set. */
export function temporalKeyFile(env: Env = process.env): string | undefined {
  const file = env['TEMPORAL_API_KEY_FILE']?.trim() ?? '';
  return file === '' ? undefined : file;
}

/** A key or a header of the profile that gRPC cannot send; the fault does not repeat it. */
function headersFault({ connectionOptions: { apiKey = '', metadata = {} } }: ClientConnectConfig): Fault | undefined {
  const headers = Object.entries(metadata).map(([name, value]) => [`TEMPORAL_GRPC_META_${name}`, String(value)]);
  for (const [setting = '', value = ''] of [['TEMPORAL_API_KEY', apiKey], ...headers]) {
    const problem = headerFault(value);
    if (problem !== undefined) return { setting, problem };
  }
  return undefined;
}

function temporalKeyOf(env: Env): string | undefined {
  try {
    return secretOf(env, 'TEMPORAL_API_KEY');
  } catch (error) {
    if (!(error instanceof SecretFileInvalid)) throw error;
    throw new TemporalSettingInvalid(error.problem);
  }
}

/** A replaced key stays valid until somebody disables it, so a few seconds more do not matter. */
const readAgainMs = 10_000;

/** A connection to Temporal, of either kind of the SDK. */
interface KeyedConnection {
  setApiKey(key: string): void | Promise<void>;
}

/** Notices of what becomes of the file, for a log. */
interface KeyFileObserver {
  /** The connection has a new key. */
  replaced(): void;
  /** The file cannot be read, or holds no key: the last one counts. `fault` follows the name of the setting; it quotes nothing. */
  unreadable(fault: string): void;
}

/** The key that the connection was made with, and the file that TEMPORAL_API_KEY_FILE names, if there is one. */
interface FollowedKey {
  apiKey?: string | undefined;
  file: string | undefined;
}

/**
 * Reads the file of TEMPORAL_API_KEY_FILE again every ten seconds, and gives a changed key to the connection, so a key can be
 * replaced without a restart. Without such a file it does nothing.
 *
 * @returns what ends it; it does not keep a process alive
 */
export function followKeyFile(
  connection: KeyedConnection,
  { apiKey, file }: FollowedKey,
  observer?: KeyFileObserver,
): () => void {
  if (file === undefined) return () => undefined;
  let key = apiKey;
  let fault: string | undefined;
  const look = (): void => {
    try {
      const now = readKeyFile(file);
      fault = undefined;
      if (now === key) return;
      key = now;
      void connection.setApiKey(now);
      observer?.replaced();
    } catch (error) {
      if (!(error instanceof SecretFileInvalid)) throw error;
      // Said once, not every ten seconds. The key that was read before may be good for months.
      if (error.problem !== fault) observer?.unreadable(error.problem);
      fault = error.problem;
    }
  };
  const timer = setInterval(look, readAgainMs).unref();
  return () => clearInterval(timer);
}

function readKeyFile(file: string): string {
  const key = secretOf({ TEMPORAL_API_KEY_FILE: file }, 'TEMPORAL_API_KEY') ?? '';
  if (headerFault(key) !== undefined)
    throw new SecretFileInvalid('TEMPORAL_API_KEY', `holds a key that ${headerFault(key)}`);
  return key;
}

/**
 * A value that gRPC cannot send as a header, as a text that follows its name. gRPC's own error quotes the value, and would put a key into
 * logs and answers.
 */
export function headerFault(value: string): string | undefined {
  return /^[\x20-\x7e]*$/.test(value) ? undefined : 'must be printable ASCII, on one line';
}
