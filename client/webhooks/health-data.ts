import { WorkflowNotFoundError } from '@temporalio/client';
import type { ConnectionEventReceived, HealthDataReceived } from '../../service/webhooks/events.js';
import { readHealthData } from '../../service/webhooks/health-data.js';
import { utcInstant } from '../../service/timestamps.js';
import {
  deliverNotificationsStart,
  notificationsLeftSignal,
  defaultRetryDays,
} from '../../protocol/notifications/delivery.js';
import { isAddressable, isLinkAddressable, linkProviderId } from '../../protocol/ids.js';
import { connectionErrorNotification, connectionReportedSignal } from '../../protocol/link/messages.js';
import { anyProvider } from '../../protocol/link/provider-source.js';
import { streamNoticedSignal, workoutStreamStart } from '../../protocol/workout-stream.js';
import { answers, type Outcome } from './answers.js';
import { type Destinations, giveToSink } from './sinks.js';
import { send, sendWithStart, unlessDelivered } from './signal.js';
import type { Message } from './verify.js';

/* Events of health data and of connections. If the database is away, `giveToSink` (sinks.ts) decides: the event comes again. */

/** A workout's stream is too large for its event: it is fetched after the event is stored, if the sink requests it. */
export async function deliverHealthData(
  event: HealthDataReceived,
  message: Message,
  to: Destinations,
): Promise<Outcome> {
  const stored = await giveToSink(event, message, to);
  return stored.isStreamDue === true ? startStreamFetch(event, to) : stored;
}

async function startStreamFetch(event: HealthDataReceived, to: Destinations): Promise<Outcome> {
  const { workoutId, userId } = { workoutId: undefined, ...readHealthData(event) };
  if (userId === undefined || workoutId === undefined || !isAddressable(workoutId)) {
    return { name: 'health_data_accepted' };
  }
  return sendWithStart(to, workoutStreamStart({ userId, workoutId }), streamNoticedSignal, { userId });
}

/**
 * A link that waits for this connection is signalled, or the product is notified that it broke, and the sink gets the event too. Both at once, because the sender
 * waits.
 */
export async function deliverConnection(
  event: ConnectionEventReceived,
  message: Message,
  to: Destinations,
): Promise<Outcome> {
  const [passedOn, stored] = await Promise.all([passOn(event, message, to), giveToSink(event, message, to)]);
  const failed = [passedOn, stored].find((outcome) => outcome && answers[outcome.name].status !== 204);
  if (failed) return failed;
  if (!passedOn) return stored;
  return passedOn.name === 'delivered' || !to.healthData ? passedOn : { ...stored, also: passedOn.name };
}

async function passOn(event: ConnectionEventReceived, message: Message, to: Destinations) {
  if (event.eventType === 'provider.connection.created') return signalLink(event, to);
  if (event.eventType === 'provider.connection.error')
    return unlessDelivered(message, to, () => reportBrokenConnection(event, message.id, to));
  return undefined;
}

/**
 * The product is notified by the workflow that delivers what ended links left: the link of a connection that breaks normally has
 * ended long ago, and a run of its own would have nothing to decide.
 */
async function reportBrokenConnection(
  { userId, sourceSlug, data }: ConnectionEventReceived,
  messageId: string,
  to: Destinations,
): Promise<Outcome> {
  if (userId === undefined || sourceSlug === undefined || !isLinkAddressable(userId, sourceSlug)) return noConnection;
  const { error_type: errorType } = { error_type: undefined, ...(data as object) };
  const at = brokenAt(data) ?? new Date().toISOString();
  // A replayed event is the same event: the receiver recognises the notification by its id.
  const id = messageId.replace(/\/replay\/.*$/, '');
  const broken = connectionErrorNotification({ userId, provider: sourceSlug, errorType, messageId: id, at });
  const start = deliverNotificationsStart(broken, defaultRetryDays * 24 * 60 * 60_000);
  return sendWithStart(to, start, notificationsLeftSignal, { notifications: [broken], refused: [] });
}

/** When it broke, if the webhook says so: a late delivery then has the true time, and a repeated one the same. */
function brokenAt(data: unknown): string | undefined {
  const { errored_at: at, error_details: details } = {
    errored_at: undefined,
    error_details: undefined,
    ...(data as object),
  };
  const { errored_at: inDetails } = { errored_at: undefined, ...(details as object | undefined) };
  return [at, inDetails].map((time) => (typeof time === 'string' ? utcInstant(time) : undefined)).find(Boolean);
}

const noConnection: Outcome = { name: 'unreadable', problem: 'names no user, or no provider by its slug' };

async function signalLink({ userId, sourceSlug }: ConnectionEventReceived, to: Destinations): Promise<Outcome> {
  if (userId === undefined || !isAddressable(userId)) return noConnection;
  if (sourceSlug === undefined || !isLinkAddressable(userId, sourceSlug)) {
    // Nothing but a link that takes any provider can be meant.
    const signalled = await signalOneLink(linkProviderId(userId, anyProvider), to);
    return signalled.name === 'link_not_running' ? noConnection : signalled;
  }
  // A link without a chosen provider waits for a connection of any.
  const signalled = await Promise.all(
    [sourceSlug, anyProvider].map((provider) => signalOneLink(linkProviderId(userId, provider), to)),
  );
  const isFailed = ({ name }: Outcome) => answers[name].status !== 204;
  return signalled.find(isFailed) ?? signalled.find(({ name }) => name === 'delivered') ?? { name: 'link_not_running' };
}

async function signalOneLink(workflowId: string, to: Destinations): Promise<Outcome> {
  const signalled = await send(to, { workflowId }, (workflow) =>
    workflow.getHandle(workflowId).signal(connectionReportedSignal),
  );
  return signalled.error instanceof WorkflowNotFoundError ? { name: 'link_not_running' } : signalled;
}
