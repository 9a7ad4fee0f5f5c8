import { activityInfo, ApplicationFailure, heartbeat, sleep } from '@temporalio/activity';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import type { Appointment } from '../../service/appointment/appointments.js';
import * as errors from '../../service/errors.js';
import type { CallOptions } from '../../service/http/calls.js';
import type { LabService } from '../../service/lab-service.js';
import { snapshotOf } from '../../service/order/projection.js';
import { slotOf } from '../../protocol/appointment/slots.js';
import { isOpen, visitPhaseOf, walkInType } from '../../protocol/appointment/lifecycle.js';
import { addressOf, callsAt, placeOf, placeOfSlot, snapshotAt, type Place } from './places.js';
import { bookingKeyFor } from './slots.js';
import { presentAppointment } from './reading.js';
import { startAttempt, type Attempt } from '../attempt.js';
import type { ActivityDependencies } from '../dependencies.js';
import { readForCommand } from '../order/orders.js';

/*
 * Books, requests, moves and cancels an appointment, at home or at a service centre. Each reads before it acts, and again if the answer was
 * lost: none of the calls is idempotent, except a booking at a service centre, which has a key as well.
 */

interface Booking {
  orderId: string;
  notes?: string;
  /** Milliseconds that one call may take. */
  bookingTimeout: number;
}

interface NewBooking extends Booking {
  /** The appointment that was cancelled here before: a read that is older than that still shows it. */
  cancelledId?: string;
}

export interface BookSlot extends NewBooking {
  slotId: string;
  /** Milliseconds that the provider has to confirm; without it the booking waits for the provider's answer. */
  confirmWithin?: number;
  /** At a service centre: the same for every attempt at the same booking, so there is one. */
  idempotencyKey?: string;
  /** The key was sent before, so the answer may be the one from then. */
  isRepeated?: true;
}

export interface RequestAppointment extends NewBooking {
  provider: string;
}

export interface RescheduleAppointment extends Booking {
  /** Another appointment is not moved. */
  appointmentId: string;
  slotId: string;
}

type Creating = Pick<ActivityDependencies, 'service' | 'requireNotStopped'>;

export async function bookOnce(
  { service, requireNotStopped }: Creating,
  input: BookSlot,
): Promise<AppointmentSnapshot> {
  const { orderId, slotId, notes, bookingTimeout, confirmWithin, idempotencyKey } = input;
  const { start } = slotOf(slotId) ?? {};
  const place = placeOfSlot(slotId);
  const attempt = startAttempt(bookingTimeout);
  const later = { async_confirmation: true, async_confirmation_timeout_millisecond: confirmWithin };
  return checkThenAct({
    look: async (options) => {
      const found = await presentAppointment(service, orderId, place, options);
      if (!found || !isOpen(found) || found.appointmentId === input.cancelledId) return undefined;
      // Booked by an attempt whose answer was lost, or by somebody else for the same time.
      if (found.startAt === start) return found;
      throw anotherExists();
    },
    act: async () => {
      const booked = await withFreshKey(service, input, attempt, async (key) => {
        await requireNotStopped();
        const request = {
          booking_key: key,
          ...(notes !== undefined && { appointment_notes: notes }),
          ...(confirmWithin !== undefined && later),
        };
        const keyed = idempotencyKey === undefined ? {} : { idempotencyKey };
        return callsAt(place, service).book(orderId, request, { ...attempt.call(), ...keyed });
      });
      const answered = snapshotAt(place, booked);
      return idempotencyKey === undefined ? answered : asShownNow(service, input, answered);
    },
    attempt,
    bookingTimeout,
  });
}

/**
 * The answer to a repeated key is the first answer, and may be outdated: what the service shows now counts. If it shows
 * nothing twice, the booking was cancelled since; after a key's first use, the booking may merely not be shown yet.
 * @throws SlotUnavailable if the booking has fallen through since
 */
async function asShownNow(
  service: LabService,
  { orderId, isRepeated, bookingTimeout, cancelledId }: BookSlot,
  answered: AppointmentSnapshot,
): Promise<AppointmentSnapshot> {
  const read = () => {
    heartbeat();
    const shown = presentAppointment(service, orderId, 'centre', { timeoutMs: bookingTimeout });
    return shown.then((found) => found ?? ('nothing' as const)).catch(unlessExisting);
  };
  let now = await read();
  if (now === 'nothing' && (isRepeated || activityInfo().attempt > 1)) {
    await sleep(beforeNextRead);
    now = await read();
    if (now === 'nothing') throw slotGone();
  }
  const shown = now === undefined || now === 'nothing' || now.appointmentId === cancelledId ? answered : now;
  if (!isOpen(shown)) throw slotGone();
  return shown;
}

