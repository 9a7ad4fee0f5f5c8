import { ApplicationFailure, heartbeat, log } from '@temporalio/activity';
import { appointmentSnapshotOf, type AppointmentSnapshot } from '../service/appointment-snapshot.js';
import type { Appointment } from '../service/appointments.js';
import {
  BookingKeyExpired,
  FeatureNotEnabled,
  NotFound,
  RequestInvalid,
  ServiceError,
  ServiceUnreachable,
  TooManyRequests,
  Unauthorized,
} from '../service/errors.js';
import type { CallOptions } from '../service/http.js';
import type { LabService } from '../service/lab-service.js';
import { snapshotOf } from '../service/order-snapshot.js';
import { bookAppointmentId, slotOf } from '../workflows/appointment/address.js';
import { isOpen, orderSays, type OrderSays, visitPhaseOf } from '../workflows/appointment/lifecycle.js';
import type { AppointmentResult, Slots } from '../workflows/appointment/messages.js';
import { readStatus, standingOf } from '../workflows/order/lifecycle.js';
import { settlingAfter } from '../workflows/order/policy.js';
import type { ActivityDependencies } from './activities.js';
import { addressOf, bookingKeyFor, slotsFor } from './appointment-slots.js';
import { startAttempt, type Attempt } from './attempt.js';
import { lastResultOf } from './earlier-runs.js';
import { asFailures } from './failures.js';

/** The appointment and its order as they are now. */
export interface AppointmentReading {
  /** Missing where the order has none. */
  appointment?: AppointmentSnapshot;
  order: OrderSays | 'gone';
  /** The order's user. */
  userId?: string;
  notifies: boolean;
}

/** What a run learns before it does anything. */
export interface AppointmentFound {
  /** Missing where the service could not be asked. */
  reading?: AppointmentReading;
  notifies: boolean;
  /** What the last run for the same order ended with. */
  previous?: AppointmentResult;
}

interface Wish {
  orderId: string;
  notes?: string;
  /** Milliseconds that one call may take. */
  bookingTimeout: number;
}

export interface BookSlot extends Wish {
  slotId: string;
  /** Milliseconds that the provider has to confirm; without it the booking waits for the provider's word. */
  confirmWithin?: number;
}

export interface RequestAppointment extends Wish {
  provider: string;
}

export interface RescheduleAppointment extends Wish {
  /** Of the appointment that is meant: another one is not moved. */
  appointmentId: string;
  slotId: string;
}

export interface CancelAppointment {
  orderId: string;
  /** Of the appointment that is meant: another one is not cancelled. */
  appointmentId: string;
  reasonId?: string;
  notes?: string;
}

/** Appointments for a blood draw at home. What changes something looks first, and again where the answer was lost. */
export function appointmentActivities(dependencies: ActivityDependencies) {
  const { service, temporal, target } = dependencies;
  const notifies = target !== undefined;
  return {
    async readAppointment(orderId: string): Promise<AppointmentReading> {
      return asFailures('ServiceRefused', () => read(service, orderId, notifies));
    },

    /** An error of Temporal's rises as it is, which makes it retried; one of the service holds nobody up. */
    async identifyAppointment(orderId: string): Promise<AppointmentFound> {
      const previous = await lastResultOf<AppointmentResult>(temporal, bookAppointmentId(orderId));
      const reading = await readIfReadable(service, orderId, notifies);
      return { notifies, ...(previous && { previous }), ...(reading && { reading }) };
    },

    async findSlots({ orderId, startDate }: { orderId: string; startDate?: string }): Promise<Slots> {
      return asFailures('AvailabilityRefused', () => slotsFor(service, orderId, startDate));
    },

    async bookSlot(wish: BookSlot): Promise<AppointmentSnapshot> {
      return asFailures('BookingRefused', () => bookOnce(service, wish), settlingAfter(wish.bookingTimeout));
    },

    async requestAppointment(wish: RequestAppointment): Promise<AppointmentSnapshot> {
      return asFailures('BookingRefused', () => requestOnce(service, wish), settlingAfter(wish.bookingTimeout));
    },

    async rescheduleAppointment(wish: RescheduleAppointment): Promise<AppointmentSnapshot> {
      return asFailures('RescheduleRefused', () => moveOnce(service, wish), settlingAfter(wish.bookingTimeout));
    },

    /** null where there is nothing to cancel any more. */
    async cancelAppointment(wish: CancelAppointment): Promise<AppointmentSnapshot | null> {
      return asFailures('CancellationRefused', () => cancelOnce(service, wish));
    },
  };
}

