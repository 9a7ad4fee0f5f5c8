import { setTimeout as pause } from 'node:timers/promises';
import type { KitOrderHandle, KitOrderResult, OrderState } from '../../client/index.js';
import type { SandboxControl } from '../control.js';
import type { StoryStep } from '../lab-service/stories.js';
import type { Narrator } from './narrator.js';
import type { OrderNotification } from './notification-receiver.js';
import { Occurrences } from './occurrences.js';
import { registrationOf } from './persons.js';

type Registration = Parameters<KitOrderHandle['register']>[0];

/** Quick enough that a line comes with its event, slow enough for a small machine with several orders. */
const watching = { minInterval: 120, maxInterval: 240 };

/** A notification usually overtakes the next look at the state: it is told after its event, unless that takes longer. */
const eventFirstMs = 1_500;

/** A correction reopens an order that had ended: its new run answers a moment after the webhook came. */
const askAgainMs = 50;

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
    for await (const state of this.handle.watch({ ...watching, signal: this.#signal })) {
      this.#narrator.state(state);
      this.#states.add(state);
    }
  }

  /** The product was told something: shown after the event that it is about, then known to the story. */
  hear(notification: OrderNotification): void {
    this.#telling = this.#telling.then(async () => {
      await this.#eventShown(notification);
      this.#narrator.product(notification);
      this.#notifications.add(notification);
    });
  }

  /** Waits until the product is told of it. */
  told(type: string, fits: (notification: OrderNotification) => boolean = () => true): Promise<OrderNotification> {
    return this.#notifications.first((notification) => notification.type === type && fits(notification));
  }

  /** Waits until the product is told that an order of the chain has come to this status. */
  toldOf(status: string, orderId = this.orderId): Promise<OrderNotification> {
    return this.told('phase_changed', ({ data }) => data.order_id === orderId && data.status?.endsWith(status) === true);
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
  async register(change: (registration: Registration) => Registration = (same) => same, orderId = this.orderId) {
    const { kit_sample_id: sampleId } = await this.#control.order(orderId);
    return this.handle.register(change(registrationOf(sampleId ?? '')), { orderId });
  }

  /** Waits for the end of the workflow, and until everything of it was shown. */
  async end(): Promise<KitOrderResult> {
    const result = await this.handle.result();
    await this.#telling;
    return result;
  }

  /** Events have a number; reminders and questions are about no event. */
  async #eventShown({ id, data }: OrderNotification): Promise<void> {
    const [, event = ''] = id.split('/');
    const deadline = Date.now() + eventFirstMs;
    while (/^\d+$/.test(event) && !this.#narrator.hasTold(`${data.order_id}/${event}`) && Date.now() < deadline) {
      await pause(askAgainMs);
    }
  }
}
