import type { BookSlot, RequestAppointment, RescheduleAppointment } from '../../activities/appointment/booking.js';
import { isOpen, visitPhaseOf, walkInType, type OrderEffect } from '../../protocol/appointment/lifecycle.js';
import { slotIdOf, slotOf } from '../../protocol/appointment/slots.js';
import { settlingAfter } from '../../protocol/settling.js';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import { fails, noAnswer, type Left, type Choose } from './model.js';
import type { ActivityCall, Answer } from './run.js';

/* The lab service as the model of an appointment sees it, and what its activities make of that. */

export const orderId = '00000000-0000-4000-8000-00000000000a';

export interface AppointmentWorld {
  place: 'home' | 'centre';
  /** The order's appointments, of which the last one is the present one. */
  appointments: AppointmentSnapshot[];
  order: OrderEffect | 'gone';
  /** A booking or a move without an answer, which the service carries out at the latest moment. */
  late?: { call: Arrangement; at: number };
  /** Until when the last booking or move without an answer may be under way, and whether the service was read after that. */
  doubt?: { until: number; isRead: boolean };
  /** A choice at a service centre that nobody knows the outcome of. */
  unsettled?: { slotId: string; key: string };
  /** The choice that each key was sent with, and the appointment that it has led to. */
  keys: Record<string, { slotId: string; appointmentId: string }>;
  /** The claims that a call has broken, in words. */
  broken: string[];
  left: Left;
}

type Arrangement =
  | { name: 'bookSlot'; argument: BookSlot }
  | { name: 'requestAppointment'; argument: RequestAppointment }
  | { name: 'rescheduleAppointment'; argument: RescheduleAppointment };

const day = 86_400_000;

/** A slot so many days after the next midnight: the same one for everything that happens on one day. */
export function slotAt(place: AppointmentWorld['place'], days: number, now: number): string {
  const start = Math.ceil(now / day) * day + days * day;
  const [from, to] = [start, start + day / 24].map((at) => new Date(at).toISOString());
  const name = { day: String(from).slice(0, 10), start: String(from), end: String(to) };
  return slotIdOf({ ...name, ...(place === 'centre' && { site: 'SITE1' }) });
}

export function presentIn({ appointments }: AppointmentWorld): AppointmentSnapshot | undefined {
  return appointments.at(-1);
}

/** A service centre shows only what is open. */
function shownIn(world: AppointmentWorld): AppointmentSnapshot | undefined {
  const present = presentIn(world);
  return present && (world.place === 'home' || isOpen(present)) ? present : undefined;
}

export function addAppointment(world: AppointmentWorld, status: string, slotId: string | undefined, now: number): void {
  const { start, end } = slotOf(slotId) ?? {};
  world.appointments.push({
    appointmentId: `appointment-${world.appointments.length + 1}`,
    orderId,
    status,
    type: world.place === 'home' ? 'phlebotomy' : walkInType,
    provider: 'provider-1',
    ...(start !== undefined && { startAt: start }),
    ...(end !== undefined && { endAt: end }),
    events: [{ at: new Date(now).toISOString(), status }],
  });
}

export function setStatus(world: AppointmentWorld, status: string, now: number): void {
  const present = presentIn(world);
  if (!present) return;
  present.status = status;
  present.events.push({ at: new Date(now).toISOString(), status });
}

export function move(world: AppointmentWorld, slotId: string, now: number): void {
  const { start, end } = slotOf(slotId) ?? {};
  Object.assign(presentIn(world) ?? {}, { startAt: start, endAt: end });
  setStatus(world, 'confirmed', now);
}

/** The service answers, fails to, loses the answer to a command, or does not show what is there. */
export function answer(
  world: AppointmentWorld,
  call: ActivityCall,
  choose: Choose,
  { now, previous }: { now: number; previous?: unknown },
): Answer {
  if (world.late && now >= world.late.at) {
    const { call: late } = world.late;
    delete world.late;
    arrange(world, late, now);
  }
  switch (call.name) {
    case 'identifyAppointment': {
      const reading = fails(world, choose) ? undefined : readingOf(world, choose, now);
      return { value: { notifies: true, ...(previous !== undefined && { previous }), ...(reading && { reading }) } };
    }
    case 'readAppointment':
      return fails(world, choose) ? noAnswer : { value: readingOf(world, choose, now) };
    case 'bookSlot':
    case 'requestAppointment':
    case 'rescheduleAppointment':
      return take(world, call as Arrangement, choose, now);
    case 'cancelAppointment':
      return cancel(world, call.argument, choose, now);
    default:
      return { value: { slots: [] } };
  }
}

