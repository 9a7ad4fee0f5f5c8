import {
  ApplicationFailure,
  log,
  patched,
  workflowInfo,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { isRefused, isUnencrypted, unwrapped } from '../protocol/unencrypted.js';
import { tracePassing } from './tracing.js';
import { UnstartedEventsRefusal } from './unstarted-events.js';

/**
 * If a worker requires encryption, an input that came without is refused: a start fails, an update is rejected, and a
 * signal is dropped with an error in the log. No workflow task gets stuck (docs/decisions/0010-encryption-is-required.md).
 */
export function interceptors(): WorkflowInterceptors {
  const { inbound, outbound } = tracePassing();
  return { inbound: [new ClearRefusal(), inbound], outbound: [outbound], internals: [new UnstartedEventsRefusal()] };
}

type Inbound = Required<WorkflowInboundCallsInterceptor>;

/** Hands on the promises that it gets: one more turn of the microtask queue would change the order of commands in replays. */
class ClearRefusal implements WorkflowInboundCallsInterceptor {
  /** How many inputs came unencrypted to this run: the same in every replay. */
  private count = 0;

  execute: Inbound['execute'] = (input, next) => {
    if (this.refuses(input.args)) return Promise.reject(encryptionRequired('The input'));
    return next({ ...input, args: input.args.map(unwrapped) });
  };

  /** Runs before anything of the update is written to the history, and in no replay. */
  validateUpdate: Inbound['validateUpdate'] = (input, next) => {
    if (input.args.some(isRefused)) throw encryptionRequired('The update');
    next({ ...input, args: input.args.map(unwrapped) });
  };

  handleUpdate: Inbound['handleUpdate'] = (input, next) => {
    if (this.refuses(input.args)) return Promise.reject(encryptionRequired('The update'));
    return next({ ...input, args: input.args.map(unwrapped) });
  };

  handleSignal: Inbound['handleSignal'] = (input, next) => {
    if (!this.refuses(input.args)) return next({ ...input, args: input.args.map(unwrapped) });
    log.error('a signal was dropped: it was not encrypted, and this worker requires it', { signal: input.signalName });
    return Promise.resolve();
  };

  handleQuery: Inbound['handleQuery'] = (input, next) => next({ ...input, args: input.args.map(unwrapped) });

  /**
   * True if an input is refused. The worker's mode decides it once, and the history remembers a refusal by a marker. A replay
   * goes by the history alone, whatever the mode is by then: an input with the marker was refused, and one without was taken.
   */
  private refuses(args: readonly unknown[]): boolean {
    if (!args.some(isUnencrypted)) return false;
    this.count += 1;
    const isRefusedNow = workflowInfo().unsafe.isReplaying || args.some(isRefused);
    return isRefusedNow && patched(`encryption-required-${this.count}`);
  }
}

function encryptionRequired(what: string): ApplicationFailure {
  const message = `${what} was not encrypted, and this worker requires it: give the sender the worker's LABOPS_ENCRYPTION_KEYS`;
  return ApplicationFailure.nonRetryable(message, 'EncryptionRequired', { fields: [] });
}
