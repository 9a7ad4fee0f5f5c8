import { z } from 'zod';
import { Part } from './part.js';
import {
  fullStatus,
  hasResults,
  isCancellable,
  isFinal,
  isShipped,
  lowLevel,
  registrationSteps,
  walkTo,
} from './lifecycle.js';
import { presentLow, presentTop } from './order-body.js';
import type { registrationRequest } from './order-requests.js';
import { ServiceProblem } from './validation.js';
import type { LabTest } from './seed.js';
import {
  type Interpretation,
  interpretations,
  newId,
  newKitSampleId,
  type Order,
  type OrderRequest,
  type Origin,
  webhook,
} from './state.js';
import { durationSchema } from './clock.js';

/** The webhook types of orders. */
export type OrderEventType = 'labtest.order.created' | 'labtest.order.updated';

/** A critical result as the service reports it; null leaves the field out, which no document describes. */
export interface CriticalResult {
  readonly status: string;
  readonly interpretation: string | null;
}

export interface NewOrder {
  readonly userId: string;
  readonly labTest: LabTest;
  readonly request: Partial<OrderRequest>;
  readonly hasInsurance?: boolean;
  readonly sampleId?: string;
  /** Placed elsewhere: its requisition is there, or is not needed. */
  readonly isImported?: boolean;
  /** Another order that this one follows: in the same transaction, unless the patient is another one. */
  readonly follows?: { readonly parent: Order; readonly origin: Origin };
}

const absentFields: OrderRequest = {
  passthrough: null,
  lab_account_id: null,
  activate_by: null,
  priority: false,
  billing_type: null,
  icd_codes: null,
  clinical_notes: null,
  shipping_details: null,
  patient_details: null,
  patient_address: null,
  physician: null,
};

/** A new status of an order. */
export const moveSchema = z.strictObject({
  /** Low-level ("transit_lab") or full ("collecting_sample.testkit.transit_lab"); unknown ones too. */
  status: z.string().min(1),
  status_detail: z.string().nullable().optional(),
  interpretation: interpretations.optional(),
  has_missing_results: z.boolean().optional(),
  webhook,
});

export type Move = z.input<typeof moveSchema>;

/** Creates orders and takes them through their lives. Requests are validated before they come here. */
export class Orders extends Part {
  /**
   * A new order: ordered, and then awaiting_registration where the patient is not known, else requisition_created; a scheduled
   * one at the beginning of its date, in UTC.
   * `webhook: false` makes it without a word to anybody.
   */
  place(placed: NewOrder, options: { webhook?: boolean } = {}): Order {
    const webhook = options.webhook ?? true;
    const order = this.#newOrder(placed);
    this.lab.state.orders.set(order.id, order);
    if (placed.isImported === true) {
      this.#append(order, { status: 'requisition_bypassed', webhook }, 'labtest.order.created');
    } else {
      this.#append(order, { status: 'ordered', webhook }, 'labtest.order.created');
      const status = order.registrable ? 'awaiting_registration' : 'requisition_created';
      const wait = Date.parse(order.activate_by ?? '') - this.lab.clock.now();
      const begin = () => {
        if (this.isOpen(order) && order.events.length === 1) this.#append(order, { status, webhook });
      };
      if (wait > 0) this.lab.clock.schedule(wait, begin);
      else begin();
    }
    return order;
  }

  /** The order that the service itself makes when a sample has to be taken again, or a result's order is closed or another user's. */
  follow(
    parent: Order,
    origin: Origin,
    more: { passthrough?: string | null; webhook?: boolean; userId?: string } = {},
  ): Order {
    const { labTest, lab_account_id, patient_details, patient_address, shipping_details, physician } = parent;
    const inherited = { lab_account_id, patient_details, patient_address, shipping_details, physician };
    const { passthrough = null, webhook = true, userId = parent.userId } = more;
    const request = { ...inherited, passthrough };
    return this.place({ userId, labTest, request, follows: { parent, origin } }, { webhook });
  }

  /** Gives a kit its patient. Without a user id it stays with the user who ordered it. */
  register(order: Order, registration: z.output<typeof registrationRequest>): void {
    const { user_id: userId, sample_id: sampleId, health_insurance: insurance } = registration;
    order.userId = userId ?? order.userId;
    order.sampleId = sampleId;
    order.patient_details = registration.patient_details;
    order.patient_address = registration.patient_address;
    order.physician = registration.physician;
    order.healthInsuranceId = insurance === null ? null : newId();
    for (const status of registrationSteps) this.#append(order, { status });
    this.lab.stories.registered(order);
  }

  /** Adds an event of any status to an order, even an impossible one. */
  move(order: Order, move: Move): void {
    this.#append(order, move);
  }

  /** Sets the interpretation of an order's results, without an event of the order's own. */
  interpret(order: Order, interpretation: Interpretation, isReported: boolean): void {
    order.interpretation = interpretation;
    order.updatedAt = this.lab.clock.now();
    if (isReported) this.lab.webhooks.announce('labtest.order.updated', order);
  }

