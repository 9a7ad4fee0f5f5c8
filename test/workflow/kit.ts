import { eventually } from '../rig/eventually.js';
import { isIdle } from '../rig/idle.js';
import { kitOrderId } from '../../protocol/ids.js';
import { followed, following } from '../rig/followed.js';
import { expect } from 'vitest';
import type { OrderHandle } from '../../client/order/order-handle.js';
import type { SandboxControl } from '../../sandbox/control.js';
import type { KitOrderResult } from '../../protocol/order/messages.js';
import type { OrderState } from '../../protocol/order/state.js';
import type { Notification } from '../rig/notification-receiver.js';
import { consents, patientAddress, patientDetails } from '../rig/cast.js';
import type { Stage } from './story.js';
import { Watched } from './watched.js';

type Move = Exclude<Parameters<SandboxControl['move']>[1], string>;

/** One order in a story: what happens to it at the service, and what the product is notified of. */
export class Kit extends Watched<OrderState> {
  readonly handle: OrderHandle;
  readonly rootOrderId: string;
  private readonly stage: Stage;

  constructor(stage: Stage, handle: OrderHandle, rootOrderId: string) {
    super(following(handle));
    this.stage = stage;
    this.handle = handle;
    this.rootOrderId = rootOrderId;
  }

  /** Moves the current order through these statuses; returns when the workflow has received each that a webhook is sent for. */
  async move(...moves: (string | Move)[]): Promise<void> {
    const { orderId } = await followed(this.handle);
    for (const move of moves) {
      await this.stage.syncClock();
      const { order } = await this.stage.sandbox.move(orderId, move);
      if (typeof move !== 'string' && move.webhook === false) continue;
      await eventually(async () => {
        const { timeline } = await followed(this.handle);
        expect(timeline.map(({ eventId }) => eventId)).toContain(order.events.at(-1)?.id);
      });
    }
  }

  /** Registers the current order's kit by the data printed on it. */
  async register(): Promise<OrderState> {
    return this.handle.register({ registration: await this.registration() });
  }

  async registration() {
    const { orderId } = await followed(this.handle);
    const { order, kit_sample_id: printed } = await this.stage.sandbox.order(orderId);
    await this.stage.syncClock();
    return {
      user_id: order.user_id,
      sample_id: printed ?? '',
      patient_details: patientDetails,
      patient_address: patientAddress,
      consents,
    };
  }

  /** Waits until its workflow waits for nothing but time or messages. */
  async untilIdle(): Promise<void> {
    await eventually(async () => expect(await isIdle(this.stage.temporal, kitOrderId(this.rootOrderId))).toBe(true));
  }

  /** Waits for the order's result without letting time pass. */
  async result(): Promise<KitOrderResult> {
    return this.handle.result();
  }

  /** The notifications about the chain, in the order in which they came. */
  get notifications(): Notification[] {
    return this.stage.receiver.about(this.rootOrderId);
  }

  get notified(): string[] {
    return this.notifications.map(briefly);
  }

  /** `notified` for a receiver that drops repeats: if a run ends while it notifies, the next one notifies again. */
  get notifiedOnce(): string[] {
    return withoutRepeats(this.notifications).map(briefly);
  }
}

/** `phase_changed at_lab`, `attention_raised results_overdue`, `result`. */
function briefly({ type, data }: Notification): string {
  const what = data['phase'] ?? data['reason'] ?? data['outcome'] ?? data['reminder'];
  return typeof what === 'string' || typeof what === 'number' ? `${type} ${what}` : type;
}

export function withoutRepeats(notifications: readonly Notification[]): Notification[] {
  return notifications.filter(({ id }, index) => notifications.findIndex((other) => other.id === id) === index);
}
