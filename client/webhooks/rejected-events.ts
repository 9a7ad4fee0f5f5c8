import { userOf } from '../../service/webhooks/events.js';
import { within } from '../within.js';
import type { Destinations, Message, Routed } from './destinations.js';

/** An event that is let go with 204, because it will never be handled; or a signed body that is not a JSON object. */
export interface RejectedEventReceived {
  reason: DroppedRoute['name'] | 'refused_by_temporal' | UnparsedBody['reason'];
  /** The unreadable part, without a value of the event. */
  problem?: string;
  eventType?: string;
  /** The envelope's user, else the one inside the data. */
  userId?: string;
  /** The whole event as it was sent. It may hold anything, a patient's name and address included. */
  body: string;
}

/** A signed body that contains no readable event: Python, for instance, writes NaN, which is not JSON. */
interface UnparsedBody {
  reason: 'not_json' | 'not_an_object';
  /** Bytes that are not UTF-8 are U+FFFD. */
  body: string;
}

/**
 * Takes events before they are let go. It settles once they are durable; when it rejects, the answer is 503. It may say
 * `user_deleted`, which is counted as such.
 */
export type RejectedEventSink = (event: RejectedEventReceived, messageId: string) => Promise<unknown>;

type DroppedRoute = Routed & { name: 'not_handled' | 'unreadable' | 'not_addressable' };
type Refused = Routed & { name: 'event_refused' };

/** Nobody has accepted the event, and sending it again would not change that. */
export function isRejected(routed: Routed): routed is DroppedRoute | Refused {
  return ['not_handled', 'unreadable', 'not_addressable', 'event_refused'].includes(routed.name);
}

export async function storeRejected(
  routed: DroppedRoute | Refused,
  eventType: string | undefined,
  { id, body, value }: Message,
  destinations: Destinations,
): Promise<Routed> {
  const userId = userOf(value);
  const event: RejectedEventReceived = {
    reason: routed.name === 'event_refused' ? 'refused_by_temporal' : routed.name,
    ...(routed.problem !== undefined && { problem: routed.problem }),
    ...(eventType !== undefined && { eventType }),
    ...(userId !== undefined && { userId }),
    body,
  };
  const kept: Routed = routed.name === 'event_refused' ? { ...routed, name: 'event_set_aside' } : routed;
  return handToRejected(event, id, destinations, { kept, without: routed });
}

/**
 * Stores a signed body without a readable event; without a sink the sender, who alone has it then, gets the refusal.
 */
export async function rejectBody(
  { id, reason, body }: UnparsedBody & { id: string },
  destinations: Destinations,
): Promise<Routed> {
  return handToRejected({ reason, body }, id, destinations, {
    kept: { name: 'body_set_aside', problem: reason },
    without: { name: reason },
  });
}

async function handToRejected(
  event: RejectedEventReceived,
  id: string,
  { rejected, deadlineMs }: Destinations,
  answer: { kept: Routed; without: Routed },
): Promise<Routed> {
  if (!rejected) return answer.without;
  try {
    const outcome = await within(deadlineMs, rejected(event, id));
    return outcome === 'user_deleted' ? { name: 'health_data_unwanted' } : answer.kept;
  } catch (error) {
    return { name: 'rejected_failed', error };
  }
}
