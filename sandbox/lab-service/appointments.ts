import type { AppointmentAddress, BookingRequest } from './appointment-routes.js';
import { Part } from './part.js';
import type { CollectionMethod } from './lifecycle.js';
import { presentLow, type Json } from './order-body.js';
import { refusal, ServiceProblem } from './validation.js';
import { inventedLab } from './seed.js';
import { centreWith, type Centre, inventedLocation, type Slot, slotZone, type DayOfSlots } from './slots.js';
import { newId, type Order } from './state.js';
import { calendarDate, timestamp } from './clock.js';

/** The webhook types of appointments. */
export type AppointmentEventType = 'labtest.appointment.created' | 'labtest.appointment.updated';

export interface Appointment {
  readonly id: string;
  readonly order: Order;
  address: AppointmentAddress;
  /** Null at home. */
  centre: Centre | null;
  /** The laboratory's own number, at a service centre. */
  readonly externalId: string | null;
  readonly provider: string;
  readonly providerId: string;
  /** Null until a provider that was asked has named an hour. */
  slot: Slot | null;
  notes: string | null;
  /** The last one's status is the present one. */
  events: readonly { readonly at: number; readonly status: string }[];
}

/** How long a provider takes to answer. */
const confirmedAfter = '30m';

/** The requested appointment, without its time. */
type Requested = Pick<Appointment, 'address' | 'provider'> & {
  readonly appointment_notes: string | null;
  readonly centre?: Centre;
};

/** Where an appointment is. */
type Place = 'home' | 'centre';

/** Statuses in which the appointment is still expected. */
const openStatuses = ['pending', 'reserved', 'scheduled'];
/** Statuses of an order that can have an appointment made. */
const bookableStatuses = [
  ...['ordered', 'requisition_created', 'requisition_bypassed'],
  ...['appointment_pending', 'appointment_cancelled'],
];

/** The order's status by the appointment's; other statuses do not change the order. */
const orderStatuses: Readonly<Record<string, string>> = {
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
 * Appointments for a blood draw, at home or at a service centre, and what they do to their orders. Where nothing is documented, the words of a
 * refusal and its status are assumed.
 */
export class Appointments extends Part {
  /** The latest of each order, by order id. */
  readonly #byOrder = new Map<string, Appointment>();

  of(order: Order): Appointment | undefined {
    return this.#byOrder.get(order.id);
  }

  /** Takes the hour of a key; confirmed at once, or later where the caller does not wait. */
  book(order: Order, request: BookingRequest, address: AppointmentAddress): Appointment {
    this.#requireBookable(order, 'at_home_phlebotomy');
    const slot = this.lab.slots.take(request.booking_key);
    const { appointmentConfirmation } = this.lab.settings;
    if (request.async_confirmation !== true && appointmentConfirmation !== 'confirm') throw this.lab.slots.conflict();
    const { appointment_notes } = request;
    const appointment = this.#create(order, { address, provider: 'invented_draws', appointment_notes }, slot);
    if (request.async_confirmation !== true) this.move(appointment, 'scheduled');
    else this.#confirmLater(appointment, request.async_confirmation_timeout_millisecond);
    return appointment;
  }

  /** The same at a service centre, where a booking that nobody answers in time is a 500. */
  bookAtCentre(order: Order, request: BookingRequest): Appointment {
    this.#requireBookable(order, 'walk_in_test');
    if (!order.hasRequisition) throw refusal(400, 'The order has no requisition.');
    const isLater = request.async_confirmation === true;
    if (!isLater && this.lab.settings.appointmentConfirmation !== 'confirm') throw unanswered();
    const { slot, ...at } = this.#takeAtCentre(request.booking_key);
    const { appointment_notes } = request;
    const appointment = this.#create(order, { ...at, provider: inventedLab.slug, appointment_notes }, slot);
    if (isLater) this.#confirmLater(appointment, request.async_confirmation_timeout_millisecond);
    else this.move(appointment, 'scheduled');
    return appointment;
  }

  /** One that was cancelled is not shown. */
  activeAtCentre(order: Order): Appointment | undefined {
    const appointment = this.of(order);
    return appointment?.centre == null || presentStatus(appointment) === 'cancelled' ? undefined : appointment;
  }

  /** Asks a provider, who proposes a time later. */
  request(order: Order, requested: Requested): Appointment {
    this.#requireBookable(order, 'at_home_phlebotomy');
    const appointment = this.#create(order, requested, null);
    this.#confirmLater(appointment, null);
    return appointment;
  }

  reschedule(
    order: Order,
    request: Pick<BookingRequest, 'booking_key' | 'appointment_notes'>,
    place: Place,
  ): Appointment {
    const appointment = this.#requireOpen(order, 'rescheduled', place);
    const { address, centre } = appointment;
    const { slot, ...at } =
      place === 'centre'
        ? this.#takeAtCentre(request.booking_key)
        : { slot: this.lab.slots.take(request.booking_key), address, centre };
    this.#leaveSlot(appointment);
    Object.assign(appointment, at);
    appointment.slot = slot;
    appointment.notes = request.appointment_notes ?? appointment.notes;
    this.move(appointment, 'scheduled');
    return appointment;
  }

  cancel(order: Order, place: Place): Appointment {
    const appointment = this.#requireOpen(order, 'cancelled', place);
    this.move(appointment, 'cancelled');
    return appointment;
  }

  /** Cancels the visit at home of a cancelled order; the order's own status stays. At a service centre nothing happens. */
  orderCancelled(order: Order): void {
    const appointment = this.of(order);
    if (appointment === undefined || appointment.centre !== null || !openStatuses.includes(presentStatus(appointment)))
      return;
    this.#append(appointment, 'cancelled', 'labtest.appointment.updated');
    this.#leaveSlot(appointment);
  }

  /** Gives an appointment any status, even an impossible one. */
  move(appointment: Appointment, status: string, { webhook = true } = {}): void {
    this.#append(appointment, status, 'labtest.appointment.updated', webhook);
    if (status === 'cancelled') this.#leaveSlot(appointment);
    this.#moveOrder(appointment, webhook);
  }

  #takeAtCentre(bookingKey: string): { slot: Slot; centre: Centre; address: AppointmentAddress } {
    const centre = centreWith(this.lab.slots.offeredAs(bookingKey)?.place ?? '');
    if (centre === undefined) throw refusal(400, 'Invalid booking key.');
    return { slot: this.lab.slots.take(bookingKey), centre, address: centre.address };
  }

  #create(order: Order, requested: Requested, slot: Slot | null): Appointment {
    const { address, provider, appointment_notes, centre = null } = requested;
    const appointment: Appointment = {
      address,
      centre,
      externalId: centre === null ? null : `L${String(this.#byOrder.size + 1).padStart(7, '0')}`,
      provider,
      notes: appointment_notes,
      id: newId(),
      order,
      providerId: newId(),
      slot,
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
    const { appointmentConfirmation } = this.lab.settings;
    const isSilent = appointmentConfirmation === 'never';
    if (isSilent && lapsesAfterMs === null) return;
    const after = isSilent ? (lapsesAfterMs ?? 0) : confirmedAfter;
    this.lab.clock.schedule(after, () => {
      if (this.of(appointment.order) !== appointment || presentStatus(appointment) !== 'pending') return;
      if (appointmentConfirmation !== 'confirm') return this.move(appointment, 'cancelled');
      appointment.slot ??= this.lab.slots.next(appointment.address.zip_code);
      this.move(appointment, 'scheduled');
    });
  }

  #append(appointment: Appointment, status: string, eventType: AppointmentEventType, webhook = true): void {
    appointment.events = [...appointment.events, { at: this.lab.clock.now(), status }];
    if (webhook) this.lab.webhooks.announceAppointment(eventType, appointment);
  }

  #moveOrder({ order, ...appointment }: Appointment, webhook: boolean): void {
    const status = orderStatuses[appointment.events.at(-1)?.status ?? ''];
    // At a service centre nobody reports the draw.
    if (appointment.centre !== null && status === 'draw_completed') return;
    if (status !== undefined && this.lab.orders.isOpen(order)) this.lab.orders.move(order, { status, webhook });
  }

  #leaveSlot(appointment: Appointment): void {
    if (appointment.slot !== null) this.lab.slots.free(appointment.slot);
  }

  #requireBookable(order: Order, method: CollectionMethod): void {
    if (order.labTest.method !== method) throw refusal(400, `The order is not collected by ${method}.`);
    const present = this.of(order);
    if (present !== undefined && presentStatus(present) !== 'cancelled') {
      throw refusal(400, 'The order already has an appointment.');
    }
    if (!bookableStatuses.includes(presentLow(order)))
      throw refusal(400, 'The order is in no status to have an appointment.');
  }

  #requireOpen(order: Order, what: 'rescheduled' | 'cancelled', place: Place): Appointment {
    const appointment = this.of(order);
    if (appointment === undefined || (appointment.centre !== null) !== (place === 'centre'))
      throw refusal(404, 'Appointment not found');
    if (!openStatuses.includes(presentStatus(appointment))) throw refusal(400, `This appointment cannot be ${what}.`);
    return appointment;
  }
}

