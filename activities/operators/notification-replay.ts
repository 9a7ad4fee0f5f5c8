import { log } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { bookAppointmentName } from '../../protocol/appointment/messages.js';
import { deleteUserName } from '../../protocol/deletion/messages.js';
import { deliveredFrom } from '../../protocol/ids.js';
import { linkProviderName } from '../../protocol/link/messages.js';
import { matchReviewName } from '../../protocol/match-review/messages.js';
import { deliverNotificationsName, type Notification } from '../../protocol/notifications/delivery.js';
import type { ReplayedPart, ReplayNotificationsPart } from '../../protocol/operators/notification-replay.js';
import { kitOrderName } from '../../protocol/order/messages.js';
import { parsingJobName } from '../../protocol/report/messages.js';
import { withoutMemos } from '../../protocol/search-attributes.js';
import { ofTaskQueue } from '../../protocol/task-queues.js';
import { heartbeating } from '../attempt.js';
import type { ActivityDependencies } from '../dependencies.js';
import { handOver, withoutTarget, type NotifyCall, type NotifyOutcome } from '../notifications/notifications.js';

/** A part that fails repeats little, and shows the operator how far it is. */
const partMs = 60_000;

/** The workflows that deliver notifications. */
const senders = [
  ...[kitOrderName, linkProviderName, parsingJobName, bookAppointmentName],
  ...[matchReviewName, deleteUserName, deliverNotificationsName],
];

export function notificationReplayActivities(
  dependencies: Pick<ActivityDependencies, 'temporal' | 'taskQueue' | 'target'>,
) {
  const { temporal, target } = dependencies;
  return {
    /**
     * Hands what the product accepted since then to `deliver-notifications/<workflow ID>`, one workflow after the other in the order of
     * their IDs. The histories of deliveries have it: their activities' inputs the notifications, their results the ids that arrived. A
     * repetition sends the same ids, which the product knows.
     */
    async replayNotifications({ since, after = '' }: ReplayNotificationsPart): Promise<ReplayedPart> {
      if (typeof target !== 'object') throw withoutTarget();
      const enoughAt = Date.now() + partMs;
      return heartbeating(async () => {
        const runs = await runsSince(dependencies, since);
        const left = [...runs.keys()].filter((source) => source > after).toSorted();
        const part: ReplayedPart = { notifications: 0, workflows: 0, unreadable: 0 };
        for (const [index, source] of left.entries()) {
          const found = await acceptedSince(temporal, runs.get(source) ?? [], Date.parse(since));
          part.unreadable += found.unreadable;
          if (found.notifications.length > 0) {
            const { notifications } = found;
            await handOver(dependencies, { notifications, refused: [], areEarlier: true });
            part.notifications += notifications.length;
            part.workflows += 1;
          }
          const workflowsToGo = left.length - index - 1;
          if (workflowsToGo > 0 && Date.now() > enoughAt) return { ...part, workflowsToGo, next: source };
        }
        return part;
      });
    },
  };
}

interface Run {
  workflowId: string;
  runId: string;
}

/** The runs that may have delivered something since then, by the workflow that it is from. */
async function runsSince(
  { temporal, taskQueue }: Pick<ActivityDependencies, 'temporal' | 'taskQueue'>,
  since: string,
): Promise<Map<string, Run[]>> {
  const types = senders.map((name) => `'${name}'`).join(', ');
  const query = `${ofTaskQueue(taskQueue)} AND WorkflowType IN (${types}) AND (ExecutionStatus = 'Running' OR CloseTime >= '${since}')`;
  const runs = new Map<string, Run[]>();
  for await (const { workflowId, runId } of withoutMemos(temporal.workflow).list({ query })) {
    const source = deliveredFrom(workflowId);
    runs.set(source, [...(runs.get(source) ?? []), { workflowId, runId }]);
  }
  return runs;
}

/** In the order in which the product accepted them, each once. */
async function acceptedSince(
  temporal: Client,
  runs: readonly Run[],
  sinceMs: number,
): Promise<{ notifications: Notification[]; unreadable: number }> {
  const accepted: { at: number; notifications: Notification[] }[] = [];
  let unreadable = 0;
  for (const { workflowId, runId } of runs) {
    try {
      accepted.push(...(await deliveriesOf(temporal, { workflowId, runId }, sinceMs)));
    } catch (error) {
      // Erased, or past its retention since it was listed.
      if (error instanceof WorkflowNotFoundError) continue;
      if (!(error instanceof Unreadable)) throw error;
      unreadable += 1;
      log.error('a history cannot be read: what it delivered is not sent again', { workflowId, runId, error });
    }
  }
  const inOrder = accepted.toSorted((a, b) => a.at - b.at).flatMap(({ notifications }) => notifications);
  const byId = new Map(inOrder.toReversed().map((each) => [each.id, each]));
  return { notifications: [...byId.values()].toReversed(), unreadable };
}

/** A payload of a history cannot be decrypted here. */
class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

async function deliveriesOf(
  temporal: Client,
  { workflowId, runId }: Run,
  sinceMs: number,
): Promise<{ at: number; notifications: Notification[] }[]> {
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const deliveries = [];
  for (const { eventTime, activityTaskCompletedEventAttributes: completed } of events ?? []) {
    const at = optionalTsToMs(eventTime) ?? 0;
    if (!completed || at < sinceMs) continue;
    const scheduled = events?.[Number(completed.scheduledEventId) - 1];
    const { activityType, input } = scheduled?.activityTaskScheduledEventAttributes ?? {};
    if (activityType?.name !== 'notify') continue;
    const { delivered } = await decoded<NotifyOutcome>(temporal, completed.result?.payloads);
    const { notifications } = await decoded<NotifyCall>(temporal, input?.payloads);
    deliveries.push({ at, notifications: notifications.filter(({ id }) => delivered.includes(id)) });
  }
  return deliveries;
}

/** The first of these payloads. */
async function decoded<Value>(temporal: Client, payloads: Payload[] | null | undefined): Promise<Value> {
  try {
    return await decodeFromPayloadsAtIndex<Value>(temporal.options.loadedDataConverter, 0, payloads);
  } catch (error) {
    throw new Unreadable('A payload cannot be decoded', { cause: error });
  }
}
