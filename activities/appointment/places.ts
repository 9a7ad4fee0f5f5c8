import { ApplicationFailure } from '@temporalio/activity';
import { appointmentSnapshotOf, type AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import type {
  Appointment,
  AppointmentAddress,
  CancellationReason,
  BookingRequest,
  RescheduleRequest,
} from '../../service/appointment/appointments.js';
import type { CallOptions } from '../../service/http/calls.js';
import type { LabService } from '../../service/lab-service.js';
import type { Order } from '../../service/order/orders.js';
import type { WalkInBookingOptions } from '../../service/appointment/walk-ins.js';
import { walkInType } from '../../protocol/appointment/lifecycle.js';
import { slotOf } from '../../protocol/appointment/slots.js';

/** The places where blood is drawn. The service has the same calls for both, under different paths and with different bodies. */
export type Place = 'home' | 'centre';

/** The collection method of an order decides; for an unknown one it is at home. */
export function placeOf({ method }: { method?: string }): Place {
  return method === 'walk_in_test' ? 'centre' : 'home';
}

/** The place of a known appointment; `undefined` for a type that is not known yet. */
export function placeOfType(type: string | undefined): Place | undefined {
  if (type === walkInType) return 'centre';
  return type === 'phlebotomy' ? 'home' : undefined;
}

/** A slot at a service centre names it. */
export function placeOfSlot(slotId: string): Place {
  return slotOf(slotId)?.site === undefined ? 'home' : 'centre';
}

interface PlaceCalls {
  get(orderId: string, options?: CallOptions): Promise<Appointment>;
  /** The idempotency key works at a service centre only. */
  book(orderId: string, request: BookingRequest, options: WalkInBookingOptions): Promise<Appointment>;
  reschedule(orderId: string, request: RescheduleRequest, options: CallOptions): Promise<Appointment>;
  cancel(
    orderId: string,
    cancellation: { reasonId: string; notes?: string },
    options: CallOptions,
  ): Promise<Appointment>;
  cancellationReasons(options: CallOptions): Promise<CancellationReason[]>;
}

export function callsAt(place: Place, { appointments, walkIns }: LabService): PlaceCalls {
  if (place === 'centre') {
    return {
      ...walkIns,
      cancel: (orderId, { reasonId, notes }, options) =>
        walkIns.cancel(
          orderId,
          { cancellationReasonId: reasonId, ...(notes !== undefined && { note: notes }) },
          options,
        ),
    };
  }
  return {
    ...appointments,
    book: (orderId, request, { idempotencyKey: _idempotencyKey, ...options }) =>
      appointments.book(orderId, request, options),
    cancel: (orderId, { reasonId, notes }, options) =>
      appointments.cancel(
        orderId,
        { cancellation_reason_id: reasonId, ...(notes !== undefined && { notes }) },
        options,
      ),
  };
}

/** The snapshot of an appointment as a service centre's calls answer with it, even if it lacks its type. */
export function snapshotAt(place: Place, appointment: Appointment): AppointmentSnapshot {
  return appointmentSnapshotOf(place === 'centre' ? { ...appointment, type: walkInType } : appointment);
}

/** A visit is at the order's own address, which is read when it is needed and not stored. */
export function addressOf(order: Order): AppointmentAddress {
  const { patient_address: home } = order;
  if (home == null) {
    const message = 'is not shown by the order; an appointment needs it';
    throw ApplicationFailure.nonRetryable(`patient_address ${message}`, 'AddressMissing', {
      fields: [{ field: 'patient_address', message }],
    });
  }
  return {
    first_line: home.first_line ?? '',
    ...(home.second_line != null && home.second_line !== '' && { second_line: home.second_line }),
    city: home.city ?? '',
    state: home.state ?? '',
    zip_code: home.zip ?? '',
    ...(home.access_notes != null && home.access_notes !== '' && { access_notes: home.access_notes }),
  };
}
