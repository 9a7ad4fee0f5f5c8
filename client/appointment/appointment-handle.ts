import type { UpdateDefinition, WorkflowHandle } from '@temporalio/client';
import { bookAppointmentId } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import {
  stateQuery,
  cancelUpdate,
  chooseSlotUpdate,
  findSlotsUpdate,
  requestAppointmentUpdate,
  rescheduleUpdate,
  type AppointmentCancellation,
  type AppointmentResult,
  type AppointmentState,
  type AppointmentRequest,
  type SlotChoice,
  type SlotQuestion,
  type Slots,
} from '../../protocol/appointment/messages.js';
import { isAtSlot } from '../../protocol/appointment/slots.js';
import type { CallOptions } from '../call-options.js';
import type { OneCall } from '../one-call.js';
import { watchState, type WatchOptions } from '../watching.js';
import { callKinds, type TemporalCalls } from '../workflow-calls.js';
import { AppointmentEnded, appointmentErrorMap } from './errors.js';

export const appointmentCalls = callKinds(appointmentErrorMap, 'The appointment');

/**
 * The appointment of one order. Every command answers with the new state, and rejects with AppointmentEnded after the
 * end, FeatureNotEnabled, ServiceAccessDenied, or ServiceDown: then send the same command again, because each reads
 * before it acts. Every method also rejects with the errors of {@link CallOptions}. The default deadline of
 * each is 30 seconds.
 */
export class AppointmentHandle {
  readonly orderId: string;
  readonly #calls: TemporalCalls;
  readonly #workflow: WorkflowHandle;

  constructor(calls: TemporalCalls, orderId: string) {
    this.orderId = canonicalId(orderId);
    this.#calls = calls;
    this.#workflow = calls.client.workflow.getHandle(bookAppointmentId(orderId));
  }

  /**
   * The slots near the order's address, for 14 days. For a service-centre visit: those at service centres near it, at `siteCodes` or near
   * another `zipCode`. Ask again before each choice: somebody else may be faster.
   *
   * @throws AvailabilityRefused, AddressMissing
   */
  async slots(question: SlotQuestion = {}, options: CallOptions = {}): Promise<Slots> {
    return this.update(findSlotsUpdate, question, options);
  }

  /**
   * Books a slot of `slots`. The same choice twice is one booking, even after the end. With the policy `later`, and always for a service-centre visit, the
   * appointment may be `awaiting_confirmation` until the provider confirms or cancels it.
   *
   * @throws SlotGone: let the person choose again; AppointmentExists, BookingRefused, AddressMissing
   */
  async choose(choice: SlotChoice, options: CallOptions = {}): Promise<AppointmentState> {
    return this.update(chooseSlotUpdate, choice, options, (call) => this.chosen(call, choice));
  }

  /**
   * Asks a provider to come at a time that it names, instead of choosing a slot. Which days suit goes into `notes`: the service takes no
   * dates here.
   * @throws AppointmentExists, BookingRefused, AddressMissing
   */
  async request(request: AppointmentRequest, options: CallOptions = {}): Promise<AppointmentState> {
    return this.update(requestAppointmentUpdate, request, options);
  }

  /** Moves the appointment to another slot. @throws SlotGone, the first one then stays; NothingBooked, RescheduleRefused */
  async reschedule(choice: SlotChoice, options: CallOptions = {}): Promise<AppointmentState> {
    return this.update(rescheduleUpdate, choice, options, (call) => this.chosen(call, choice));
  }

  /**
   * Cancels the appointment at the service, with one of `cancellationReasons`. With `rebook` another slot must be
   * chosen afterwards; without, the workflow ends. A visit at home is charged in full if it is cancelled less than 24 hours
   * before its start: after the appointment's `refundableUntil`, warn first. `refundable` of the answer says whether it was
   * in time. Repeated, it has the answer of the first.
   *
   * @throws CancellationRefused, NothingBooked with `rebook` if there is none, AppointmentExists if somebody made another one meanwhile
   */
  async cancel(cancellation: AppointmentCancellation = {}, options: CallOptions = {}): Promise<AppointmentState> {
    return this.update(cancelUpdate, cancellation, options, async (call) => {
      const state = await call.state(this.#workflow, stateQuery);
      return state.outcome === 'cancelled' && cancellation.rebook !== true ? state : refuseEnded();
    });
  }

  /** The appointment's current state. Wakes the workflow and is billed as an action. */
  async state(options: CallOptions = {}): Promise<AppointmentState> {
    return this.#calls.call(appointmentCalls.reading, options, (call) => call.state(this.#workflow, stateQuery));
  }

  /** Every state that differs from the one before, the present one first, until nothing is waited for any more. */
  watch(options: WatchOptions = {}): AsyncGenerator<AppointmentState, void, undefined> {
    return watchState(this, options, () => this.#workflow.workflowId);
  }

  /**
   * Waits for the end, which may be weeks away: 30 seconds, or the `deadline`, which may be `'none'`.
   * @throws AppointmentNotFound, AppointmentInterrupted
   */
  async result(options: CallOptions = {}): Promise<AppointmentResult> {
    return this.#calls.call(appointmentCalls.waiting, options, (call) =>
      call.result(this.#workflow, appointmentCalls.waiting.underWay),
    );
  }

  /** The answer to a choice after the end: the appointment that ended may be the chosen one. */
  private async chosen(call: OneCall, { slotId }: SlotChoice): Promise<AppointmentState> {
    const state = await call.state(this.#workflow, stateQuery);
    return isAtSlot(state.appointment, slotId) ? state : refuseEnded();
  }

  /** @param ended the answer after the end */
  private async update<Answer, T>(
    update: UpdateDefinition<Answer, [T]>,
    argument: T,
    options: CallOptions,
    ended: (call: OneCall) => Promise<Answer> = refuseEnded,
  ): Promise<Answer> {
    return this.#calls.call(appointmentCalls.command, options, (call) =>
      call.update(this.#workflow, update, argument, () => ended(call)),
    );
  }
}

async function refuseEnded(): Promise<never> {
  throw new AppointmentEnded('Nothing is being arranged for this order any more: its result says why');
}
