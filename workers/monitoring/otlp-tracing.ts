import { setTimeout as sleep } from 'node:timers/promises';
import { type Attributes, diag, DiagLogLevel, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import {
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
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

/**
 * Records spans in this process and exports them by OTLP over HTTP. OpenTelemetry's own variables set the destination and the
 * share of traces (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER…). Call it once, before anything that it traces.
 *
 * @param process names the service, unless OTEL_SERVICE_NAME does
 */
export function exportTraces(process: TracedProcess, log: Logger): Tracing {
  const warn = (problem: string) => log.warn({ problem }, 'traces could not be exported');
  const ignore = () => undefined;
  diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
  const named = resourceFromAttributes({ 'service.name': `lab-operations-${process}` });
  const provider = new NodeTracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(withoutTexts(new OTLPTraceExporter()))],
  });
  // Without baggage, which could carry anything into histories.
  provider.register({ propagator: new W3CTraceContextPropagator() });
  const tracer = trace.getTracer('lab-operations-worker');
  return {
    client: { interceptors: { workflow: [new OpenTelemetryWorkflowClientInterceptor({ tracer })] } },
    worker: {
      interceptors: {
        activity: [(context) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(context, { tracer }) })],
      },
    },
    observeCall: callRecorder(tracer),
    receiveWebhook: (answer) => recordWebhook(tracer, answer),
    close: async () => {
      const sent = provider.shutdown().catch((error: unknown) => log.warn({ error }, 'traces could not be exported'));
      await Promise.race([sent, sleep(closeWithinMs, undefined, { ref: false })]);
    },
  };
}

/** A collector that does not answer must not delay the end of a process. */
const closeWithinMs = 2_000;

function callRecorder(tracer: Tracer): CallObserver {
  return ({ method, path, result, milliseconds }) => {
    const now = Date.now();
    const attributes = { 'http.request.method': method, 'url.template': path, ...resultOf(result) };
    const startTime = now - milliseconds;
    const span = tracer.startSpan(`${method} ${path}`, { kind: SpanKind.CLIENT, startTime, attributes });
    if (typeof result === 'string' || result >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(now);
  };
}

function resultOf(result: number | string): Attributes {
  return typeof result === 'number' ? { 'http.response.status_code': result } : { 'error.type': result };
}

function recordWebhook(tracer: Tracer, answer: () => Promise<number>): Promise<void> {
  return tracer.startActiveSpan('webhook', { kind: SpanKind.SERVER, root: true }, async (span) => {
    try {
      const status = await answer();
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    } finally {
      span.end();
    }
  });
}

/** Beside our own, the ids that Temporal's interceptors record. The reason of a termination is not among them: it is free text. */
const attributesSent = new Set([
  ...['http.request.method', 'url.template', 'http.response.status_code', 'error.type'],
  ...['temporalWorkflowId', 'run_id', 'temporalActivityId', 'temporalUpdateId'],
]);

/** Messages and stacks of errors are not sent: they may quote a person. Of an error its type remains. */
function withoutTexts(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(withoutText), done),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

function withoutText(span: ReadableSpan): ReadableSpan {
  const attributes = Object.fromEntries(Object.entries(span.attributes).filter(([name]) => attributesSent.has(name)));
  const [failure] = span.events
    .map((event) => event.attributes?.['exception.type'])
    .filter((type) => type !== undefined);
  const type = failure === undefined ? {} : { 'error.type': failure };
  return Object.create(span, {
    attributes: { value: { ...attributes, ...type } },
    events: { value: [] },
    status: { value: { code: span.status.code } },
  }) as ReadableSpan;
}