/** Milliseconds; a booking that was just made may not be shown at once. */
const beforeNextRead = 1_000;

export async function requestOnce(
  { service, requireNotStopped }: Creating,
  input: RequestAppointment,
): Promise<AppointmentSnapshot> {
  const { orderId, provider, notes, bookingTimeout } = input;
  const attempt = startAttempt(bookingTimeout);
  return checkThenAct({
    look: async (options) => {
      const found = await presentAppointment(service, orderId, 'home', options);
      if (!found || !isOpen(found) || found.appointmentId === input.cancelledId) return undefined;
      if (found.provider?.toLowerCase() === provider.toLowerCase()) return found;
      throw anotherExists();
    },
    act: async () => {
      const order = await readForCommand(service, orderId, attempt.call());
      if (placeOf(snapshotOf(order, [])) === 'centre') throw noProvider();
      const address = addressOf(order);
      await requireNotStopped();
      const request = { address, provider, ...(notes !== undefined && { appointment_notes: notes }) };
      return snapshotAt('home', await service.appointments.request(orderId, request, attempt.call()));
    },
    attempt,
    bookingTimeout,
  });
}

export async function moveOnce(
  { service, requireNotStopped }: Creating,
  input: RescheduleAppointment,
): Promise<AppointmentSnapshot> {
  const { orderId, appointmentId, slotId, notes, bookingTimeout } = input;
  const { start } = slotOf(slotId) ?? {};
  const place = placeOfSlot(slotId);
  const attempt = startAttempt(bookingTimeout);
  return checkThenAct({
    look: async (options) => {
      const found = await presentAppointment(service, orderId, place, options);
      if (!found || !isOpen(found)) throw notShown();
      // The status does not matter: the visit is at the requested time.
      if (found.startAt === start) return found;
      if (found.appointmentId !== appointmentId) throw notShown();
      if (found.canReschedule === false) throw immovable();
      return undefined;
    },
    act: async () => {
      const moved = await withFreshKey(service, input, attempt, async (key) => {
        await requireNotStopped();
        const request = { booking_key: key, ...(notes !== undefined && { appointment_notes: notes }) };
        return callsAt(place, service).reschedule(orderId, request, attempt.call());
      });
      return snapshotAt(place, moved);
    },
    attempt,
    bookingTimeout,
  });
}

/** A key may expire before it is used: then another one is requested, once. */
async function withFreshKey(
  service: LabService,
  { orderId, slotId }: { orderId: string; slotId: string },
  attempt: Attempt,
  act: (key: string) => Promise<Appointment>,
): Promise<Appointment> {
  const key = async () => {
    const found = await bookingKeyFor(service, orderId, slotId, attempt.call());
    if (found === undefined) throw slotGone();
    return found;
  };
  const first = await key();
  try {
    return await act(first);
  } catch (error) {
    if (!(error instanceof errors.BookingKeyExpired)) throw error;
  }
  return act(await key());
}

interface Arrangement {
  /** Reads what was requested, if it exists already; fails if something else exists instead. */
  look: (options: CallOptions) => Promise<AppointmentSnapshot | undefined>;
  act: () => Promise<AppointmentSnapshot>;
  attempt: Attempt;
  bookingTimeout: number;
}

/**
 * Acts only if the requested appointment does not exist, and reads again if the answer leaves that open: after a lost
 * answer, and after a refusal too, because the first of two attempts may have been slow.
 */
async function checkThenAct(arrangement: Arrangement): Promise<AppointmentSnapshot> {
  const { look, act, attempt, bookingTimeout } = arrangement;
  const before = await look(attempt.call());
  if (before) return before;
  try {
    return await act();
  } catch (error) {
    if (isCertain(error)) throw error;
    heartbeat();
    const after = await look({ timeoutMs: bookingTimeout }).catch(unlessExisting);
    if (after) return after;
    throw error;
  }
}

/** Nothing can have been done, or another read would show nothing new. */
function isCertain(error: unknown): boolean {
  if (error instanceof ApplicationFailure) return error.type !== 'SlotUnavailable';
  if (!(error instanceof errors.ServiceError)) return true;
  return [
    errors.RequestInvalid,
    errors.ServiceUnreachable,
    errors.TooManyRequests,
    errors.Unauthorized,
    errors.FeatureNotEnabled,
  ].some((certain) => error instanceof certain);
}

/** A failed read shows nothing, but an existing appointment outweighs the answer. */
function unlessExisting(error: unknown): undefined {
  if (error instanceof errors.ServiceError) return undefined;
  throw error;
}

