import { WorkflowNotFoundError, type Client, type UpdateDefinition, type WorkflowHandle } from '@temporalio/client';
import { bookAppointmentId } from '../../workflows/appointment/address.js';
import {
  appointmentStateQuery,
  cancelAppointmentUpdate,
  chooseSlotUpdate,
  findSlotsUpdate,
  requestAppointmentUpdate,
  rescheduleUpdate,
  type AppointmentCancellation,
  type AppointmentResult,
  type AppointmentState,
  type AppointmentWish,
  type SlotChoice,
  type SlotQuestion,
  type Slots,
} from '../../workflows/appointment/messages.js';
import { inProductWords } from '../errors.js';
import { watchState, type WatchOptions } from '../watching.js';
import { exists, inWords } from '../workflow-calls.js';
import { AppointmentEnded, appointmentWords } from './errors.js';

/**
 * The appointment of one order. Every command answers with the state after it, and rejects with AppointmentEnded where
 * nothing is arranged any more, FeatureNotEnabled, ServiceAccessDenied, or ServiceDown: then send the same command
 * again, for each looks before it acts.
 */
export class AppointmentHandle {
  readonly orderId: string;
  private readonly workflow: WorkflowHandle;

  constructor(temporal: Client, orderId: string) {
    this.orderId = orderId;
    this.workflow = temporal.workflow.getHandle(bookAppointmentId(orderId));
  }

  /**
   * What can be chosen near the order's address, for 14 days. Ask again before each choice: somebody else may be faster.
   * @throws AvailabilityRefused, AddressMissing
   */
  async slots(question: SlotQuestion = {}): Promise<Slots> {
    return this.update(findSlotsUpdate, question);
  }

  /**
   * Books a slot of `slots`. The same choice twice is one booking. With the policy `later` the appointment is
   * `awaiting_confirmation` until the provider says more.
   * @throws SlotGone: let the person choose again; AppointmentExists, BookingRefused, AddressMissing
   */
  async choose(choice: SlotChoice): Promise<AppointmentState> {
    return this.update(chooseSlotUpdate, choice);
  }

  /**
   * Asks a provider to name a time, instead of choosing a slot. Which days suit goes into `notes`: the service takes no
   * dates here.
   * @throws AppointmentExists, BookingRefused, AddressMissing
   */
  async request(wish: AppointmentWish): Promise<AppointmentState> {
    return this.update(requestAppointmentUpdate, wish);
  }

  /** Moves the appointment to another slot. @throws SlotGone, the first one then stays; NothingBooked, RescheduleRefused */
  async reschedule(choice: SlotChoice): Promise<AppointmentState> {
    return this.update(rescheduleUpdate, choice);
  }

  /**
   * Cancels the appointment at the service, with one of `cancellationReasons`. With `rebook` another slot is to be chosen
   * then; without, this is the end.
   * @throws CancellationRefused, NothingBooked with `rebook` where there is none
   */
  async cancel(cancellation: AppointmentCancellation = {}): Promise<AppointmentState> {
    return this.update(cancelAppointmentUpdate, cancellation);
  }

  /** Where the appointment stands. Wakes the workflow and is billed as an action. */
  async state(): Promise<AppointmentState> {
    return inWords(appointmentWords, () => this.workflow.query(appointmentStateQuery));
  }

  /** Every state that differs from the one before, the present one first, until nothing is waited for any more. */
  watch(options: WatchOptions = {}): AsyncGenerator<AppointmentState, void, undefined> {
    return watchState(() => this.state(), options);
  }

  /** Waits for the end: weeks. @throws AppointmentNotFound, AppointmentInterrupted */
  async result(): Promise<AppointmentResult> {
    return inWords(appointmentWords, () => this.workflow.result() as Promise<AppointmentResult>);
  }

  private async update<Answer, T>(update: UpdateDefinition<Answer, [T]>, argument: T): Promise<Answer> {
    try {
      return await this.workflow.executeUpdate(update, { args: [argument] });
    } catch (error) {
      // An update of a workflow that has ended is "not found", as one of a workflow that never was.
      if (error instanceof WorkflowNotFoundError && (await exists(this.workflow))) {
        throw new AppointmentEnded('Nothing is arranged for this order any more: its result says why');
      }
      throw inProductWords(error, appointmentWords);
    }
  }
}