function unanswered(): ServiceProblem {
  return new ServiceProblem(500, { detail: 'The laboratory did not confirm the appointment in time.' });
}

/** Appointments and slots as the service writes them. */

/** Of the eight states of an appointment one has two names. */
const statusNames: Readonly<Record<string, string>> = { scheduled: 'confirmed' };

export function appointmentBody(appointment: Appointment) {
  const { order, slot } = appointment;
  const eventStatus = presentStatus(appointment);
  // The documentation shows these two without a zone, in UTC.
  const bare = (time: number | undefined): string | null =>
    time === undefined ? null : timestamp(time).replace('+00:00', '');
  return {
    id: appointment.id,
    user_id: order.userId,
    order_id: order.id,
    order_transaction_id: order.transactionId,
    address: appointment.address,
    location: inventedLocation,
    start_at: bare(slot?.start),
    end_at: bare(slot?.end),
    iana_timezone: slotZone,
    type: appointment.centre === null ? 'phlebotomy' : 'patient_service_center',
    provider: appointment.provider,
    status: statusNames[eventStatus] ?? eventStatus,
    provider_id: appointment.providerId,
    external_id: appointment.externalId,
    can_reschedule: true,
    appointment_notes: appointment.notes,
    event_status: eventStatus,
    event_data: null,
    events: appointment.events.map(({ at, status }) => ({
      created_at: timestamp(at),
      status,
      data: null,
    })),
  };
}

export function availabilityBody(days: readonly DayOfSlots[]): Json {
  return { slots: daysBody(days), timezone: slotZone };
}

/** Days at a service centre have its location, and their slots no price. */
export function daysBody(days: readonly (DayOfSlots & { readonly location?: Json })[]): Json[] {
  return days.map(({ day, slots, location = null }) => ({
    location,
    date: calendarDate(day),
    slots: slots.map(({ bookingKey, start, end, expiresAt, isPriority }) => ({
      booking_key: bookingKey,
      start: timestamp(start),
      end: timestamp(end),
      expires_at: timestamp(expiresAt),
      price: location === null ? (isPriority ? 79 : 49) : 0,
      is_priority: isPriority && location === null,
      num_appointments_available: 1,
    })),
  }));
}
