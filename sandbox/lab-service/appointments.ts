import type { AppointmentAddress, BookingRequest } from './appointment-routes.js';
import type { Lab } from './lab.js';
import { presentLow } from './order-body.js';
import { refusal } from './problems.js';
import type { Slot } from './slots.js';
import { newId, type Order } from './state.js';

/** The webhook types of appointments. */
export type AppointmentEventType = 'labtest.appointment.created' | 'labtest.appointment.updated';

export interface Appointment {
  readonly id: string;
  readonly order: Order;
  readonly createdAt: number;
  readonly address: AppointmentAddress;
  readonly provider: string;
  readonly providerId: string;
  /** Null until a provider that was asked has named an hour. */
  slot: Slot | null;
  notes: string | null;
  canReschedule: boolean;
  /** The last one's status is the present one. */
  events: readonly { readonly at: number; readonly status: string }[];
}

/** How long a provider takes to answer. */
const CONFIRMED_AFTER = '30m';

/** The requested appointment, without its time. */
type Requested = Pick<Appointment, 'address' | 'provider'> & { readonly appointment_notes: string | null };

/** Statuses in which the appointment is still expected. */
const OPEN = ['pending', 'reserved', 'scheduled'];
/** Statuses of an order that can have an appointment made. */
const BOOKABLE = [
  ...['ordered', 'requisition_created', 'requisition_bypassed'],
  ...['appointment_pending', 'appointment_cancelled'],
];

/** The order's status by the appointment's; other statuses do not change the order. */
const ORDER_STATUS: Readonly<Record<string, string>> = {
  pending: 'appointment_pending',
  reserved: 'appointment_pending',
  scheduled: 'appointment_scheduled',
  completed: 'draw_completed',
  cancelled: 'appointment_cancelled',
};

export function presentStatus(appointment: Appointment): string {
  return appointment.events.at(-1)?.status ?? 'pending';
}

/**
 * Appointments for a blood draw at home, and what they do to their orders. Where nothing is documented, the words of a
 * refusal and its status are assumed.
 */
export class Appointments {
  /** The latest of each order, by order id. */
  readonly #byOrder = new Map<string, Appointment>();
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  all(): Appointment[] {
    return [...this.#byOrder.values()];
  }

  of(order: Order): Appointment | undefined {
    return this.#byOrder.get(order.id);
  }

  /** Takes the hour of a key; confirmed at once, or later where the caller does not wait. */
  book(order: Order, request: BookingRequest, address: AppointmentAddress): Appointment {
    this.#requireBookable(order);
    const slot = this.#lab.slots.take(request.booking_key);
    const { appointmentConfirmation } = this.#lab.settings;
    if (request.async_confirmation !== true && appointmentConfirmation !== 'confirm') throw this.#lab.slots.conflict();
    const { appointment_notes } = request;
    const appointment = this.#create(order, { address, provider: 'invented_draws', appointment_notes }, slot);
    if (request.async_confirmation !== true) this.move(appointment, 'scheduled');
    else this.#confirmLater(appointment, request.async_confirmation_timeout_millisecond);
    return appointment;
  }

  /** Asks a provider, who proposes a time later. */
  request(order: Order, requested: Requested): Appointment {
    this.#requireBookable(order);
    const appointment = this.#create(order, requested, null);
    this.#confirmLater(appointment, null);
    return appointment;
  }

  reschedule(order: Order, request: Pick<BookingRequest, 'booking_key' | 'appointment_notes'>): Appointment {
    const appointment = this.#requireOpen(order, 'rescheduled');
    if (!appointment.canReschedule) throw refusal(400, 'This appointment cannot be rescheduled.');
    const slot = this.#lab.slots.take(request.booking_key);
    this.#leaveSlot(appointment);
    appointment.slot = slot;
    appointment.notes = request.appointment_notes ?? appointment.notes;
    this.move(appointment, 'scheduled');
    return appointment;
  }

  cancel(order: Order): Appointment {
    const appointment = this.#requireOpen(order, 'cancelled');
    this.move(appointment, 'cancelled');
    return appointment;
  }

  /** Cancels the appointment of a cancelled order; the order's own status stays. */
  orderCancelled(order: Order): void {
    const appointment = this.of(order);
    if (appointment === undefined || !OPEN.includes(presentStatus(appointment))) return;
    this.#append(appointment, 'cancelled', 'labtest.appointment.updated');
    this.#leaveSlot(appointment);
  }

  /** Gives an appointment any status, even an impossible one. */
  move(appointment: Appointment, status: string, { webhook = true } = {}): void {
    this.#append(appointment, status, 'labtest.appointment.updated', webhook);
    if (status === 'cancelled') this.#leaveSlot(appointment);
    this.#moveOrder(appointment, webhook);
  }

  #create(order: Order, { address, provider, appointment_notes }: Requested, slot: Slot | null): Appointment {
    const appointment: Appointment = {
      address,
      provider,
      notes: appointment_notes,
      id: newId(),
      order,
      createdAt: this.#lab.clock.now(),
      providerId: newId(),
      slot,
      canReschedule: this.#lab.settings.appointmentsReschedulable,
      events: [],
    };
    this.#byOrder.set(order.id, appointment);
    order.appointmentId = appointment.id;
    this.#append(appointment, 'pending', 'labtest.appointment.created');
    if (presentLow(order) !== 'appointment_pending') this.#moveOrder(appointment, true);
    return appointment;
  }

