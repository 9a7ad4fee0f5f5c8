import { z } from 'zod';
import type { Clock } from './clock.js';
import type { Orders } from './orders.js';
import type { Order } from './state.js';
import { durationSchema } from './duration.js';

const stepSchema = z.strictObject({
  /** The (compressed) wait since the step before, or since what `awaits` names. */
  after: durationSchema,
  /** `registration`: the wait begins when the kit is registered (at once, where its patient is known already). */
  awaits: z.literal('registration').optional(),
  /** Low-level or full status. Exactly one of `status` and `creates`. */
  status: z.string().optional(),
  status_detail: z.string().nullable().optional(),
  interpretation: z.enum(['normal', 'abnormal', 'critical', 'unknown']).optional(),
  /** The service makes a new order in the same transaction; the story goes on with the present one. */
  creates: z.enum(['redraw', 'recreation']).optional(),
});

export const storyStepsSchema = z
  .array(
    stepSchema.refine((step) => (step.status === undefined) !== (step.creates === undefined), {
      error: 'a step has either status or creates',
    }),
  )
  .min(1)
  .readonly();

export type StoryStep = z.infer<typeof stepSchema>;

const toCustomer: readonly StoryStep[] = [
  { after: '1d', status: 'transit_customer' },
  { after: '2d', status: 'out_for_delivery' },
  { after: '8h', status: 'with_customer' },
];
const toLab: readonly StoryStep[] = [
  { after: '3d', awaits: 'registration', status: 'transit_lab' },
  { after: '2d', status: 'delivered_to_lab' },
];
const done: StoryStep = { after: '3d', status: 'completed' };

/** Stories that the control surface can play by name. Each starts at a fresh order. */
export const STORIES: Readonly<Record<string, readonly StoryStep[]>> = {
  /** Shipped, delivered, (registered by the product at any time before it goes back,) returned, completed. */
  happy: [...toCustomer, ...toLab, done],
  abnormal: [...toCustomer, ...toLab, { ...done, interpretation: 'abnormal' }],
  critical: [...toCustomer, ...toLab, { ...done, interpretation: 'critical' }],
  /** Delivered and never sent back. */
  never_returned: toCustomer,
  problem_in_transit_customer_heals: [
    { after: '1d', status: 'transit_customer' },
    { after: '2d', status: 'problem_in_transit_customer' },
    { after: '3d', status: 'out_for_delivery' },
    { after: '8h', status: 'with_customer' },
    ...toLab,
    done,
  ],
  failure_to_deliver_to_customer: [
    { after: '1d', status: 'transit_customer' },
    { after: '4d', status: 'failure_to_deliver_to_customer' },
  ],
  lost_on_the_way_to_customer: [
    { after: '1d', status: 'transit_customer' },
    { after: '3d', status: 'problem_in_transit_customer' },
    { after: '6d', status: 'lost' },
  ],
  lost_on_the_way_to_lab: [
    ...toCustomer,
    { after: '3d', awaits: 'registration', status: 'transit_lab' },
    { after: '3d', status: 'problem_in_transit_lab' },
    { after: '6d', status: 'lost' },
  ],
  lost_and_found: [
    ...toCustomer,
    { after: '3d', awaits: 'registration', status: 'transit_lab' },
    { after: '6d', status: 'lost' },
    { after: '4d', status: 'delivered_to_lab' },
    done,
  ],
  failure_to_deliver_to_lab: [
    ...toCustomer,
    { after: '3d', awaits: 'registration', status: 'transit_lab' },
    { after: '4d', status: 'failure_to_deliver_to_lab' },
  ],
  sample_error: [
    ...toCustomer,
    ...toLab,
    { after: '2d', status: 'sample_error', status_detail: 'sample_quantity_not_sufficient' },
  ],
  /** The sample fails, and the service itself makes a redraw order in the same transaction. */
  sample_error_and_redraw: [
    ...toCustomer,
    ...toLab,
    { after: '2d', status: 'sample_error', status_detail: 'sample_hemolyzed' },
    { after: '1d', creates: 'redraw' },
  ],
  lab_processing_blocked_heals: [
    ...toCustomer,
    ...toLab,
    { after: '1d', status: 'lab_processing_blocked', status_detail: 'date_of_collection_unspecified' },
    { after: '3d', status: 'delivered_to_lab' },
    done,
  ],
  corrected: [...toCustomer, ...toLab, done, { after: '5d', status: 'corrected', interpretation: 'abnormal' }],
};

/** Plays stories on orders. A story ends early when its order is cancelled or deleted. */
export class Stories {
  readonly #clock: Clock;
  readonly #orders: Orders;
  /** By order id: what goes on once the kit is registered. */
  readonly #awaiting = new Map<string, (() => void)[]>();

  constructor(clock: Clock, orders: Orders) {
    this.#clock = clock;
    this.#orders = orders;
  }

  play(order: Order, steps: readonly StoryStep[]): void {
    const [step, ...rest] = steps;
    if (step === undefined) return;
    const plan = (): void => {
      this.#clock.schedule(step.after, () => {
        if (!this.#orders.isOpen(order)) return;
        this.#perform(order, step);
        this.play(order, rest);
      });
    };
    if (step.awaits === 'registration' && order.registrable && order.patientDetails === null) {
      this.#awaiting.set(order.id, [...(this.#awaiting.get(order.id) ?? []), plan]);
    } else plan();
  }

  /** To be told of every registration. */
  registered(order: Order): void {
    const plans = this.#awaiting.get(order.id) ?? [];
    this.#awaiting.delete(order.id);
    for (const plan of plans) plan();
  }

  clear(): void {
    this.#awaiting.clear();
  }

  #perform(order: Order, step: StoryStep): void {
    if (step.creates !== undefined) this.#orders.follow(order, step.creates);
    if (step.status === undefined) return;
    this.#orders.move(order, {
      status: step.status,
      statusDetail: step.status_detail ?? null,
      ...(step.interpretation === undefined ? {} : { interpretation: step.interpretation }),
    });
  }
}
