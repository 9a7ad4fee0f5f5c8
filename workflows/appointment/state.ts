import type { AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import { canonicalJson } from '../canonical-json.js';

/**
 * The fold: the order's present appointment, as far as it was reported. A webhook may be late, repeated or out of order,
 * or be about an older appointment; it carries all events of its appointment, of which there are only ever more. A read
 * is the appointment as it is now. No clock here, and no workflow.
 */
export type Heard =
  /** It takes the place of what was known. */
  | 'newer'
  /** Known already, or older. */
  | 'nothing'
  /** Nothing in the two tells which is the later one: the service has to be asked. */
  | 'unclear';

/** What a webhook's snapshot is beside the one that is known. */
export function compareHeard(known: AppointmentSnapshot | undefined, heard: AppointmentSnapshot): Heard {
  if (!known) return 'newer';
  return known.appointmentId === heard.appointmentId ? compareSame(known, heard) : compareOther(known, heard);
}

/** Of one appointment: the one with more events is the later one. */
function compareSame(known: AppointmentSnapshot, heard: AppointmentSnapshot): Heard {
  if (canonicalJson(said(known)) === canonicalJson(said(heard))) return 'nothing';
  const more = heard.events.length - known.events.length || latest(heard) - latest(known);
  if (more !== 0 && heard.events.length > 0 && known.events.length > 0) return more > 0 ? 'newer' : 'nothing';
  return 'unclear';
}

/** An order has one appointment at a time: the one that began later is the present one. */
function compareOther(known: AppointmentSnapshot, heard: AppointmentSnapshot): Heard {
  const later = began(heard) - began(known);
  if (Number.isNaN(later) || later === 0) return 'unclear';
  return later > 0 ? 'newer' : 'nothing';
}

/** Whose it is changes nothing: an envelope may leave that out. */
export function said({ userId: _userId, orderId: _orderId, ...rest }: AppointmentSnapshot): object {
  return rest;
}

function latest({ events }: AppointmentSnapshot): number {
  return Math.max(...events.map(({ at }) => Date.parse(at)));
}

function began({ events }: AppointmentSnapshot): number {
  return events.length === 0 ? Number.NaN : Math.min(...events.map(({ at }) => Date.parse(at)));
}
