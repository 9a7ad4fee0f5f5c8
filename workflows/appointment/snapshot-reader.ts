import type { AppointmentEvent, AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import { readTime } from '../order/snapshot-reader.js';

/**
 * Reads a snapshot that came by signal, perhaps from a backend in another language: known fields of their types are
 * taken, everything else is left behind. What has no appointment id is no snapshot. Never throws.
 */
export function readAppointmentSnapshot(value: unknown): AppointmentSnapshot | undefined {
  if (!isObject(value)) return undefined;
  const { appointmentId, canReschedule } = value;
  if (typeof appointmentId !== 'string' || appointmentId === '') return undefined;
  const listed: unknown[] = Array.isArray(value['events']) ? value['events'] : [];
  return {
    appointmentId,
    ...textsOf(value),
    ...timeOf(value, 'startAt'),
    ...timeOf(value, 'endAt'),
    ...(typeof canReschedule === 'boolean' && { canReschedule }),
    events: listed.flatMap((event) => eventOf(event) ?? []),
  };
}

const texts = ['orderId', 'userId', 'status', 'type', 'provider'] as const;

function textsOf(value: Record<string, unknown>): { [N in (typeof texts)[number]]?: string } {
  const found: { [N in (typeof texts)[number]]?: string } = {};
  for (const name of texts) {
    const text = value[name];
    if (typeof text === 'string') found[name] = name === 'status' ? oneName(text) : text;
  }
  return found;
}

function timeOf<Name extends 'startAt' | 'endAt'>(
  value: Record<string, unknown>,
  name: Name,
): { [N in Name]?: string } {
  const time = readTime(value[name]);
  return time === undefined ? {} : ({ [name]: time } as { [N in Name]?: string });
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
