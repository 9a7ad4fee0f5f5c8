import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import { FeatureNotEnabled, NotFound, Unauthorized } from '../../service/errors.js';
import type { CallOptions } from '../../service/http/calls.js';
import type { LabService } from '../../service/lab-service.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { orderEffect, type OrderEffect } from '../../protocol/appointment/lifecycle.js';
import { readStatus, standingOf } from '../../protocol/order/lifecycle.js';
import { callsAt, placeOf, placeOfType, snapshotAt, type Place } from './places.js';
import { readIfKnown } from '../order/orders.js';

/** The appointment and its order as they are now. */
export interface AppointmentReading {
  /** Absent if the order has none. */
  appointment?: AppointmentSnapshot;
  /** The service does not let the team read appointments at service centres: only webhooks report them. */
  isHidden?: true;
  /** `gone` if the service answers that it does not know the order; the read may have been too early. */
  order: OrderEffect | 'gone';
  /** The order's user. */
  userId?: string;
}

/** @param type the known appointment's: it shows the place even if the order leaves out its method */
export async function readWithOrder(service: LabService, orderId: string, type?: string): Promise<AppointmentReading> {
  const snapshot = await readIfKnown(service, orderId);
  if (!snapshot) return { order: 'gone' };
  const appointment = await presentUnlessHidden(service, orderId, placeOfType(type) ?? placeOf(snapshot));
  const { userId } = snapshot;
  return {
    ...(appointment === 'hidden' ? { isHidden: true } : appointment && { appointment }),
    order: effectOn(snapshot),
    ...(userId !== undefined && { userId }),
  };
}

/** Booking at service centres is a feature of its own; a team without it may book elsewhere. */
async function presentUnlessHidden(
  service: LabService,
  orderId: string,
  place: Place,
): Promise<AppointmentSnapshot | 'hidden' | undefined> {
  try {
    return await presentAppointment(service, orderId, place);
  } catch (error) {
    if (place === 'centre' && isClosed(error)) return 'hidden';
    throw error;
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof FeatureNotEnabled || (error instanceof Unauthorized && error.status === 403);
}

/** The meaning of an order's state for its appointment. */
function effectOn({ events, status, method }: OrderSnapshot): OrderEffect {
  const { phase, last } = standingOf(events, status);
  return orderEffect(phase, readStatus(last?.status ?? '').low, method);
}

/** The order's current appointment, if any. */
export async function presentAppointment(
  service: LabService,
  orderId: string,
  place: Place,
  options: CallOptions = {},
): Promise<AppointmentSnapshot | undefined> {
  try {
    return snapshotAt(place, await callsAt(place, service).get(orderId, options));
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
