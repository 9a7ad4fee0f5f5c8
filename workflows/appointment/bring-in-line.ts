import { announceFall, announceNews, clear, raise } from './announcements.js';
import { isOfStage, stands, type Appointment } from './appointment.js';

/** Brings everything in line with what is known now: questions and announcements. */
export function bringInLine(appointment: Appointment): void {
  const now = Date.now();
  clear(appointment, ({ reason }) => !stands(appointment, reason), now);
  if (stands(appointment, 'order_cancelled')) raise(appointment, 'order_cancelled', now);
  appointment.met = appointment.met.filter((key) => isOfStage(appointment, key));
  announceNews(appointment, now);
  // Why it fell away is asked of the order first.
  if (appointment.ending !== undefined) delete appointment.fallen;
  else if (appointment.fallen?.asked) announceFall(appointment, now);
}
