import { log } from '@temporalio/workflow';
import type { AppointmentReading } from '../../activities/appointment-reading.js';
import { refusalOf } from '../command-queue.js';
import { reading } from '../proxies.js';
import { takeAnswer, takeNone, type AppointmentCase } from './case.js';
import { isOpen } from './lifecycle.js';
import { readAppointmentSnapshot } from './snapshot-reader.js';

/** Asks the service for the appointment and its order. What cannot be read now is as silent as before. */
export async function readAppointment(kase: AppointmentCase): Promise<boolean> {
  try {
    await look(kase);
    return true;
  } catch (error) {
    const { type, message } = refusalOf(error);
    log.warn('appointment could not be read', { orderId: kase.orderId, type, message });
    takeSilence(kase, Date.now());
    return false;
  }
}

/** The same for a command, whose caller learns why the service cannot be asked. */
export async function look(kase: AppointmentCase): Promise<void> {
  const asked = kase.heard;
  const summary = 'read the appointment';
  const answer = await reading.readAppointment.executeWithOptions({ summary }, [kase.orderId]);
  takeReading(kase, answer, asked, Date.now());
}

export function takeReading(kase: AppointmentCase, reading: AppointmentReading, asked: number, now: number): void {
  setNotifies(kase, reading.notifies);
  if (kase.heard === asked) kase.unclear = false;
  if (kase.doubtUntil !== undefined && now >= kase.doubtUntil) delete kase.doubtUntil;
  if (reading.userId !== undefined) kase.userId ??= reading.userId;
  const { order } = reading;
  if (order === 'open' || order === 'gone') delete kase.order;
  else kase.order = order;
  if (order === 'gone' && kase.ending === undefined) kase.ending = 'order_gone';
  const snapshot = readAppointmentSnapshot(reading.appointment);
  const isNews = snapshot ? takeAnswer(kase, snapshot, asked, now) : takeNone(kase, asked, now);
  kase.lookedAt = now;
  kase.unanswered = false;
  kase.silentReads = isNews ? 0 : kase.silentReads + 1;
  if (kase.fallen) kase.fallen.asked = true;
  settleByOrder(kase);
}

/** The order knows more than an appointment of which nobody told what came of it. */
function settleByOrder(kase: AppointmentCase): void {
  const { order, known, ending, stage, wanted } = kase;
  if (order === undefined || ending !== undefined) return;
  // One at a service centre, of which only webhooks tell, is followed all the same, and ends like others of its kind.
  if (order === 'not_at_home' && known !== undefined && (isOpen(known) || !wanted)) return;
  const wasDrawn = stage.phase === 'completed' || (order === 'collected' && known !== undefined && isOpen(known));
  kase.ending = wasDrawn ? 'completed' : 'order_ended';
}

export function takeSilence(kase: AppointmentCase, now: number): void {
  kase.lookedAt = now;
  kase.silentReads += 1;
  kase.unanswered = true;
}

/** With no target nothing is kept, and nothing scheduled. */
export function setNotifies(kase: AppointmentCase, notifies: boolean): void {
  kase.notifies = notifies;
  if (!notifies) kase.outbox = [];
}
