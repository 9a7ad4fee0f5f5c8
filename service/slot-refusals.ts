import type { z } from 'zod';
import { BookingKeyExpired, FeatureNotEnabled, sentencesOf, ServiceRefused, SlotUnavailable } from './errors.js';
import type { ServiceCall, Transport } from './http.js';
import { collisionOf } from './idempotency.js';

/* The refusals of a slot. */

/**
 * Sends a booking or a move.
 * @throws SlotUnavailable, BookingKeyExpired; AnswerLost if the service is still at work on the same booking
 */
export async function takeSlot<T>(
  transport: Transport,
  call: ServiceCall,
  bookingKey: string,
  answer: z.ZodType<T>,
): Promise<T> {
  try {
    return await transport.request({ ...call, secrets: [bookingKey], answer });
  } catch (error) {
    throw collisionOf(error, call) ?? slotProblem(error) ?? error;
  }
}

/**
 * The meaning of a refusal for the slot. Only this is documented: a conflict answers 400 or 404. That the sentence
 * distinguishes a slot that is gone from an expired key, and both from other refusals, is assumed. If one of those two
 * statuses comes with an unspecific sentence, or with none, it is a conflict that is not stated.
 */
function slotProblem(error: unknown): SlotUnavailable | BookingKeyExpired | undefined {
  if (!(error instanceof ServiceRefused) || !slotStatuses.includes(error.status)) return undefined;
  // No other slot helps: the status of such an answer is not documented.
  if (error instanceof FeatureNotEnabled) return undefined;
  // It says when, and not what.
  const text = sentencesOf(error).replaceAll(/\bat th(?:is|e) (?:present )?(?:moment|time)\b/gi, '');
  const refusal = { fields: [...error.fields], ...(error.reason !== undefined && { reason: error.reason }) };
  if (keyGonePattern.test(text)) return new BookingKeyExpired(error, refusal);
  if (slotGonePattern.test(text)) return new SlotUnavailable(error, refusal);
  const isOfSlot = error.fields.every(({ field }) => field === '' || field === 'booking_key');
  const mayBeConflict = conflictStatuses.includes(error.status) && isOfSlot && !somethingElsePattern.test(text);
  return mayBeConflict ? new SlotUnavailable(error, refusal, false) : undefined;
}

const slotStatuses = [400, 404, 409, 410, 422];
/** docs/lab-service.md, "Appointments". */
const conflictStatuses = [400, 404];

const goneWords =
  '(?:expired|invalid|bad|malformed|not (?:be )?found|unknown|no longer|not valid|does ?n.t exist|does not exist)';
const keyGonePattern = new RegExp(`booking.?key.*${goneWords}|${goneWords}.*booking.?key`, 'i');

const takenWords =
  '(?:un ?available|not (?:be )?(?:available|found)|no longer|taken|already (?:booked|reserved)|conflict|expired|fully booked)';
const slotWords = String.raw`\b(?:time)?(?:slot|time)s?\b`;
const slotGonePattern = new RegExp(`${slotWords}.*${takenWords}|${takenWords}.*${slotWords}`, 'i');

const somethingElsePattern =
  /\b(?:orders?|patients?|users?|labs?|laborator(?:y|ies)|address|zip(?:.?code)?|phone|e-?mail|notes?|teams?|collection|requisitions?|samples?|sites?|idempotency)\b|\bno appointments?\b|\bappointments?\b.*(?:not (?:be )?found|exist|resched|already|complete|cancel)/i;