function anotherExists(): ApplicationFailure {
  const message = 'The order has another appointment at the service: reschedule or cancel it';
  return ApplicationFailure.nonRetryable(message, 'AppointmentExists', { fields: [] });
}

function notShown(): ApplicationFailure {
  const message = 'The service does not show this appointment any more';
  return ApplicationFailure.nonRetryable(message, 'NothingBooked', { fields: [] });
}

function noProvider(): ApplicationFailure {
  const message = 'An appointment at a service centre cannot be requested without a slot: choose one with `chooseSlot`';
  return ApplicationFailure.nonRetryable(message, 'BookingRefused', { fields: [] });
}

function immovable(): ApplicationFailure {
  const message = 'This appointment cannot be moved: cancel it with rebook, and choose another slot';
  return ApplicationFailure.nonRetryable(message, 'RescheduleRefused', { fields: [] });
}

function slotGone(): ApplicationFailure {
  const message = 'The slot is not offered any more: ask for the slots again and choose another one';
  return ApplicationFailure.nonRetryable(message, 'SlotUnavailable', { fields: [] });
}

export interface CancelAppointment {
  orderId: string;
  /** Another appointment is not cancelled. */
  appointmentId: string;
  reasonId?: string;
  notes?: string;
  /** `patient_service_center` for one at a service centre. */
  type?: string;
}

/**
 * If the appointment is no longer open, an earlier attempt whose answer was lost has cancelled it. Another appointment,
 * made in the meantime, is left alone. If none is shown, the read may be wrong, so the service is asked to cancel all the same.
 */
export async function cancelOnce(
  service: LabService,
  input: CancelAppointment,
  options: CallOptions,
): Promise<AppointmentSnapshot | null> {
  const { orderId, appointmentId, notes } = input;
  const place: Place = input.type === walkInType ? 'centre' : 'home';
  const calls = callsAt(place, service);
  const shown = async () => presentAppointment(service, orderId, place, options);
  // The request names the order, not the appointment: another one must not be overlooked.
  const shownLater = async () => {
    await sleep(beforeNextRead);
    return shown();
  };
  const before = (await shown()) ?? (await shownLater());
  if (before && before.appointmentId !== appointmentId) return null;
  if (before && !isOpen(before)) return before;
  const reasonId = input.reasonId ?? (await firstReason(calls, options));
  const request = { reasonId, ...(notes !== undefined && { notes }) };
  try {
    return snapshotAt(place, await calls.cancel(orderId, request, options));
  } catch (error) {
    if (isCertain(error)) throw error;
    if (!before && error instanceof errors.ServiceRefused && deniesAppointment(error)) return null;
    const after = await shown().catch((failed: unknown) => unlessExisting(failed) ?? ('unknown' as const));
    if (after === 'unknown') throw error;
    if (after && after.appointmentId === appointmentId && visitPhaseOf(after) === 'cancelled') return after;
    // Only active appointments are shown at a service centre.
    const isGone = after?.appointmentId !== appointmentId && place === 'centre' && mayHaveCancelled(error);
    if (before && isGone) return { ...before, status: 'cancelled' };
    // An earlier attempt has cancelled it, and its answer was lost.
    if (!before && !after && error instanceof errors.ServiceRefused && activityInfo().attempt > 1) return null;
    throw error;
  }
}

/** A visit that was just completed is refused too, and is not shown any more either. */
function mayHaveCancelled(error: unknown): boolean {
  return !(error instanceof errors.ServiceRefused) || isCancelledAlready(error);
}

/** Not every refusal does: a visit that can no longer be cancelled stands. */
function deniesAppointment(error: errors.ServiceRefused): boolean {
  return (
    errors.isStatedAbsence(error, ['appointment', 'order']) ||
    isCancelledAlready(error) ||
    noAppointment.test(errors.sentencesOf(error))
  );
}

const noAppointment = /\bno (?:\w+ ){0,2}appointments?\b|(?:\bnot|n['’]t) (?:yet )?have an? (?:\w+ )?appointment\b/i;

function isCancelledAlready(error: errors.ServiceRefused): boolean {
  return /\balready (?:been )?cancel/i.test(errors.sentencesOf(error));
}

async function firstReason(calls: ReturnType<typeof callsAt>, options: CallOptions): Promise<string> {
  const [reason] = await calls.cancellationReasons(options);
  if (reason) return reason.id;
  const message = 'is needed: the service lists no reason';
  throw ApplicationFailure.nonRetryable(`reasonId ${message}`, 'CancellationRefused', {
    fields: [{ field: 'reasonId', message }],
  });
}
