import { eventually } from '../rig/eventually.js';
import { expect } from 'vitest';
import type { KitOrderHandle } from '../../client/orders/order-handle.js';
import type { RevealedOrder, SandboxControl } from '../../sandbox/control.js';
import type { AttentionReason, KitOrderResult, OrderState } from '../../workflows/order/messages.js';
import type { Notification } from './notification-receiver.js';
import { consents, patientAddress, patientDetails, physician } from './persons.js';
import type { Stage } from './story.js';

type Move = Exclude<Parameters<SandboxControl['move']>[1], string>;

export interface RegistrationOptions {
  /** Another user than the one who ordered. */
  userId?: string;
  withPhysician?: boolean;
  /** Another sample id than the one that is printed on the kit. */
  sampleId?: string;
  /** Replaces the date of birth. */
  dob?: string;
}

/** One order in a story: what happens to it at the service, and what the product is told of it. */
export class Kit {
  readonly handle: KitOrderHandle;
  readonly rootOrderId: string;
  private readonly stage: Stage;

  constructor(stage: Stage, handle: KitOrderHandle, rootOrderId: string) {
    this.stage = stage;
    this.handle = handle;
    this.rootOrderId = rootOrderId;
  }

  /** The current order goes through these statuses, and the workflow has heard of it. */
  async goes(...moves: (string | Move)[]): Promise<void> {
    const { orderId } = await this.handle.state();
    for (const move of moves) await this.orderGoes(orderId, move);
  }

  /** An order of the chain goes to a status, and the workflow has heard of it where a webhook told. */
  async orderGoes(orderId: string, move: string | Move): Promise<void> {
    await this.stage.syncClock();
    const moved = await this.stage.sandbox.move(orderId, move);
    if (typeof move === 'string' || move.webhook !== false) await this.hears(moved);
  }

  /** Waits until the workflow knows the order's last event. */
  async hears({ order }: RevealedOrder): Promise<void> {
    const last = order.events.at(-1)?.id;
    await eventually(async () => {
      const { timeline } = await this.handle.state();
      expect(timeline.map(({ eventId }) => eventId)).toContain(last);
    });
  }

  /** Registers the current order's kit by what is printed on it. */
  async register(options: RegistrationOptions = {}): Promise<OrderState> {
    return this.handle.register(await this.registration(options));
  }

  async registration({ userId, withPhysician = false, sampleId, dob }: RegistrationOptions = {}) {
    const { orderId } = await this.handle.state();
    const { order, kit_sample_id: printed } = await this.stage.sandbox.order(orderId);
    await this.stage.syncClock();
    return {
      user_id: userId ?? order.user_id,
      sample_id: sampleId ?? printed ?? '',
      patient_details: { ...patientDetails, ...(dob !== undefined && { dob }) },
      patient_address: patientAddress,
      consents,
      ...(withPhysician && { physician }),
    };
  }

  /** Waits until the state has all this. */
  async shows(expected: Partial<OrderState>): Promise<OrderState> {
    return eventually(async () => {
      const state = await this.handle.state();
      expect(state).toMatchObject(expected);
      return state;
    });
  }

  /** Waits until a person is asked for exactly these reasons. */
  async asksFor(...reasons: AttentionReason[]): Promise<void> {
    await eventually(async () => {
      const { attention } = await this.handle.state();
      expect(attention.map(({ reason }) => reason)).toEqual(reasons);
    });
  }

  /** The order's end and how it is told, without letting time pass. */
  async ends(): Promise<KitOrderResult> {
    return this.handle.result();
  }

  /** What the product was told of the chain, in the order in which it came. */
  get notifications(): Notification[] {
    return this.stage.receiver.accepted.filter(({ data }) => data['root_order_id'] === this.rootOrderId);
  }

  /** The same in brief: a phase or a reason follows the type. */
  get told(): string[] {
    return this.notifications.map(briefly);
  }

  /** The same for a receiver that drops repeats: a run that ends while it tells has the next one tell again. */
  get toldOnce(): string[] {
    return withoutRepeats(this.notifications).map(briefly);
  }

  /** Waits until the product was told exactly this. */
  async tells(...told: string[]): Promise<void> {
    await eventually(() => expect(this.told).toEqual(told));
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
