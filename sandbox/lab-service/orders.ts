import type { Lab } from './lab.js';
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
import { ServiceProblem } from './problems.js';
import type { LabTest } from './seed.js';
import {
  newId,
  newKitSampleId,
  type Address,
  type Interpretation,
  type Order,
  type Origin,
  type PatientDetails,
  type Physician,
} from './state.js';

/** The webhook types of orders. */
export type OrderEventType = 'labtest.order.created' | 'labtest.order.updated';

/** A critical result as the service reports it; null leaves the field out, which no document describes. */
export interface CriticalResult {
  readonly status: string;
  readonly interpretation: string | null;
}

/** The fields of a new order; those that are left out are null. */
export interface NewOrder {
  readonly userId: string;
  readonly labTest: LabTest;
  readonly passthrough?: string | null;
  readonly labAccountId?: string | null;
  readonly activateBy?: string | null;
  readonly priority?: boolean;
  readonly billingType?: string | null;
  readonly icdCodes?: readonly string[] | null;
  readonly clinicalNotes?: string | null;
  readonly patientDetails?: PatientDetails | null;
  readonly patientAddress?: Address | null;
  readonly shippingDetails?: Address | null;
  readonly physician?: Physician | null;
  readonly healthInsuranceId?: string | null;
  readonly sampleId?: string | null;
  /** Placed elsewhere: its requisition is there, or is not needed. */
  readonly isImported?: boolean;
  /** Another order that this one follows in the same transaction. */
  readonly follows?: { readonly parent: Order; readonly origin: Origin };
}

/** The fields that a registration sets. */
export interface Registration {
  readonly sampleId: string;
  /** The patient; null keeps the order's user. */
  readonly userId: string | null;
  readonly patientDetails: PatientDetails;
  readonly patientAddress: Address;
  readonly physician: Physician | null;
  readonly healthInsuranceId: string | null;
}

export interface Move {
  /** Low-level ("transit_lab") or full ("collecting_sample.testkit.transit_lab"); unknown ones too. */
  readonly status: string;
  readonly statusDetail?: string | null | undefined;
  readonly interpretation?: Interpretation | undefined;
  readonly hasMissingResults?: boolean | undefined;
  /** false: no webhook reports it. Default true. */
  readonly webhook?: boolean;
}

/** Creates orders and takes them through their lives. Requests are validated before they come here. */
export class Orders {
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  /**
   * A new order: ordered, and then awaiting_registration where the patient is not known, else requisition_created.
   * `webhook: false` makes it without a word to anybody.
   */
  place(request: NewOrder, options: { webhook?: boolean } = {}): Order {
    const webhook = options.webhook ?? true;
    const order = this.#newOrder(request);
    this.#lab.state.addOrder(order);
    if (request.sampleId != null) this.#lab.state.setSample(order, request.sampleId);
    if (request.isImported === true) {
      this.#append(order, { status: 'requisition_bypassed', webhook }, 'labtest.order.created');
    } else {
      this.#append(order, { status: 'ordered', webhook }, 'labtest.order.created');
      this.#append(order, { status: order.registrable ? 'awaiting_registration' : 'requisition_created', webhook });
    }
    this.#lab.stories.created(order);
    return order;
  }

  /** The order that the service itself makes in the same transaction when a sample has to be taken again. */
  follow(parent: Order, origin: Origin, more: { passthrough?: string | null; webhook?: boolean } = {}): Order {
    const { userId, labTest, labAccountId, patientDetails, patientAddress, shippingDetails, physician } = parent;
    const inherited = { userId, labTest, labAccountId, patientDetails, patientAddress, shippingDetails, physician };
    const { passthrough = null, webhook = true } = more;
    return this.place({ ...inherited, passthrough, follows: { parent, origin } }, { webhook });
  }

