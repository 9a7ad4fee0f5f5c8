import { z } from 'zod';
import { Part } from './part.js';
import { interpretations, type Order } from './state.js';
import { durationSchema } from './clock.js';

const stepSchema = z.strictObject({
  /** The (compressed) wait since the step before, or since what `awaits` names. */
  after: durationSchema,
  /** `registration`: the wait begins when the kit is registered (at once, where its patient is known already). */
  awaits: z.literal('registration').optional(),
  /** Low-level or full status. Exactly one of `status` and `creates`. */
  status: z.string().optional(),
  status_detail: z.string().nullable().optional(),
  interpretation: interpretations.optional(),
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

/** Plays stories on orders. A story ends early when its order is cancelled or deleted. */
export class Stories extends Part {
  /** By order id: what goes on once the kit is registered. */
  readonly #awaiting = new Map<string, (() => void)[]>();

  play(order: Order, steps: readonly StoryStep[]): void {
    const [step, ...rest] = steps;
    if (step === undefined) return;
    const plan = (): void => {
      this.lab.clock.schedule(step.after, () => {
        if (!this.lab.orders.isOpen(order)) return;
        this.#perform(order, step);
        this.play(order, rest);
      });
    };
    if (step.awaits === 'registration' && order.registrable && order.patient_details === null) {
      this.#awaiting.set(order.id, [...(this.#awaiting.get(order.id) ?? []), plan]);
    } else plan();
  }

  /** Goes on with the stories that wait for the registration. */
  registered(order: Order): void {
    const plans = this.#awaiting.get(order.id) ?? [];
    this.#awaiting.delete(order.id);
    for (const plan of plans) plan();
  }

  #perform(order: Order, step: StoryStep): void {
    if (step.creates !== undefined) this.lab.orders.follow(order, step.creates);
    const { status, status_detail, interpretation } = step;
    if (status !== undefined) this.lab.orders.move(order, { status, status_detail, interpretation });
  }
}
