import type { WorkflowInterceptors } from '@temporalio/workflow';
import { CommandAudit } from './command-audit.js';
import { RecordedSteps } from './entity/steps.js';
import { InputRefusal } from './input-refusal.js';
import { tracePassing } from './tracing.js';
import { UnstartedEventsRefusal } from './unstarted-events.js';

export function interceptors(): WorkflowInterceptors {
  const { inbound, outbound } = tracePassing();
  const refusal = new InputRefusal();
  const steps = new RecordedSteps();
  return {
    inbound: [steps, new CommandAudit(), refusal, inbound],
    outbound: [outbound],
    internals: [new UnstartedEventsRefusal(), steps, refusal],
  };
}
