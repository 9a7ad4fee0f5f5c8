import { once } from 'node:events';
import { type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import type { Logger } from 'pino';
import { remembered } from './readings.js';

/** Probes of container platforms usually wait for 1 to 5 seconds. */
export const readyTimeoutMs = 2_000;

/** The part that both kinds of connection have: the worker's native one and the client's. */
type Asked = Pick<ConnectionLike, 'workflowService' | 'withDeadline'>;

interface TemporalHealthOptions {
  /** For the log: `ingress`, `worker`. */
  process: string;
  address: string | undefined;
  namespace: string;
  log: Pick<Logger, 'warn'>;
}

/**
 * Creates the check that Temporal and the namespace can be used; callers within a few seconds share one answer. The reason is only logged:
 * it names internal addresses, and anybody may ask if a process is ready.
 */
export function temporalHealth(connection: Asked, options: TemporalHealthOptions): () => Promise<boolean> {
  const { process, address, namespace, log } = options;
  return remembered(async () => {
    const abort = AbortSignal.timeout(readyTimeoutMs);
    const tooLong = once(abort, 'abort').then(() => `no answer within ${readyTimeoutMs / 1000} seconds`);
    const reason = await Promise.race([ask(connection, namespace), tooLong]);
    if (reason !== undefined) {
      const remedy = 'start it, or correct TEMPORAL_ADDRESS or TEMPORAL_NAMESPACE';
      log.warn({ reason, address, namespace }, `the ${process} is not ready: Temporal cannot be used: ${remedy}`);
    }
    return reason === undefined;
  });
}

/** @returns why it cannot be used; nothing if it can */
async function ask(connection: Asked, namespace: string): Promise<string | undefined> {
  try {
    // A deadline, because it also ends the attempts that follow a pause, which a signal does not.
    await connection.withDeadline(Date.now() + readyTimeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return undefined;
  } catch (error) {
    // Any other error may quote what was to be sent, even an API key, and the caller of the probe would see it.
    return isGrpcServiceError(error) ? error.details || error.message : `failed with ${nameOf(error)}`;
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
