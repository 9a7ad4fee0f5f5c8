import type { AppointmentEvent, AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import { isObject, readTime, textsOf, timesOf } from '../signal-fields.js';

/**
 * Reads a snapshot that came by signal, perhaps from a backend in another language: known fields of their types are
 * taken, everything else is left behind. What has no appointment id is no snapshot. Never throws.
 */
export function readAppointmentSnapshot(value: unknown): AppointmentSnapshot | undefined {
  if (!isObject(value)) return undefined;
  const { appointmentId, canReschedule } = value;
  if (typeof appointmentId !== 'string' || appointmentId === '') return undefined;
  const texts = textsOf(value, ['orderId', 'userId', 'status', 'type', 'provider']);
  const listed: unknown[] = Array.isArray(value['events']) ? value['events'] : [];
  return {
    appointmentId,
    ...texts,
    ...(texts.status !== undefined && { status: oneName(texts.status) }),
    ...timesOf(value, ['startAt', 'endAt']),
    ...(typeof canReschedule === 'boolean' && { canReschedule }),
    events: listed.flatMap((event) => eventOf(event) ?? []),
  };
}

function eventOf(value: unknown): AppointmentEvent | undefined {
  if (!isObject(value)) return undefined;
  const at = readTime(value['at']);
  const status = value['status'];
  return at === undefined || typeof status !== 'string' ? undefined : { at, status: oneName(status) };
}

/** The service has two names for one status. */
function oneName(status: string): string {
  return status === 'scheduled' ? 'confirmed' : status;
}