  /** The provider answers later: yes, no, or not before the booking lapses. */
  #confirmLater(appointment: Appointment, lapsesAfterMs: number | null): void {
    const { appointmentConfirmation } = this.#lab.settings;
    const isSilent = appointmentConfirmation === 'never';
    if (isSilent && lapsesAfterMs === null) return;
    const after = isSilent ? (lapsesAfterMs ?? 0) : CONFIRMED_AFTER;
    this.#lab.clock.schedule(after, () => {
      if (this.of(appointment.order) !== appointment || presentStatus(appointment) !== 'pending') return;
      if (appointmentConfirmation !== 'confirm') return this.move(appointment, 'cancelled');
      appointment.slot ??= this.#lab.slots.next(appointment.address.zip_code);
      this.move(appointment, 'scheduled');
    });
  }

  #append(appointment: Appointment, status: string, eventType: AppointmentEventType, webhook = true): void {
    appointment.events = [...appointment.events, { at: this.#lab.clock.now(), status }];
    if (webhook) this.#lab.webhooks.announceAppointment(eventType, appointment);
  }

  #moveOrder({ order, ...appointment }: Appointment, webhook: boolean): void {
    const status = ORDER_STATUS[appointment.events.at(-1)?.status ?? ''];
    if (status !== undefined && this.#lab.orders.isOpen(order)) this.#lab.orders.move(order, { status, webhook });
  }

  #leaveSlot(appointment: Appointment): void {
    if (appointment.slot !== null) this.#lab.slots.free(appointment.slot);
  }

  #requireBookable(order: Order): void {
    if (order.labTest.method !== 'at_home_phlebotomy') throw refusal(400, 'The order is not drawn at home.');
    const present = this.of(order);
    if (present !== undefined && presentStatus(present) !== 'cancelled') {
      throw refusal(400, 'The order already has an appointment.');
    }
    if (!BOOKABLE.includes(presentLow(order))) throw refusal(400, 'The order is in no status to have an appointment.');
  }

  #requireOpen(order: Order, what: 'rescheduled' | 'cancelled'): Appointment {
    const appointment = this.of(order);
    if (appointment === undefined) throw refusal(404, 'Appointment not found');
    if (!OPEN.includes(presentStatus(appointment))) throw refusal(400, `This appointment cannot be ${what}.`);
    return appointment;
  }
}
