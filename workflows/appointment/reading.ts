import type { AppointmentResult } from '../../protocol/appointment/messages.js';
import { isDue, timeOf } from '../entity/loop-timer.js';
import { setNotifies } from '../entity/outbox.js';
import type { AppointmentReading } from '../../activities/appointment/reading.js';
import { isOpen, isWalkIn } from '../../protocol/appointment/lifecycle.js';
import type { AppointmentEvent, AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import { activities } from '../activity-options.js';
import { minute, noteAbsence } from '../entity/spans.js';
import { resumeQuestions } from '../entity/attention.js';
import { loggedRefusal, answeringMeanwhile } from '../entity/commands.js';
import { readTime, textsOf, timesOf } from '../entity/fields.js';
import { setPolicy } from '../entity/policy.js';
import { answered, recordNoAnswer } from '../entity/polling.js';
import {
  canEnd,
  isOlder,
  openVisit,
  recordDoubtful,
  recordNone,
  recordRead,
  type Appointment,
  markRequested,
  type AppointmentRun,
} from './appointment.js';
import { carriedOn } from '../entity/versions.js';
import { isObject } from '../../protocol/json.js';

/** Asks the service for the appointment and its order. What cannot be read now is as silent as before. */
export async function readAppointment(appointment: Appointment): Promise<void> {
  try {
    await readOrThrow(appointment);
  } catch (error) {
    loggedRefusal('appointment could not be read', { orderId: appointment.orderId }, error);
    recordNoAnswer(appointment, timeOf(appointment));
  }
}

/** The same for a command, whose caller learns why the service cannot be asked. */
export async function readOrThrow(appointment: Appointment): Promise<void> {
  const asked = appointment.received;
  const summary = 'read the appointment';
  const { orderId } = appointment;
  const answer = await activities.readAppointment.executeWithOptions({ summary }, [
    orderId,
    openVisit(appointment)?.type,
  ]);
  recordReading(appointment, answer, asked, timeOf(appointment));
}

function recordReading(appointment: Appointment, reading: AppointmentReading, asked: number, now: number): void {
  if (reading.order === 'gone' && !noteAbsence(appointment, now)) return recordNoAnswer(appointment, now);
  if (reading.order !== 'gone') delete appointment.absentSince;
  const snapshot = readAppointmentSnapshot(reading.appointment);
  if (appointment.received === asked) {
    appointment.unclear = false;
    confirm(appointment, snapshot, now);
  }
  if (isDue(appointment, appointment.doubtUntil)) delete appointment.doubtUntil;
  if (isDue(appointment, appointment.askAgainAt)) delete appointment.askAgainAt;
  if (reading.userId !== undefined) appointment.userId ??= reading.userId;
  const { order } = reading;
  if (order === 'open' || order === 'gone') delete appointment.order;
  else appointment.order = order;
  if (order === 'gone' && canEnd(appointment)) appointment.ending = 'order_gone';
  const recordMissing = () =>
    reading.isHidden === true ? recordDoubtful(appointment, now) : recordNone(appointment, asked, now);
  const isNews = snapshot ? recordRead(appointment, snapshot, asked, now) : recordMissing();
  if (!appointment.unclear) delete appointment.doubtful;
  answered(appointment, isNews, now);
  if (appointment.fallen) appointment.fallen.asked = true;
  settleByOrder(appointment, now);
}

/** A read that is older than the webhook confirms nothing; if the service still shows no more a minute later, it will not. */
function confirm(appointment: Appointment, read: AppointmentSnapshot | undefined, now: number): void {
  const { reported, known, askAgainAt } = appointment;
  if (reported && read && isOlder(read, known) && !isDue(appointment, askAgainAt))
    appointment.askAgainAt ??= now + minute;
  else delete appointment.reported;
}

/** The order knows more than an appointment of which no outcome was reported. */
function settleByOrder(appointment: Appointment, now: number): void {
  const { order, known, stage, requested } = appointment;
  if (order === undefined || !canEnd(appointment)) return;
  // One that was made all the same is followed, and ends like others of its kind.
  if (order === 'no_appointment' && known !== undefined && (isOpen(known) || !requested)) return;
  // It was not cancelled with its order: somebody has to (`order_cancelled`), or its time goes by.
  const isOpenWalkIn = known !== undefined && isWalkIn(known) && isOpen(known);
  if (order === 'cancelled' && isOpenWalkIn && !(Date.parse(known.startAt ?? '') <= now)) return;
  const wasDrawn = stage.phase === 'completed' || (order === 'collected' && known !== undefined && isOpen(known));
  appointment.ending = wasDrawn ? 'completed' : 'order_ended';
}

/**
 * Finds out what there is before anything is done: an appointment that was made elsewhere, an order that needs none any
 * more, an earlier run that has announced it. A service that does not answer holds nobody up: every command reads itself.
 * A Temporal that does not say whether there was an earlier run does for a while, so commands are refused meanwhile.
 */
export async function identify({ appointment, commands, earlierRun }: AppointmentRun): Promise<void> {
  if (appointment.identified) return;
  const asked = appointment.received;
  const summary = 'what there is already';
  const found = await answeringMeanwhile(
    commands,
    activities.identifyAppointment.executeWithOptions({ summary }, [
      appointment.orderId,
      earlierRun,
      openVisit(appointment)?.type,
    ]),
  );
  const { reading, notifies } = found;
  const previous = found.previous && carriedOn<AppointmentResult>('result of the appointment', found.previous);
  if (previous) {
    appointment.announced = [...new Set([...previous.announced, ...appointment.announced])];
    resumeQuestions(appointment, previous);
    const { outcome, appointment: last } = previous;
    appointment.before = { outcome, ...(last && { appointmentId: last.appointmentId }) };
    if (previous.cancelled) {
      appointment.cancelled = previous.cancelled;
      appointment.goneId = previous.cancelled.appointmentId;
    }
    if (previous.doubtUntil !== undefined) appointment.doubtUntil = Date.parse(previous.doubtUntil);
    if (!appointment.requested) setPolicy(appointment, previous.policy);
  }
  setNotifies(appointment, notifies);
  if (reading) recordReading(appointment, reading, asked, timeOf(appointment));
  else recordNoAnswer(appointment, timeOf(appointment));
  // Neither a webhook nor the product's signal came with the start: somebody started it manually to have an appointment.
  if (!appointment.known) markRequested(appointment, timeOf(appointment));
  appointment.identified = true;
}

/**
 * Reads a snapshot that came by signal, perhaps from a backend in another language: known fields of their types are
 * taken, everything else is left behind. What has no appointment id is not a snapshot. Never throws.
 */
export function readAppointmentSnapshot(value: unknown): AppointmentSnapshot | undefined {
  if (!isObject(value)) return undefined;
  const { appointmentId, canReschedule } = value;
  if (typeof appointmentId !== 'string' || appointmentId === '') return undefined;
  const texts = textsOf(value, ['orderId', 'userId', 'status', 'type', 'provider', 'timezone', 'externalId']);
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
