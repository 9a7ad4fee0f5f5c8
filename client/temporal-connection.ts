import type { ConnectionLike, ConnectionOptions } from '@temporalio/client';
import { grpcProxySetting, proxyFor, throughWhich } from '../service/http/proxy.config.js';

/** The address, and how it is reached, for messages. */
export function addressAndWay(address: string): string {
  return `${address}${throughWhich(proxyFor(`grpc://${address}`))}`;
}

/**
 * The options of a `Connection` that follows the same rule for proxies as all others (docs/operations.md#proxies). Left to itself, gRPC
 * reads the variables in lower case only, and reaches this machine through the proxy, too.
 */
export function throughProxy<Options extends ConnectionOptions & { address: string }>(options: Options): Options {
  const { address } = options;
  const proxy = proxyFor(`grpc://${address}`);
  const itself = { ...options.channelArgs, 'grpc.enable_http_proxy': 0 };
  if (proxy === undefined) return { ...options, channelArgs: itself };
  const { hostname, port, username, password } = proxy.url;
  const target = /:\d+$/.test(address) ? address : `${address}:7233`;
  return {
    ...options,
    address: `${hostname}:${port || '80'}`,
    channelArgs: {
      'grpc.default_authority': target,
      ...itself,
      'grpc.http_connect_target': `dns:${target}`,
      ...(username !== '' && {
        'grpc.http_connect_creds': `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
      }),
    },
  };
}

/** The address of a connection, and how it is reached, for messages. */
export function wayOf({
  address = 'its address',
  channelArgs = {},
}: Pick<ConnectionOptions, 'address' | 'channelArgs'>): string {
  const target = channelArgs['grpc.http_connect_target'];
  if (typeof target === 'string') return addressAndWay(target.replace(/^dns:/, ''));
  const setting = channelArgs['grpc.enable_http_proxy'] === 0 ? undefined : grpcProxySetting();
  return setting === undefined ? address : `${address} through the proxy of ${setting}`;
}

/**
 * Options for a Temporal `Connection` of your own: after an outage it is used again within five seconds. By default gRPC pauses for
 * up to two minutes between two attempts to reconnect, and calls fail for as long.
 */
export const reconnection = {
  channelArgs: { 'grpc.max_reconnect_backoff_ms': 5_000 },
} as const satisfies ConnectionOptions;

/**
 * The oldest version of Temporal's server that is supported: the tests run on it, too. Temporal also maintains 1.30, but there a run that an operator has pinned to its release is notified of another one at
 * every workflow task, and continues as new without end.
 */
export const oldestServer = '1.31';

/** True if a version, such as `1.30.2`, is earlier than another, such as `1.31`. */
export function isEarlier(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}

/** A connection, and the namespace that is used there. */
interface Connected {
  connection: Pick<ConnectionLike, 'workflowService'>;
  namespace: string;
}

/** How long the namespace keeps a workflow after its end. */
export async function retentionMs({ connection, namespace }: Connected): Promise<number> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1000;
}
