import { defaultPayloadConverter } from '@temporalio/common';
import type { WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor } from '@temporalio/workflow';

type Headers = Parameters<Required<WorkflowInboundCallsInterceptor>['execute']>[0]['headers'];

/** The name that Temporal's interceptors for OpenTelemetry use in every language. */
const traceHeader = '_tracer-data';

/**
 * Passes the trace of the message that a run received last (its start, a signal, an update) on to the activities that it
 * schedules. A message without a trace ends that of the one before. Nothing is recorded here, and promises are handed on as they
 * are, so a history replays the same with traces and without (docs/internals/decisions/0020-workflows-pass-traces-on.md).
 */
export function tracePassing(): {
  inbound: WorkflowInboundCallsInterceptor;
  outbound: WorkflowOutboundCallsInterceptor;
} {
  let trace: Headers[string] | undefined;
  const receive = <Input extends { headers: Headers }, Answer>(
    input: Input,
    next: (input: Input) => Answer,
  ): Answer => {
    trace = traceOf(input.headers[traceHeader]);
    return next(input);
  };
  const passOn = <Input extends { headers: Headers }>(input: Input): Input =>
    trace === undefined ? input : { ...input, headers: { ...input.headers, [traceHeader]: trace } };
  return {
    inbound: { execute: receive, handleSignal: receive, handleUpdate: receive },
    outbound: {
      scheduleActivity: (input, next) => next(passOn(input)),
      continueAsNew: (input, next) => next(passOn(input)),
    },
  };
}

const traceParent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Its ids alone: a client may also send baggage, which can hold anything, and no codec encrypts headers. What cannot be read is no
 * trace.
 */
function traceOf(payload: Headers[string] | undefined): Headers[string] | undefined {
  if (payload === undefined) return undefined;
  try {
    const { traceparent } = defaultPayloadConverter.fromPayload<{ traceparent?: unknown }>(payload);
    if (typeof traceparent !== 'string' || !traceParent.test(traceparent)) return undefined;
    return defaultPayloadConverter.toPayload({ traceparent });
  } catch {
    return undefined;
  }
}
