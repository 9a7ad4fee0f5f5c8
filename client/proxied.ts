import type { ConnectionOptions } from '@temporalio/client';
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