function readingOf(world: AppointmentWorld, choose: Choose, now: number) {
  const isMistaken = fails(world, choose);
  if (world.order === 'gone' || (isMistaken && choose(2) === 0)) return { order: 'gone' };
  if (world.doubt && now >= world.doubt.until) world.doubt.isRead = true;
  const shown = isMistaken ? undefined : shownIn(world);
  if (shown) delete world.unsettled;
  return { ...(shown && { appointment: structuredClone(shown) }), order: world.order };
}

function take(world: AppointmentWorld, call: Arrangement, choose: Choose, now: number): Answer {
  const { doubt } = world;
  if (doubt && (now < doubt.until || !doubt.isRead)) {
    world.broken.push(`${call.name} is sent while it is not known what came of the one before`);
  }
  delete world.doubt;
  checkKey(world, call);
  if (!fails(world, choose)) return arrange(world, call, now);
  const fate = choose(4);
  if (fate === 3) return { failure: { type: 'SlotUnavailable' } };
  const until = now + settlingAfter(call.argument.bookingTimeout);
  world.doubt = { until, isRead: false };
  if (call.name === 'bookSlot' && call.argument.idempotencyKey !== undefined) {
    world.unsettled = { slotId: call.argument.slotId, key: call.argument.idempotencyKey };
  }
  if (fate === 1) arrange(world, call, now);
  if (fate === 2) world.late = { call, at: until };
  return noAnswer;
}

/** One key for one choice; and one choice keeps its key until it is known what came of it. */
function checkKey(world: AppointmentWorld, { name, argument }: Arrangement): void {
  if (name !== 'bookSlot' || argument.idempotencyKey === undefined) return;
  const { slotId, idempotencyKey: key } = argument;
  const isSame = world.unsettled?.slotId === slotId;
  if (isSame && world.unsettled?.key !== key) world.broken.push('a choice is sent again under another key');
  if (!isSame && world.unsettled?.key === key) world.broken.push('another choice is sent under the same key');
  if (world.keys[key]) world.broken.push('a key is sent again after its outcome was answered');
  delete world.unsettled;
}

/** As the activities do it: each reads first. */
function arrange(world: AppointmentWorld, { name, argument }: Arrangement, now: number): Answer {
  const found = shownIn(world);
  const open = found && isOpen(found) ? found : undefined;
  const { start } = 'slotId' in argument ? (slotOf(argument.slotId) ?? {}) : {};
  if (name === 'rescheduleAppointment') {
    if (open && open.startAt === start) return { value: structuredClone(open) };
    if (open?.appointmentId !== argument.appointmentId) return { failure: { type: 'NothingBooked' } };
    move(world, argument.slotId, now);
    return { value: structuredClone(presentIn(world)) };
  }
  const isSame = name === 'bookSlot' ? open?.startAt === start : open?.provider === argument.provider;
  if (open) return isSame ? { value: structuredClone(open) } : { failure: { type: 'AppointmentExists' } };
  if (world.order !== 'open') return { failure: { type: 'BookingRefused' } };
  const isLater = name === 'requestAppointment' || argument.confirmWithin !== undefined;
  const slotId = name === 'bookSlot' ? argument.slotId : undefined;
  addAppointment(world, isLater ? 'pending' : 'confirmed', slotId, now);
  return { value: structuredClone(presentIn(world)) };
}

function cancel(
  world: AppointmentWorld,
  { appointmentId }: { appointmentId: string },
  choose: Choose,
  now: number,
): Answer {
  if (now < (world.doubt?.until ?? 0)) world.broken.push('it is cancelled while a booking may be under way');
  const isLost = fails(world, choose);
  const fate = isLost ? choose(3) : 1;
  if (fate === 2) return { failure: { type: 'CancellationRefused' } };
  const standing = shownIn(world);
  if (standing?.appointmentId !== appointmentId) return isLost ? noAnswer : { value: null };
  if (isOpen(standing) && fate === 1) setStatus(world, 'cancelled', now);
  return isLost ? noAnswer : { value: structuredClone(standing) };
}

/** For the claims: nobody comes any more, as far as the service shows it. A service centre does not show how a visit went. */
export function nobodyComes(world: AppointmentWorld, now: number): boolean {
  return world.appointments.every((each) => {
    const isAhead = !(Date.parse(each.startAt ?? '') <= now);
    return visitPhaseOf(each) === 'cancelled' || (world.place === 'centre' && isAhead && !isOpen(each));
  });
}