  register(order: Order, registration: Registration): void {
    if (registration.userId !== null && registration.userId !== order.userId) {
      this.#lab.state.rebind(order, registration.userId);
    }
    this.#lab.state.setSample(order, registration.sampleId);
    order.patientDetails = registration.patientDetails;
    order.patientAddress = registration.patientAddress;
    order.physician = registration.physician;
    order.healthInsuranceId = registration.healthInsuranceId;
    for (const status of registrationSteps(this.#lab.settings.current)) this.#append(order, { status });
    this.#lab.stories.registered(order);
  }

  /** Adds an event of any status to an order, even an impossible one. */
  move(order: Order, move: Move): void {
    this.#append(order, move);
  }

  /** Says of the results of an order what they mean, without an event of the order's own. */
  interpret(order: Order, interpretation: Interpretation, { webhook = true }: { webhook?: boolean } = {}): void {
    order.interpretation = interpretation;
    order.updatedAt = this.#lab.clock.now();
    if (webhook) this.#lab.webhooks.announce('labtest.order.updated', order);
  }

  /** Sends the webhook of a critical result. The order stays as it is, so it may not be critical (yet). */
  reportCritical(
    order: Order,
    { status, interpretation }: { status: string; interpretation?: string | null | undefined },
  ): void {
    const usual = { order: order.interpretation ?? 'critical', normal: 'normal', absent: null }[
      this.#lab.settings.current.criticalInterpretation
    ];
    order.resultsAt ??= this.#lab.clock.now();
    this.#lab.webhooks.announceCriticalResult(order, {
      status,
      interpretation: interpretation === undefined ? usual : interpretation,
    });
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
    flags: Pick<Move, 'interpretation' | 'hasMissingResults'>,
  ): void {
    const facts = {
      method: order.labTest.method,
      past: order.events.map((event) => lowLevel(event.status)),
      registrable: order.registrable,
    };
    walkTo(lowLevel(finalStatus), facts, this.#lab.settings.current).forEach((status, index) => {
      const step = (): void => {
        if (this.isOpen(order)) this.#append(order, hasResults(status) ? { status, ...flags } : { status });
      };
      if (delaySeconds === 0) step();
      else this.#lab.clock.schedule(`${delaySeconds * (index + 1)}s`, step);
    });
  }

  /** True if planned events may still happen: the order was neither deleted nor cancelled. */
  isOpen(order: Order): boolean {
    return this.#lab.state.orders.get(order.id) === order && presentTop(order) !== 'cancelled';
  }

  /** A kit that waits for its patient, wherever it is on its way. */
  isRegistrable(order: Order): boolean {
    return order.registrable && order.patientDetails === null && !isFinal(presentTop(order));
  }

  #newOrder(request: NewOrder): Order {
    const now = this.#lab.clock.now();
    const isKit = request.labTest.method === 'testkit';
    const { parent, origin } = request.follows ?? { parent: null, origin: 'initial' };
    return {
      id: newId(),
      labTest: request.labTest,
      transactionId: parent?.transactionId ?? newId(),
      origin,
      parentId: parent?.id ?? null,
      createdAt: now,
      updatedAt: now,
      detailsId: newId(),
      passthrough: request.passthrough ?? null,
      labAccountId: request.labAccountId ?? null,
      activateBy: request.activateBy ?? null,
      priority: request.priority ?? false,
      billingType: request.billingType ?? null,
      icdCodes: request.icdCodes ?? null,
      clinicalNotes: request.clinicalNotes ?? null,
      kitSampleId: isKit ? newKitSampleId() : null,
      registrable: isKit && (request.patientDetails ?? null) === null,
      userId: request.userId,
      events: [],
      sampleId: null,
      patientDetails: request.patientDetails ?? null,
      patientAddress: request.patientAddress ?? null,
      shippingDetails: request.shippingDetails ?? null,
      physician: request.physician ?? null,
      healthInsuranceId: request.healthInsuranceId ?? null,
      appointmentId: null,
      hasRequisition: false,
      shipment: null,
      interpretation: null,
      hasMissingResults: null,
      resultsAt: null,
    };
  }

  #append(order: Order, move: Move, eventType: OrderEventType = 'labtest.order.updated'): void {
    const now = this.#lab.clock.now();
    const status = fullStatus(order.labTest.method, move.status, presentTop(order));
    const event = {
      id: this.#lab.state.nextEventId(),
      createdAt: now,
      status,
      statusDetail: move.statusDetail ?? null,
    };
    order.events = [...order.events, event];
    order.updatedAt = now;
    this.#applyEffects(order, move, now);
    if (move.webhook !== false) this.#announce(eventType, order);
    if (presentTop(order) === 'cancelled') this.#lab.appointments.orderCancelled(order);
  }

  #announce(eventType: OrderEventType, order: Order): void {
    this.#lab.webhooks.announce(eventType, order);
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
    if (move.hasMissingResults !== undefined) order.hasMissingResults = move.hasMissingResults;
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
