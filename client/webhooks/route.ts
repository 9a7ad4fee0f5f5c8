import { appointmentSnapshotOf } from '../../service/appointment/snapshot.js';
import { canonicalId } from '../../service/canonical-id.js';
import { readEvent, type ReceivedEvent, teamOf } from '../../service/webhooks/events.js';
import { utcInstant } from '../../service/timestamps.js';
import { replayableSeconds } from '../../service/webhooks/signature.js';
import { deliverConnection } from './connection-events.js';
import { within } from '../within.js';
import type { Destinations, Message, Routed } from './destinations.js';
import { deliverHealthData } from './health-data-events.js';
import { isRejected, storeRejected } from './rejected-events.js';
import {
  deliverAppointment,
  deliverCriticalResult,
  deliverMatchReview,
  deliverOrder,
  deliverParsingJob,
} from './workflow-of-event.js';

/** The result of a whole message. */
export interface RoutedMessage extends Routed {
  eventType?: string;
  kind?: ReceivedEvent['kind'];
  /** When the service changed what the event is about; ISO 8601 in UTC. */
  happenedAt?: string;
}

/** Routes a message. Never rejects: a failure is an answer too. */
export async function route(message: Message, destinations: Destinations): Promise<RoutedMessage> {
  const event = readEvent(message.value);
  const { eventType } = event;
  const team = teamMatch(event, message, destinations);
  const routed =
    team === 'foreign' ? ({ name: 'foreign_team' } as const) : await deliverEvent(event, message, destinations);
  const settled = isRejected(routed) ? await storeRejected(routed, eventType, message, destinations) : routed;
  const happenedAt = timeOf(event);
  return {
    ...settled,
    kind: event.kind,
    ...(eventType !== undefined && { eventType }),
    ...(team === 'own' && { isOwnTeam: true }),
    ...(happenedAt !== undefined && { happenedAt }),
  };
}

/** Match reviews, parsing jobs and most health data name no time of the change. */
function timeOf(event: ReceivedEvent): string | undefined {
  if (event.kind === 'order') return utcInstant(event.order.updated_at);
  if (event.kind === 'critical_result') return event.report.updatedAt ?? event.report.createdAt;
  if (event.kind === 'appointment') return appointmentSnapshotOf(event.appointment).events.at(-1)?.at;
  return undefined;
}

/** An event that names no team is handled as ours: envelope ids are missing in some deployments. */
function teamMatch(
  event: ReceivedEvent,
  { value }: Message,
  { teamId }: Destinations,
): 'own' | 'foreign' | 'not_named' {
  const named = 'teamId' in event ? event.teamId : teamOf(value);
  if (teamId === undefined || named === undefined) return 'not_named';
  return canonicalId(named).toLowerCase() === canonicalId(teamId).toLowerCase() ? 'own' : 'foreign';
}

async function deliverEvent(event: ReceivedEvent, message: Message, destinations: Destinations): Promise<Routed> {
  switch (event.kind) {
    case 'order':
      return once(message, destinations, () => deliverOrder(event, destinations));
    case 'critical_result':
      return once(message, destinations, () => deliverCriticalResult(event, destinations));
    case 'connection':
      return deliverConnection(event, message, destinations);
    case 'health_data':
      return deliverHealthData(event, message, destinations);
    case 'parsing_job':
      return once(message, destinations, () => deliverParsingJob(event, destinations));
    case 'appointment':
      return once(message, destinations, () => deliverAppointment(event, destinations));
    case 'match_review':
      return once(message, destinations, () => deliverMatchReview(event, destinations));
    case 'other':
      return { name: 'not_handled' };
    case 'unreadable':
      return { name: 'unreadable', problem: event.problem };
  }
}

/**
 * How long the database may take to recognise or remember a message. Orders do not depend on it, so after that the message is
 * delivered without it.
 */
const rememberWithinMs = 1_000;

/**
 * Delivers a message to Temporal unless a process has delivered it in the last minutes. Later repeats, which somebody
 * requested from the service, are delivered again.
 */
async function once({ id, digest }: Message, to: Destinations, deliverIt: () => Promise<Routed>): Promise<Routed> {
  const { taken, temporal, taskQueue } = to;
  if (!taken || digest === undefined) return deliverIt();
  // Other bytes under a known id are another message.
  const key = `${temporal.options.namespace}/${taskQueue}/${id}/${digest}`;
  const isKnown = await within(rememberWithinMs, taken.has(key, replayableSeconds)).catch(() => false);
  if (isKnown) return { name: 'repeated' };
  const routed = await deliverIt();
  if (routed.name === 'delivered') await within(rememberWithinMs, taken.add(key)).catch(() => undefined);
  return routed;
}
