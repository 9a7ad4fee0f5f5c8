import { isGrpcServiceError } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { KeyRingInvalid } from '../encryption/key-ring.js';
import { LabOperations } from '../lab-operations.js';
import { TemporalUnreachable, UsageError } from './exit-codes.js';

/** Connects as `LabOperations.connect` does; the SDK gives up after ten seconds. */
export async function connect(taskQueue: string): Promise<LabOperations> {
  const address = temporalAddress();
  try {
    return await LabOperations.connect({ taskQueue });
  } catch (error) {
    if (error instanceof KeyRingInvalid) throw error;
    throw new TemporalUnreachable(`Temporal cannot be reached at ${address} (${reasonOf(error)})`, { cause: error });
  }
}

/** What is wrong with the settings is known before anything is tried. */
function temporalAddress(): string {
  try {
    return loadClientConnectConfig().connectionOptions.address ?? 'localhost:7233';
  } catch (error) {
    // The first line: what follows quotes the file, which may hold a key.
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    throw new UsageError(`Temporal's settings or its configuration file cannot be used: ${reason}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (isGrpcServiceError(error)) return error.details;
  return error instanceof Error ? error.message : String(error);
}
