import type { ConnectionOptions } from '@temporalio/client';

/**
 * Options for a Temporal `Connection` of your own: after an outage it is used again within five seconds. By default gRPC pauses for
 * up to two minutes between two attempts to reconnect, and calls fail for as long.
 */
export const reconnection = {
  channelArgs: { 'grpc.max_reconnect_backoff_ms': 5_000 },
} as const satisfies ConnectionOptions;
