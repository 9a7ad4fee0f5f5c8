import { setTimeout as pause } from 'node:timers/promises';
import type { KitOrderHandle, KitOrderResult, OrderState } from '../../client/index.js';
import type { SandboxControl } from '../control.js';
import { lowLevel } from '../lab-service/lifecycle.js';
import type { StoryStep } from '../lab-service/stories.js';
import type { Narrator } from './narrator.js';
import type { OrderNotification } from './notification-receiver.js';
import { Occurrences } from './occurrences.js';
import { registrationOf } from './persons.js';

type Registration = Parameters<KitOrderHandle['register']>[0];

/** What differs from the usual registration. */
export type Change = (usual: Registration) => Registration;

/** Quick enough that a line comes with its event, slow enough for a small machine with several orders. */
const watching = { minInterval: 120, maxInterval: 240 };

/** How long an event's line waits for the notification about it, so that both stand in one line. */
const togetherMs = 300;

/** How long a notification waits for the line of its event. */
const eventFirstMs = 1_500;

const lookAgainMs = 20;

/** An order of a story: the product's handle of it, and what lab, post and customer do with it. */
export class PlayedOrder {
  readonly handle: KitOrderHandle;
  readonly orderId: string;
  readonly #control: SandboxControl;
  readonly #narrator: Narrator;
  readonly #states = new Occurrences<OrderState>();
  readonly #notifications = new Occurrences<OrderNotification>();
  readonly #signal: AbortSignal;
  #telling: Promise<void> = Promise.resolve();
  #following = false;

  constructor(
    handle: KitOrderHandle,
    orderId: string,
    { control, narrator, signal }: { control: SandboxControl; narrator: Narrator; signal: AbortSignal },
  ) {
    this.handle = handle;
    this.orderId = orderId;
    this.#control = control;
    this.#narrator = narrator;
    this.#signal = signal;
  }

  /** Tells every change until the order has ended. */
  async follow(): Promise<void> {
    this.#following = true;
    for await (const state of this.handle.watch({ ...watching, signal: this.#signal })) {
      if (state.phase === 'placing') continue;
      await this.#noticesOf(state);
      this.#show(state);
    }
    this.#following = false;
  }

  /** The product was told something: shown with the event that it is about or after it, then known to the story. */
  hear(notification: OrderNotification): Promise<void> {
    const [, eventId = ''] = notification.id.split('/');
    if (notification.type === 'phase_changed') this.#narrator.phaseArrived(eventId, notification);
    this.#telling = this.#telling.then(async () => {
      await this.#eventShown(eventId, notification);
      this.#narrator.product(eventId, notification);
      this.#notifications.add(notification);
    });
    return this.#telling;
  }

  /** Waits until the product is told of it. */
  told(type: string, fits: (notification: OrderNotification) => boolean = () => true): Promise<OrderNotification> {
    return this.#notifications.first((notification) => notification.type === type && fits(notification));
  }

  /** Waits until an order of the chain has come to this status; the product is told only of where it is by then. */
  comesTo(status: string, orderId = this.orderId): Promise<OrderState> {
    return this.until(({ timeline }) =>
      timeline.some((entry) => entry.orderId === orderId && lowLevel(entry.status) === status),
    );
  }

  wasTold(type: string): boolean {
    return this.#notifications.some((notification) => notification.type === type);
  }

  /** Waits until the order is seen in such a state. */
  until(fits: (state: OrderState) => boolean): Promise<OrderState> {
    return this.#states.first(fits);
  }

  /** What the lab and the post do: one of the sandbox's stories, or steps. */
  async goes(story: string | readonly StoryStep[], orderId = this.orderId): Promise<void> {
    await this.#control.playStory(orderId, story);
  }

  /** The customer finds the number on the kit, and the product registers it. */
  async register(change: Change = (usual) => usual, orderId = this.orderId) {
    const { kit_sample_id: sampleId } = await this.#control.order(orderId);
    return this.handle.register(change(registrationOf(sampleId ?? '')), { orderId });
  }

  /** Waits for the end of the workflow, and until everything of it was shown. */
  async end(): Promise<KitOrderResult> {
    const result = await this.handle.result();
    await this.#telling;
    return result;
  }

  #show(state: OrderState): void {
    this.#narrator.state(state);
    this.#states.add(state);
  }

  /** Waits a moment for what the product is told of the last event. */
  async #noticesOf(state: OrderState): Promise<void> {
    const last = this.#narrator.untold(state).at(-1);
    for (const deadline = Date.now() + togetherMs; last && Date.now() < deadline; await pause(lookAgainMs)) {
      if (this.#narrator.hasPhaseOf(last)) return;
    }
  }

  /** Events have a number; reminders and questions are about no event. */
  async #eventShown(eventId: string, { data }: OrderNotification): Promise<void> {
    if (!/^\d+$/.test(eventId)) return;
    const isShown = (): boolean => this.#narrator.hasTold(data.order_id, eventId);
    // An order that had ended and was reopened is followed by nobody.
    const state = this.#following || isShown() ? undefined : await this.handle.state();
    if (state && state.phase !== 'placing') this.#show(state);
    for (const deadline = Date.now() + eventFirstMs; !isShown() && Date.now() < deadline;) await pause(lookAgainMs);
  }
}
