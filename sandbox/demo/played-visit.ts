import type { AppointmentHandle, AppointmentResult, AppointmentState, Slot } from '../../client/index.js';
import type { Narrator } from './narrator.js';
import type { NotificationReceiver } from './notification-receiver.js';
import { Notifications } from './notifications.js';
import { appointmentWords } from './words.js';

/** An appointment of a story. */
export class PlayedVisit {
  readonly handle: AppointmentHandle;
  readonly #narrator: Narrator;
  readonly #notifications: Notifications<'appointment'>;

  constructor(handle: AppointmentHandle, narrator: Narrator, receiver: NotificationReceiver) {
    this.handle = handle;
    this.#narrator = narrator;
    this.#notifications = new Notifications(
      receiver,
      'appointment',
      ({ data }) => data.order_id === handle.orderId,
      (event) => narrator.notifies(event.time, appointmentWords(event)),
    );
  }

  /** The slots that the customer can choose from. */
  async slots(): Promise<Slot[]> {
    const { slots } = await this.handle.slots();
    this.#narrator.happens(
      `the lab service offers ${slots.length} slots in 14 days, from ${momentOf(slots[0]?.start)}`,
    );
    return slots;
  }

  async choose(slot: Slot): Promise<AppointmentState> {
    const state = await this.handle.choose({ slotId: slot.id });
    this.#narrator.happens(`the lab service has booked ${momentOf(state.appointment?.startAt)}`);
    return state;
  }

  /** Waits for the end of the workflow, and until the product is notified of it. */
  async end(): Promise<AppointmentResult> {
    const result = await this.handle.result();
    await this.#notifications.first('ended');
    return result;
  }
}

function momentOf(at: string | undefined): string {
  return at === undefined ? 'no day' : `${at.slice(0, 16).replace('T', ' ')} UTC`;
}
