import type { ClientOptions } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { CallObserver } from '../../service/http/http.js';

export type TracedProcess = 'worker' | 'ingress' | 'single-process';

/** The parts that record a process's spans. */
export interface Tracing {
  /** For a client whose calls are spans, and pass their trace on to workflows. */
  client: Pick<ClientOptions, 'interceptors'>;
  /** For a worker whose activities are spans of the trace that their workflow passes on. */
  worker: Pick<WorkerOptions, 'interceptors'>;
  /** Adds the calls of the lab service, each to the trace of the activity that makes it. */
  observeCall: CallObserver;
  /**
   * Begins a trace with a webhook, whose answer has the status that is returned. The sender's own trace, if it names one, is not continued: it is not
   * signed.
   */
  receiveWebhook(answer: () => Promise<number>): Promise<void>;
  /** Sends what has not been sent. */
  close(): Promise<void>;
}

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
