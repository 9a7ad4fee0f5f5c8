import type { z } from 'zod';
import { BookingKeyExpired, FeatureNotEnabled, sentencesOf, ServiceRefused, SlotUnavailable } from '../errors.js';
import type { ServiceCall, Transport } from '../http/http.js';
import { collisionOf } from '../http/idempotency.js';

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

/** A conflict answers 400 or 404, and only the sentence distinguishes it from other refusals (docs/internals/lab-service.md, "Appointments"). */
function slotProblem(error: unknown): SlotUnavailable | BookingKeyExpired | undefined {
  if (!(error instanceof ServiceRefused) || ![400, 404].includes(error.status)) return undefined;
  // No other slot helps.
  if (error instanceof FeatureNotEnabled) return undefined;
  const text = sentencesOf(error);
  const { serviceSentence: sentence, fields } = error;
  const refusal = { fields: [...fields], ...(sentence !== undefined && { sentence }) };
  if (/\bbooking.?key\b/i.test(text)) return new BookingKeyExpired(error, refusal);
  return /\b(?:time)?slots?\b/i.test(text) ? new SlotUnavailable(error, refusal) : undefined;
}
