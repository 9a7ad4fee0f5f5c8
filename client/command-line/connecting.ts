import { TemporalSettingInvalid } from '../config.js';
import { readTemporalSettings } from '../temporal.config.js';
import { type ConnectOptions, LabOperations } from '../lab-operations.js';
import { UsageError } from './failures.js';

/** Connects as `LabOperations.connect` does, which gives up after ten seconds, or after the deadline if that is shorter. */
export async function connect(options: ConnectOptions): Promise<LabOperations> {
  requireSettings();
  return LabOperations.connect(options);
}

/** Faults of the settings are reported before anything is tried. */
function requireSettings(): void {
  try {
    readTemporalSettings();
  } catch (error) {
    if (error instanceof TemporalSettingInvalid) throw error;
    // The first line: the rest quotes the file, which may contain a key.
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    throw new UsageError(`Temporal's settings or its configuration file are invalid: ${reason}`, { cause: error });
  }
}
