import type { Appointment } from './appointments.js';
import { utcInstant } from '../timestamps.js';
import { lowerWordOf, wordOf } from '../word.js';
import { omitNullish } from '../json-object.js';

/**
 * The state of an appointment at one moment: ids, statuses and times. The address and its coordinates, the visitor and
 * all notes stay in the service (a service centre is known by its site code), so this may enter a workflow's history. Timestamps are ISO 8601 in UTC; one that the
 * service sent without a zone has been read as UTC (docs/internals/lab-service.md).
 */
export interface AppointmentSnapshot {
  appointmentId: string;
  orderId?: string;
  userId?: string;
  /**
   * Also `confirmed` if only `event_status` was `scheduled`; an unknown status in lower case, `other` if it is a
   * sentence.
   */
  status?: string;
  /** `phlebotomy`, `patient_service_center`, or one not known yet. */
  type?: string;
  /** A slug of the company that comes. */
  provider?: string;
  startAt?: string;
  endAt?: string;
  /** IANA name of the zone in which the person reads a clock; one that is not known here is left out. */
  timezone?: string;
  canReschedule?: boolean;
  /** At a service centre: the laboratory's own number. */
  externalId?: string;
  /** The earliest first. */
  events: AppointmentEvent[];
}

export interface AppointmentEvent {
  at: string;
  /** Like `AppointmentSnapshot.status`. */
  status: string;
}

/** Projects a whole appointment to its snapshot. Pure; never throws on one that `appointmentSchema` accepts. */
export function appointmentSnapshotOf(appointment: Appointment): AppointmentSnapshot {
  const { event_status: eventStatus, status, can_reschedule: canReschedule } = appointment;
  const events = eventsOf(appointment);
  const known = [status, eventStatus, events.at(-1)?.status].find((each) => each != null && each !== '');
  const type = appointment.type == null ? undefined : lowerWordOf(appointment.type);
  return omitNullish({
    appointmentId: appointment.id,
    orderId: appointment.order_id,
    userId: appointment.user_id,
    status: known == null ? undefined : statusOf(known),
    type,
    provider: appointment.provider == null ? undefined : wordOf(appointment.provider),
    startAt: utcInstant(appointment.start_at),
    endAt: utcInstant(appointment.end_at),
    timezone: isTimezone(appointment.iana_timezone) ? appointment.iana_timezone : undefined,
    canReschedule,
    externalId: type === 'patient_service_center' ? numberOf(appointment) : undefined,
    events,
  });
}

/** Anything longer, with a word in it or with another character is not a number to be shown at a counter: it may be a name or an address. */
function numberOf({ external_id: id }: Appointment): string | undefined {
  return id != null && /^[\w #./:-]{1,64}$/.test(id) && /\d/.test(id) && !/[a-z]{4}/i.test(id) ? id : undefined;
}

function isTimezone(name: string | null | undefined): name is string {
  // An offset such as `+01:00` is no name: it does not know of the clock's change.
  if (name == null || !/^[A-Z]/i.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The earliest first: the service does not say in which order it lists them. */
function eventsOf({ events }: Appointment): AppointmentEvent[] {
  const dated = (events ?? []).flatMap(({ created_at: createdAt, status }) => {
    const at = utcInstant(createdAt);
    return at === undefined || status == null ? [] : [{ at, status: statusOf(status) }];
  });
  return dated.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** One status has two names. */
function statusOf(status: string): string {
  const word = lowerWordOf(status);
  return word === 'scheduled' ? 'confirmed' : word;
}
