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
  const audit = new CommandAudit();
  return {
    // The audit is within the refusal: who sent what nobody with the keys has written is not known.
    inbound: [steps, refusal, audit, inbound],
    outbound: [outbound],
    // After the refusal, which drops and renames signals.
    internals: [new UnstartedEventsRefusal(), steps, refusal, audit],
  };
}
