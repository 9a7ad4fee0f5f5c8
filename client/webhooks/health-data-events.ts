import type { ConnectionEventReceived, HealthDataReceived } from '../../service/webhooks/events.js';
import { readHealthData } from '../../service/webhooks/health-data.js';
import { isAddressable } from '../../protocol/ids.js';
import { streamNoticedSignal, workoutStreamStart } from '../../protocol/workout-stream.js';
import { within } from '../within.js';
import type { Destinations, Message, Routed } from './destinations.js';
import { deliver } from './temporal-delivery.js';

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

/** A workout's stream is too large for its event: it is fetched after the event is stored, if the sink requests it. */
export async function deliverHealthData(
  event: HealthDataReceived,
  message: Message,
  to: Destinations,
): Promise<Routed> {
  const taken = await giveToSink(event, message, to);
  return taken.isStreamDue === true ? startStreamFetch(event, to) : taken;
}

async function startStreamFetch(event: HealthDataReceived, to: Destinations): Promise<Routed> {
  const { workoutId, userId } = { workoutId: undefined, ...readHealthData(event) };
  if (userId === undefined || workoutId === undefined || !isAddressable(workoutId)) {
    return { name: 'health_data_accepted' };
  }
  const start = workoutStreamStart({ userId, workoutId });
  return deliver(to, { workflowId: start.workflowId }, (workflow, taskQueue) =>
    workflow.signalWithStart(start.name, {
      ...start,
      taskQueue,
      signal: streamNoticedSignal,
      signalArgs: [{ userId }],
    }),
  );
}

export async function giveToSink(
  event: HealthDataReceived | ConnectionEventReceived,
  { id, body }: Message,
  to: Destinations,
): Promise<Routed & { isStreamDue?: boolean }> {
  if (!to.healthData) return { name: 'health_data_counted' };
  try {
    const outcome = await within(to.deadlineMs, to.healthData(event, id, body));
    if (outcome === 'set_aside') return { name: 'health_data_set_aside' };
    if (outcome === 'user_deleted') return { name: 'health_data_unwanted' };
    return { name: 'health_data_accepted', ...(outcome === 'stream_due' && { isStreamDue: true }) };
  } catch (error) {
    return { name: 'health_data_failed', error };
  }
}
