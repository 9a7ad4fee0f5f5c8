import { setTimeout as pause } from 'node:timers/promises';
import type { OrderHandle, KitOrderResult, OrderState } from '../../client/index.js';
import type { SandboxControl } from '../control.js';
import { lowLevel } from '../lab-service/lifecycle.js';
import type { StoryStep } from '../lab-service/orders.js';
import type { Narrator } from './narrator.js';
import { Notifications, Occurrences, type EventOf, type NotificationReceiver } from './notifications.js';
import { inventedAddress, inventedPatient } from '../lab-service/users.js';

/** Changes the usual registration. */
export type Change = (usual: Registration) => Registration;

/** Often enough that a line comes with its event, seldom enough for a small machine with several orders. */
export const watching = { minInterval: '120ms', maxInterval: '240ms' } as const;

/** How long an event's line waits for the notification about it, so both are shown in one line. */
const togetherMs = 300;

/** How long a notification waits for the line of its event. */
const eventFirstMs = 1_500;

const pollMs = 20;

/** An order of a story, and what lab, post and customer do with it. */
export class PlayedOrder {
  readonly handle: OrderHandle;
  readonly orderId: string;
  readonly notifications: Notifications<'order'>;
  readonly #control: SandboxControl;
  readonly #narrator: Narrator;
  readonly #states = new Occurrences<OrderState>();
  readonly #signal: AbortSignal;
  #following = false;

  /** @param on.lost is called when the order can no longer be followed */
  constructor(
    handle: OrderHandle,
    orderId: string,
    on: {
      control: SandboxControl;
      narrator: Narrator;
      receiver: NotificationReceiver;
      signal: AbortSignal;
      lost: (error: unknown) => void;
    },
  ) {
    this.handle = handle;
    this.orderId = orderId;
    this.#control = on.control;
    this.#narrator = on.narrator;
    this.#signal = on.signal;
    this.notifications = new Notifications(
      on.receiver,
      'order',
      ({ data }) => data.root_order_id === orderId,
      (event) => this.#notified(event).catch(on.lost),
    );
    // Beside the story, until the order ends.
    this.#follow().catch(on.lost);
  }

  /** Waits until an order of the chain has reached this status; the product is notified of the phase only. */
  reaches(status: string, orderId = this.orderId): Promise<OrderState> {
    return this.until(({ timeline }) =>
      timeline.some((entry) => entry.orderId === orderId && lowLevel(entry.status) === status),
    );
  }

  /** Waits until the order is in such a state. */
  until(fits: (state: OrderState) => boolean): Promise<OrderState> {
    return this.#states.first(fits);
  }

  /** Lets the lab and the post play the steps of a story. */
  async plays(story: readonly StoryStep[], orderId = this.orderId): Promise<void> {
    await this.#control.playStory(orderId, story);
  }

  /** The customer finds the number on the kit, and the product registers it. */
  async register(change: Change = (usual) => usual, orderId = this.orderId) {
    const { kit_sample_id: sampleId } = await this.#control.order(orderId);
    return this.handle.register({ registration: change(registrationOf(sampleId ?? '')), orderId });
  }

  /** Waits for the end of the workflow, and until everything about it was shown. */
  async end(): Promise<KitOrderResult> {
    const result = await this.handle.result();
    await this.notifications.settled();
    return result;
  }

  async #follow(): Promise<void> {
    this.#following = true;
    for await (const state of this.handle.watch({ ...watching, signal: this.#signal })) {
      if (state.phase === 'placing') continue;
      await this.#phaseReceived(state);
      this.#show(state);
    }
    this.#following = false;
  }

  #show(state: OrderState): void {
    this.#narrator.state(state);
    this.#states.add(state);
  }

  /** Shows a notification with the event that it is about, or after it. */
  async #notified(event: EventOf<'order'>): Promise<void> {
    const [, eventId = ''] = event.id.split('/');
    if (event.type === 'labops.order.phase_changed') this.#narrator.phaseArrived(eventId, event);
    await this.#eventShown(eventId, event);
    this.#narrator.product(eventId, event);
  }

  /** Waits a moment for the notification about the last event, so both are shown in one line. */
  async #phaseReceived(state: OrderState): Promise<void> {
    const last = this.#narrator.unshown(state).at(-1);
    for (const deadline = Date.now() + togetherMs; last && Date.now() < deadline; await pause(pollMs)) {
      if (this.#narrator.hasPhaseOf(last)) return;
    }
  }

  /** Events have a number; reminders and questions are about no event. */
  async #eventShown(eventId: string, { data }: EventOf<'order'>): Promise<void> {
    if (!/^\d+$/.test(eventId)) return;
    const isShown = (): boolean => this.#narrator.hasShown(data.order_id, eventId);
    // Nothing follows an order that had ended and was reopened.
    const state = this.#following || isShown() ? undefined : await this.handle.state();
    if (state && state.phase !== 'placing') this.#show(state);
    for (const deadline = Date.now() + eventFirstMs; !isShown() && Date.now() < deadline;) await pause(pollMs);
  }
}

type Registration = Parameters<OrderHandle['register']>[0]['registration'];

/** The address that the kit is sent to, and at which blood is drawn. */
export const address = { ...inventedAddress, country: 'US' };

/** The registration of the kit with this number. */
export function registrationOf(sampleId: string): Registration {
  return {
    sample_id: sampleId,
    patient_details: inventedPatient,
    patient_address: address,
    consents: [{ consentType: 'terms-of-use' }],
  };
}
