import type { AppointmentHandle, AppointmentResult, AppointmentState, Slot } from '../../client/index.js';
import type { Narrator } from './narrator.js';
import type { AppointmentNotification, NotificationReceiver } from './notification-receiver.js';
import { Occurrences } from './occurrences.js';

/** An appointment of a story: the product's handle of it, and what the product is told. */
export class PlayedVisit {
  readonly handle: AppointmentHandle;
  readonly #narrator: Narrator;
  readonly #notifications = new Occurrences<AppointmentNotification>();

  constructor(handle: AppointmentHandle, narrator: Narrator, { appointments }: NotificationReceiver) {
    this.handle = handle;
    this.#narrator = narrator;
    appointments.each((notification) => {
      if (notification.data.order_id === handle.orderId) this.#hear(notification);
    });
  }

  /** The customer is shown what can be chosen. */
  async offered(): Promise<Slot[]> {
    const { slots } = await this.handle.slots();
    this.#narrator.happens(`${slots.length} slots in 14 days, the first on ${momentOf(slots[0]?.start)}`);
    return slots;
  }

  /** The customer takes a slot. */
  async takes(slot: Slot): Promise<AppointmentState> {
    const state = await this.handle.choose({ slotId: slot.id });
    this.#narrator.happens(`the lab service has booked ${momentOf(state.appointment?.startAt)}`);
    return state;
  }

  async end(): Promise<AppointmentResult> {
    const result = await this.handle.result();
    await this.#notifications.first(({ type }) => type === 'ended');
    return result;
  }

  #hear(notification: AppointmentNotification): void {
    const { type, data, time } = notification;
    const what = data.phase ?? data.outcome ?? data.reason;
    const words = type.replaceAll('_', ' ');
    this.#narrator.tells(time, what === undefined ? words : `the appointment: ${what.replaceAll('_', ' ')}`);
    this.#notifications.add(notification);
  }
}

function momentOf(at: string | undefined): string {
  return at === undefined ? 'no day' : `${at.slice(0, 16).replace('T', ' ')} UTC`;
}