async function read(service: LabService, orderId: string, notifies: boolean): Promise<AppointmentReading> {
  const order = await ifThere(() => service.orders.get(orderId));
  if (!order) return { order: 'gone', notifies };
  const appointment = await present(service, orderId);
  const { userId, events, status } = snapshotOf(order);
  const { phase, last } = standingOf(events, status);
  return {
    ...(appointment && { appointment }),
    order: orderSays(phase, readStatus(last?.status ?? '').low),
    ...(userId !== undefined && { userId }),
    notifies,
  };
}

async function readIfReadable(
  service: LabService,
  orderId: string,
  notifies: boolean,
): Promise<AppointmentReading | undefined> {
  try {
    return await read(service, orderId, notifies);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { name, message, status } = error;
    log.warn('appointment could not be read', { orderId, name, message, status });
    return undefined;
  }
}

async function present(
  service: LabService,
  orderId: string,
  options: CallOptions = {},
): Promise<AppointmentSnapshot | undefined> {
  const appointment = await ifThere(() => service.appointments.get(orderId, options));
  return appointment && appointmentSnapshotOf(appointment);
}

async function ifThere<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

async function bookOnce(service: LabService, wish: BookSlot): Promise<AppointmentSnapshot> {
  const { orderId, slotId, notes, bookingTimeout, confirmWithin } = wish;
  const { start } = slotOf(slotId) ?? {};
  const attempt = startAttempt(bookingTimeout);
  const later = { async_confirmation: true, async_confirmation_timeout_millisecond: confirmWithin };
  return lookingTwice({
    look: async (options) => {
      const found = await present(service, orderId, options);
      if (!found || !isOpen(found)) return undefined;
      // Made by an attempt whose answer was lost, or by somebody else for the same time.
      if (found.startAt === start) return found;
      throw exists();
    },
    act: () =>
      withFreshKey(service, wish, attempt, (key) => {
        const request = {
          booking_key: key,
          ...(notes !== undefined && { appointment_notes: notes }),
          ...(confirmWithin !== undefined && later),
        };
        return service.appointments.book(orderId, request, attempt.call());
      }),
    attempt,
    bookingTimeout,
  });
}

async function requestOnce(service: LabService, wish: RequestAppointment): Promise<AppointmentSnapshot> {
  const { orderId, provider, notes, bookingTimeout } = wish;
  const attempt = startAttempt(bookingTimeout);
  return lookingTwice({
    look: async (options) => {
      const found = await present(service, orderId, options);
      if (!found || !isOpen(found)) return undefined;
      if (found.provider === provider) return found;
      throw exists();
    },
    act: async () => {
      const address = addressOf(await service.orders.get(orderId, attempt.call()));
      const request = { address, provider, ...(notes !== undefined && { appointment_notes: notes }) };
      return service.appointments.request(orderId, request, attempt.call());
    },
    attempt,
    bookingTimeout,
  });
}

async function moveOnce(service: LabService, wish: RescheduleAppointment): Promise<AppointmentSnapshot> {
  const { orderId, appointmentId, slotId, notes, bookingTimeout } = wish;
  const { start } = slotOf(slotId) ?? {};
  const attempt = startAttempt(bookingTimeout);
  return lookingTwice({
    look: async (options) => {
      const found = await present(service, orderId, options);
      if (!found || !isOpen(found) || found.appointmentId !== appointmentId) throw another();
      if (found.startAt === start) return found;
      if (found.canReschedule === false) throw immovable();
      return undefined;
    },
    act: () =>
      withFreshKey(service, wish, attempt, (key) => {
        const request = { booking_key: key, ...(notes !== undefined && { appointment_notes: notes }) };
        return service.appointments.reschedule(orderId, request, attempt.call());
      }),
    attempt,
    bookingTimeout,
  });
}

