import type { WorkflowInterceptors } from '@temporalio/workflow';
import { InputRefusal } from './input-refusal.js';
import { tracePassing } from './tracing.js';
import { UnstartedEventsRefusal } from './unstarted-events.js';

export function interceptors(): WorkflowInterceptors {
  const { inbound, outbound } = tracePassing();
  const refusal = new InputRefusal();
  return { inbound: [refusal, inbound], outbound: [outbound], internals: [new UnstartedEventsRefusal(), refusal] };
}
