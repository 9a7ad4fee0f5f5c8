import { announceFall, announceNews, clear, raise } from './announcements.js';
import { isOpenWalkIn, isReserved, type Appointment } from './appointment.js';

/** Brings everything in line with what is known now: questions and announcements. */
export function bringInLine(appointment: Appointment): void {
  const now = Date.now();
  const { phase } = appointment.stage;
  const isOpen = appointment.ending === undefined;
  if (!isOpen || phase !== 'awaiting_confirmation' || isReserved(appointment))
    clear(appointment, ['confirmation_overdue'], now);
  if (!isOpen || appointment.met.every((key) => !isOfStage(appointment, key)))
    clear(appointment, ['visit_overdue'], now);
  if (isOpen && appointment.order === 'cancelled' && isOpenWalkIn(appointment))
    raise(appointment, 'order_cancelled', now);
  else clear(appointment, ['order_cancelled'], now);
  appointment.met = appointment.met.filter((key) => isOfStage(appointment, key));
  announceNews(appointment, now);
  // Why it fell away is asked of the order first.
  if (appointment.ending !== undefined) delete appointment.fallen;
  else if (appointment.fallen?.asked) announceFall(appointment, now);
}

/** Keys of deadlines begin with the stage that they belong to. */
function isOfStage({ stage }: Appointment, key: string): boolean {
  return key.startsWith(`${stage.phase}/${stage.startAt ?? ''}/${stage.since}/`);
}
