import {
  placingStopFaults,
  readPlacingStop,
  resumeSignal,
  stopPlacingName,
  type PlacingStop,
  type StopPlacingInput,
} from '../../protocol/placing-stop.js';
import { placingStopId } from '../../protocol/ids.js';
import type { CallOptions } from '../call-options.js';
import { refuseFaulty } from '../input-faults.js';
import { isRunning } from '../workflow-runs.js';
import { underWay, type CallKind, type TemporalCalls } from '../workflow-calls.js';
import { OperatorCallInvalid, operatorErrorMap } from './errors.js';

/** Since when placing is stopped, why, and who stopped it. */
export type PlacingSwitch = { stopped: false } | ({ stopped: true } & PlacingStop);

const reading: CallKind = { errors: operatorErrorMap, underWay: underWay.reading };
const stopping: CallKind = { errors: operatorErrorMap, underWay: underWay.starting };
const resuming: CallKind = { errors: operatorErrorMap, underWay: 'Placing is resumed as soon as a worker answers.' };

/**
 * Stops placing for all workers of the task queue, for example because a test was recalled or the service's key was stolen, and resumes it.
 * While it is stopped nothing is created at the lab service: no order, no replacement, no appointment, and none is moved. Orders wait, and
 * are placed once, within ten minutes after `resume`; replacements that the policy asks for, within an hour. A command that replaces a
 * kit or books an appointment throws `PlacingStopped`. Reports are uploaded, and everything else goes on.
 */
export class PlacingOperations {
  readonly #calls: TemporalCalls;

  constructor(calls: TemporalCalls) {
    this.#calls = calls;
  }

  /**
   * Stops placing. It needs no worker, and every worker knows within a minute; what was sent before is not called back. If placing is
   * stopped already, the first stop and its reason stay: they are the answer. Deadline: 30 seconds.
   *
   * @param input `reason`: for everybody who asks why nothing is ordered, at most 500 characters; nothing personal
   * @throws OperatorCallInvalid
   */
  async stop(input: Omit<StopPlacingInput, 'by' | 'carried'>, options: CallOptions = {}): Promise<PlacingSwitch> {
    refuseFaulty('The command', placingStopFaults(input), OperatorCallInvalid);
    const { client, taskQueue } = this.#calls;
    return this.#calls.call(stopping, options, async () => {
      await client.workflow.start(stopPlacingName, {
        workflowId: placingStopId(taskQueue),
        taskQueue,
        args: [{ ...this.#calls.actor, ...input }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        memo: { ...this.#calls.actor, reason: input.reason },
        staticSummary: 'Placing is stopped',
        staticDetails: 'While this runs, nothing is ordered, replaced or booked. `labops placing resume` ends it.',
      });
      return this.#read();
    });
  }

  /** Ends the stop, and waits for a worker that takes note of it. Without a stop it changes nothing. Deadline: 30 seconds. */
  async resume(options: CallOptions = {}): Promise<PlacingSwitch> {
    const { client, taskQueue } = this.#calls;
    return this.#calls.call(resuming, options, async (call) => {
      const stop = client.workflow.getHandle(placingStopId(taskQueue));
      if (await isRunning(stop)) {
        await stop.signal(resumeSignal, this.#calls.actor);
        await call.result(stop, resuming.underWay);
      }
      return this.#read();
    });
  }

  /** Deadline: 30 seconds. */
  async state(options: CallOptions = {}): Promise<PlacingSwitch> {
    return this.#calls.call(reading, options, () => this.#read());
  }

  async #read(): Promise<PlacingSwitch> {
    const { client, taskQueue } = this.#calls;
    const stop = await readPlacingStop(client.workflow, taskQueue);
    return stop ? { stopped: true, ...stop } : { stopped: false };
  }
}
