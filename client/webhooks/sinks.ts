import type { Client } from '@temporalio/client';
import { type ConnectionEventReceived, type HealthDataReceived, userOf } from '../../service/webhooks/events.js';
import type { Installation } from '../../service/installation.js';
import { type AbandonedCalls, within } from '../call-options.js';
import type { Outcome } from './answers.js';
import type { Message, UnparsedMessage } from './verify.js';
import { omitNullish } from '../../service/json-object.js';

/*
 * The destinations of an event: Temporal, and the sinks for health data and for rejected events, which a product may provide. `route.ts`
 * says which workflow an event is for.
 */

export interface Destinations {
  /** `handler.ts` wraps it: it refuses a call that is too large, and one that is not encrypted if the worker requires encryption. */
  temporal: Client;
  taskQueue: string;
  /** Says which orders are ours. */
  installation: Installation;
  healthData?: HealthDataSink | undefined;
  rejected?: RejectedEventSink | undefined;
  deliveredMessages?: DeliveredMessages | undefined;
  /** Events of other teams are let go. Without it every team's are taken. */
  team?: OwnTeam | undefined;
  /** How long Temporal or the sink may take, in milliseconds. */
  deadlineMs: number;
  /** The signals, which may still be under way after that. */
  abandoned: AbandonedCalls;
}

interface OwnTeam {
  id: string;
  /** False while no event has named it: the setting is probably wrong, and every event is dropped. */
  isSeen: boolean;
}

/**
 * A memory of messages by keys of `<namespace>/<task queue>/<message id>/<digest of the body>`: handlers of several
 * deployments may share it. It is a hint: if it rejects or is slow, the message counts as new.
 */
export interface DeliveredMessages {
  has(key: string, withinSeconds: number): Promise<boolean>;
  add(key: string): Promise<void>;
}

/**
 * Takes health data and events of provider connections. It resolves once they are durable; if it rejects, the answer is
 * 503. The same event may come again, even if it was taken: the answer is also 503 if a link could not be signalled. It
 * may return a result: `set_aside` and `user_deleted` are counted as such, and after `stream_due` the worker, which
 * then needs a store too, fetches the workout's stream. Anything else, or nothing, is `stored`.
 *
 * @param body the whole event as it was sent
 */
export type HealthDataSink = (
  event: HealthDataReceived | ConnectionEventReceived,
  messageId: string,
  body: string,
) => Promise<unknown>;

/** Gives an event to the sink for health data, if there is one. */
export async function giveToSink(
  event: HealthDataReceived | ConnectionEventReceived,
  { id, body }: Message,
  to: Destinations,
): Promise<Outcome & { isStreamDue?: boolean }> {
  if (!to.healthData) return { name: 'health_data_counted' };
  try {
    const stored = await within(to.deadlineMs, to.healthData(event, id, body));
    if (stored === 'set_aside') return { name: 'health_data_set_aside' };
    if (stored === 'user_deleted') return { name: 'health_data_unwanted' };
    return { name: 'health_data_accepted', ...(stored === 'stream_due' && { isStreamDue: true }) };
  } catch (error) {
    return { name: 'health_data_failed', error };
  }
}

/** An event that is let go with 204, because it will never be handled; or a signed body that is not a JSON object. */
export interface RejectedEventReceived {
  reason: Dropped['name'] | 'refused_by_temporal' | UnparsedMessage['reason'];
  /** The unreadable part, without a value of the event. */
  problem?: string;
  eventType?: string;
  /** The envelope's user, else the one inside the data. */
  userId?: string;
  /** The whole event as it was sent. It may hold anything, a patient's name and address included. */
  body: string;
}

/**
 * Takes events before they are let go. It settles once they are durable; when it rejects, the answer is 503. It may say
 * `user_deleted`, which is counted as such.
 */
export type RejectedEventSink = (event: RejectedEventReceived, messageId: string) => Promise<unknown>;

type Dropped = Outcome & { name: 'not_handled' | 'unreadable' | 'not_addressable' };
type Refused = Outcome & { name: 'event_refused' };

/** Nobody has accepted the event, and sending it again would not change that. */
export function isRejected(outcome: Outcome): outcome is Dropped | Refused {
  return ['not_handled', 'unreadable', 'not_addressable', 'event_refused'].includes(outcome.name);
}

export async function storeRejected(
  outcome: Dropped | Refused,
  eventType: string | undefined,
  { id, body, value }: Message,
  destinations: Destinations,
): Promise<Outcome> {
  const userId = userOf(value);
  const event: RejectedEventReceived = {
    reason: outcome.name === 'event_refused' ? 'refused_by_temporal' : outcome.name,
    ...omitNullish({ problem: outcome.problem, eventType, userId }),
    body,
  };
  const kept: Outcome = outcome.name === 'event_refused' ? { ...outcome, name: 'event_set_aside' } : outcome;
  return handToRejected(event, id, destinations, { kept, without: outcome });
}

/**
 * Stores a signed body without a readable event; without a sink the sender, who alone has it then, gets the refusal.
 */
export async function rejectBody({ id, reason, body }: UnparsedMessage, destinations: Destinations): Promise<Outcome> {
  return handToRejected({ reason, body }, id, destinations, {
    kept: { name: 'body_set_aside', problem: reason },
    without: { name: reason },
  });
}

async function handToRejected(
  event: RejectedEventReceived,
  id: string,
  { rejected, deadlineMs }: Destinations,
  outcome: { kept: Outcome; without: Outcome },
): Promise<Outcome> {
  if (!rejected) return outcome.without;
  try {
    const stored = await within(deadlineMs, rejected(event, id));
    return stored === 'user_deleted' ? { name: 'health_data_unwanted' } : outcome.kept;
  } catch (error) {
    return { name: 'rejected_failed', error };
  }
}