/** A key may end between the answer that brought it and its use: then there is one more, once. */
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
    if (!(error instanceof BookingKeyExpired)) throw error;
  }
  return act(await key());
}

interface Arrangement {
  /** What is there already of what is wanted; fails where something else is there. */
  look: (options: CallOptions) => Promise<AppointmentSnapshot | undefined>;
  act: () => Promise<Appointment>;
  attempt: Attempt;
  bookingTimeout: number;
}

/**
 * Acts only where what is wanted is not there, and looks once more where the answer does not say whether it is now: an
 * answer that was lost, and a refusal too, for the first of two attempts may have been slow.
 */
async function lookingTwice({ look, act, attempt, bookingTimeout }: Arrangement): Promise<AppointmentSnapshot> {
  const before = await look(attempt.call());
  if (before) return before;
  try {
    return appointmentSnapshotOf(await act());
  } catch (error) {
    if (isCertain(error)) throw error;
    heartbeat();
    const after = await look({ timeoutMs: bookingTimeout }).catch(unlessExisting);
    if (after) return after;
    throw error;
  }
}

/** Nothing can have been done, or nothing would be learnt by looking. */
function isCertain(error: unknown): boolean {
  if (error instanceof ApplicationFailure) return error.type !== 'SlotUnavailable';
  if (!(error instanceof ServiceError)) return true;
  return [RequestInvalid, ServiceUnreachable, TooManyRequests, Unauthorized, FeatureNotEnabled].some(
    (certain) => error instanceof certain,
  );
}

/** A look that fails says nothing; that something else is there says more than the answer did. */
function unlessExisting(error: unknown): undefined {
  if (error instanceof ServiceError) return undefined;
  throw error;
}

/**
 * An earlier attempt whose answer was lost has cancelled it already where it is not open any more. Another appointment,
 * which somebody made meanwhile, is left alone.
 */
async function cancelOnce(service: LabService, wish: CancelAppointment): Promise<AppointmentSnapshot | null> {
  const { orderId, appointmentId, notes } = wish;
  const standing = async () => {
    const found = await present(service, orderId);
    return found?.appointmentId === appointmentId ? found : null;
  };
  const before = await standing();
  if (!before || !isOpen(before)) return before;
  const reasonId = wish.reasonId ?? (await firstReason(service));
  const request = { cancellation_reason_id: reasonId, ...(notes !== undefined && { notes }) };
  try {
    return appointmentSnapshotOf(await service.appointments.cancel(orderId, request));
  } catch (error) {
    if (isCertain(error)) throw error;
    const after = await standing().catch(unlessExisting);
    if (after && visitPhaseOf(after) === 'cancelled') return after;
    throw error;
  }
}

async function firstReason(service: LabService): Promise<string> {
  const [reason] = await service.appointments.cancellationReasons();
  if (reason) return reason.id;
  const message = 'is needed: the service lists no reason';
  throw ApplicationFailure.nonRetryable(`reasonId ${message}`, 'CancellationRefused', {
    fields: [{ field: 'reasonId', message }],
  });
}

function exists(): ApplicationFailure {
  const message = 'The order has another appointment at the service: reschedule or cancel it';
  return ApplicationFailure.nonRetryable(message, 'AppointmentExists', { fields: [] });
}

function another(): ApplicationFailure {
  const message = 'The appointment that was meant is not there any more';
  return ApplicationFailure.nonRetryable(message, 'NothingBooked', { fields: [] });
}

function immovable(): ApplicationFailure {
  const message = 'This appointment cannot be moved: cancel it with rebook, and choose another slot';
  return ApplicationFailure.nonRetryable(message, 'RescheduleRefused', { fields: [] });
}

function slotGone(): ApplicationFailure {
  const message = 'The slot is not offered any more: ask for the slots again and choose another one';
  return ApplicationFailure.nonRetryable(message, 'SlotUnavailable', { fields: [] });
}