  /** Sends the webhook of a critical result. The order stays as it is, so it may not be critical (yet). */
  reportCritical(
    order: Order,
    {
      status,
      interpretation = order.interpretation ?? 'critical',
    }: { status: string; interpretation?: string | null | undefined },
  ): void {
    order.resultsAt ??= this.lab.clock.now();
    this.lab.webhooks.announceCriticalResult(order, { status, interpretation });
  }

  /** Throws the service's 400 when the order has gone too far. */
  cancel(order: Order): void {
    // A registration takes a kit that has shipped back to an early status.
    const hasShipped = order.events.some(({ status }) => isShipped(lowLevel(status)));
    if (hasShipped || !isCancellable(order.labTest.method, presentLow(order))) {
      const message = 'Transition from current_status to cancelled is not allowed';
      throw new ServiceProblem(400, { error: 'Bad Request', message, status_code: 400 });
    }
    this.#append(order, { status: 'cancelled' });
  }

  /** Walks along the success path, one status per `delaySeconds`; 0 does it at once. Ends where the order is gone. */
  simulate(
    order: Order,
    finalStatus: string,
    delaySeconds: number,
    flags: Pick<Move, 'interpretation' | 'has_missing_results'>,
  ): void {
    const facts = {
      method: order.labTest.method,
      past: order.events.map((event) => lowLevel(event.status)),
      registrable: order.registrable,
    };
    walkTo(lowLevel(finalStatus), facts).forEach((status, index) => {
      const step = (): void => {
        if (this.isOpen(order)) this.#append(order, hasResults(status) ? { status, ...flags } : { status });
      };
      if (delaySeconds === 0) step();
      else this.lab.clock.schedule(`${delaySeconds * (index + 1)}s`, step);
    });
  }

  /** True if planned events may still happen: the order was neither deleted nor cancelled. */
  isOpen(order: Order): boolean {
    return this.lab.state.orders.get(order.id) === order && presentTop(order) !== 'cancelled';
  }

  /** A kit that waits for its patient, wherever it is on its way. */
  isRegistrable(order: Order): boolean {
    return order.registrable && order.patient_details === null && !isFinal(presentTop(order));
  }

  #newOrder({ userId, labTest, request: said, hasInsurance, sampleId, follows }: NewOrder): Order {
    const now = this.lab.clock.now();
    const isKit = labTest.method === 'testkit';
    const request = { ...absentFields, ...said };
    return {
      ...request,
      id: newId(),
      labTest,
      transactionId: follows?.parent.userId === userId ? follows.parent.transactionId : newId(),
      origin: follows?.origin ?? 'initial',
      parentId: follows?.parent.id ?? null,
      createdAt: now,
      updatedAt: now,
      detailsId: newId(),
      kitSampleId: isKit ? newKitSampleId() : null,
      registrable: isKit && request.patient_details === null,
      userId,
      events: [],
      sampleId: sampleId ?? null,
      healthInsuranceId: hasInsurance === true ? newId() : null,
      appointmentId: null,
      hasRequisition: false,
      shipment: null,
      interpretation: null,
      hasMissingResults: null,
      resultsAt: null,
    };
  }

  #append(order: Order, move: Move, eventType: OrderEventType = 'labtest.order.updated'): void {
    const now = this.lab.clock.now();
    const status = fullStatus(order.labTest.method, move.status, presentTop(order));
    const event = {
      id: this.lab.state.nextEventId(),
      createdAt: now,
      status,
      statusDetail: move.status_detail ?? null,
    };
    order.events = [...order.events, event];
    order.updatedAt = now;
    this.#applyEffects(order, move, now);
    if (move.webhook !== false) this.#announce(eventType, order);
    if (presentTop(order) === 'cancelled') this.lab.appointments.orderCancelled(order);
  }

  #announce(eventType: OrderEventType, order: Order): void {
    this.lab.webhooks.announce(eventType, order);
    const low = presentLow(order);
    if (!hasResults(low) || order.interpretation !== 'critical') return;
    this.reportCritical(order, { status: low === 'partial_results' ? 'partial' : 'final' });
  }

  /** Adds what comes with a status: requisition, tracking numbers, the printed sample id, results. */
  #applyEffects(order: Order, move: Move, now: number): void {
    const low = presentLow(order);
    if (low === 'requisition_created') order.hasRequisition = true;
    if (order.labTest.method === 'testkit' && isShipped(low)) {
      order.shipment ??= newShipment(now);
      // Only a kit that needs no registration shows its sample id by itself.
      if (!order.registrable && order.sampleId === null) order.sampleId = order.kitSampleId;
    }
    if (hasResults(low)) {
      order.resultsAt = now;
      order.interpretation ??= 'normal';
      order.hasMissingResults ??= false;
    }
    if (move.interpretation !== undefined) order.interpretation = move.interpretation;
    if (move.has_missing_results !== undefined) order.hasMissingResults = move.has_missing_results;
  }
}

function newShipment(now: number): NonNullable<Order['shipment']> {
  const digits = String(now).slice(-10);
  return {
    id: newId(),
    createdAt: now,
    outboundTrackingNumber: `9400${digits}01`,
    inboundTrackingNumber: `9400${digits}02`,
  };
}

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
