import type { ClientConnectConfig } from '@temporalio/envconfig';
import type { Logger } from 'pino';
import { readConnection, temporalKeyFile, followKeyFile } from '../../client/temporal.config.js';
import type { SettingFault } from './values.js';

export interface TemporalConfig {
  /** Host and port. Default 127.0.0.1:7233, where a development server listens. */
  address: string;
  /** Default `default`. */
  namespace: string;
  /** For both kinds of connection of the SDK. */
  connection: { address: string; tls?: TemporalTls; apiKey?: string; metadata?: Record<string, string> };
  /** The file that the API key is from. The processes that connect read it again, so the key can be replaced. */
  apiKeyFile?: string;
}

type TemporalTls = NonNullable<ClientConnectConfig['connectionOptions']['tls']>;

/** The settings that Temporal's own tools read too. */
export function readTemporal(given: Record<string, string>, faults: SettingFault[]): TemporalConfig | undefined {
  const read = readConnection(given);
  if (!Array.isArray(read)) return temporalConfig(read, given);
  const remedy = 'correct it, or the profile in the TOML file of the Temporal command line';
  faults.push(...read.map((fault) => ({ ...fault, remedy })));
  return undefined;
}

function temporalConfig(
  { connectionOptions, namespace }: ClientConnectConfig,
  given: Record<string, string>,
): TemporalConfig {
  const { address = '127.0.0.1:7233', tls, apiKey, metadata } = connectionOptions;
  const apiKeyFile = temporalKeyFile(given);
  return {
    address,
    namespace: namespace ?? 'default',
    connection: {
      address,
      ...(tls != null && { tls }),
      ...(apiKey !== undefined && { apiKey }),
      ...(metadata !== undefined && { metadata: textOf(metadata) }),
    },
    ...(apiKeyFile !== undefined && { apiKeyFile }),
  };
}

/** Lets a connection follow the file of its API key, if the key is from a file; returns a function that ends that. */
export function followApiKey(
  connection: Parameters<typeof followKeyFile>[0],
  { apiKeyFile: file, connection: { apiKey } }: TemporalConfig,
  log: Logger,
): () => void {
  return followKeyFile(
    connection,
    { apiKey, file },
    {
      replaced: () => log.info('Temporal gets the new key of TEMPORAL_API_KEY_FILE from now on'),
      unreadable: (fault) => log.warn(`TEMPORAL_API_KEY_FILE ${fault}: the last key is used until it can be read`),
    },
  );
}

function textOf(metadata: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, String(value)]));
}
