import type { Logger } from 'pino';
import type { TracedProcess, Tracing } from './otlp-tracing.js';

/** Call it before anything is started that it traces. OpenTelemetry's SDK is loaded only where it is used. */
export async function startTracing(
  { traces }: { traces: 'otlp' | 'off' },
  process: TracedProcess,
  log: Logger,
): Promise<Tracing | undefined> {
  if (traces === 'off') return undefined;
  const { exportTraces } = await import('./otlp-tracing.js');
  return exportTraces(process, log);
}
