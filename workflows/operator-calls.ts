import { setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  callFaults,
  operatorCalls,
  type AnswerOf,
  type OperatorCall,
  type OperatorCallName,
  type TakenBy,
} from '../protocol/operators/operator-calls.js';
import {
  progressQuery,
  type ReplayNotificationsInput,
  type ReplayNotificationsProgress,
  type ReplayNotificationsResult,
} from '../protocol/operators/notification-replay.js';
import {
  progressQuery as rejectedProgressQuery,
  type ReplayRejectedEventsInput,
  type ReplayRejectedEventsResult,
} from '../protocol/operators/rejected-events.js';
import { activities } from './activity-options.js';
import { actorOf, refuseFields, throwRefusal } from './entity/commands.js';
import { table } from './entity/operators.js';
import { isObject, omitNullish } from '../protocol/json.js';

/** Carries out one call of an operator. Its ID is the lock of its subject, and its history says who did what. */
export async function operatorCall(call: OperatorCall): Promise<AnswerOf<OperatorCallName>> {
  const { name, input } = checked(call);
  return (steps[name] as Step)(input).catch(throwRefusal);
}

type Steps = { [Name in OperatorCallName]: (input: TakenBy<Name>) => Promise<AnswerOf<Name>> };
type Step = (input: object) => Promise<AnswerOf<OperatorCallName>>;

const steps: Steps = {
  listWebhooks: (place) => activities.listWebhooks(place),
  registerWebhook: async (endpoint) => {
    const registered = await activities.registerWebhook(endpoint);
    return {
      ...registered,
      ...(await activities.readWebhookSecret({ ...endpoint, webhookId: registered.endpoint.id })),
    };
  },
  readWebhook: (webhook) => activities.readWebhook(webhook),
  updateWebhook: (webhook) => activities.updateWebhook(webhook),
  readWebhookHeaders: (webhook) => activities.readWebhookHeaders(webhook),
  setWebhookHeaders: (webhook) => activities.setWebhookHeaders(webhook),
  // A rotation whose answer was lost is recognised by the secret: it is not the one from before.
  rotateWebhookSecret: async ({ secret, ...webhook }) => {
    const how = secret === undefined ? { before: await activities.fingerprintWebhookSecret(webhook) } : { secret };
    return activities.rotateWebhookSecret({ ...webhook, ...how });
  },
  deleteWebhook: (webhook) => activities.deleteWebhook(webhook),
  listRejectedEvents: (filter) => activities.listRejectedEvents(filter),
  replayRejectedEvents,
  discardRejectedEvent: (event) => activities.discardRejectedEvent(event),
  replayNotifications,
};

/** So many go in one activity: a page costs one, and one that fails late repeats little. */
const pageSize = 50;
const mostListed = 100;

/** From the latest to the earliest: what still cannot be stored comes up as a later event, and is not met again. */
async function replayRejectedEvents(input: ReplayRejectedEventsInput): Promise<ReplayRejectedEventsResult> {
  if ('id' in input) return activities.replayRejectedEvents(input);
  const { limit = 1_000, ...filter } = input;
  const all: ReplayRejectedEventsResult = { replayed: {}, left: {}, leftEvents: [] };
  setHandler(rejectedProgressQuery, () => all, { description: 'How many events are handled so far.' });
  for (let remaining = limit; remaining > 0; remaining -= pageSize) {
    const page = { ...filter, ...omitNullish({ after: all.next, limit: Math.min(remaining, pageSize) }) };
    const summary = `replay up to ${page.limit} rejected events`;
    const { next, ...done } = await activities.replayRejectedEvents.executeWithOptions({ summary }, [page]);
    add(all.replayed, done.replayed);
    add(all.left, done.left);
    all.leftEvents = [...all.leftEvents, ...done.leftEvents].slice(0, mostListed);
    delete all.next;
    setCurrentDetails(
      table(['', 'What became of it', 'Events'], [...rows('replayed', all.replayed), ...rows('left', all.left)]),
    );
    if (next === undefined) break;
    all.next = next;
  }
  return all;
}

/** In parts, of which each begins after the workflow that the one before it has come to. */
async function replayNotifications(input: ReplayNotificationsInput): Promise<ReplayNotificationsResult> {
  const all: ReplayNotificationsProgress = { notifications: 0, workflows: 0, unreadable: 0 };
  setHandler(progressQuery, () => all, {
    description: 'How much is sent again so far, and how many workflows are left.',
  });
  for (let after: string | undefined; ;) {
    const part = { ...input, ...(after !== undefined && { after }) };
    const { next, workflowsToGo, ...done } = await activities.replayNotifications(part);
    for (const name of ['notifications', 'workflows', 'unreadable'] as const) all[name] += done[name];
    delete all.workflowsToGo;
    if (next === undefined) return all;
    after = next;
    if (workflowsToGo !== undefined) all.workflowsToGo = workflowsToGo;
    setCurrentDetails(`${all.notifications} notifications are sent again; ${workflowsToGo} workflows left`);
  }
}

function add(counts: Record<string, number>, more: Record<string, number>): void {
  for (const [answer, count] of Object.entries(more)) counts[answer] = (counts[answer] ?? 0) + count;
}

function rows(word: string, counts: Record<string, number>): string[][] {
  return Object.entries(counts).map(([answer, count]) => [word, answer, String(count)]);
}

/** A backend in another language is checked by no compiler, and an error of any other kind would be retried forever. */
function checked(call: unknown): { name: OperatorCallName; input: object } {
  const { do: name, by: _by, ...input } = isObject(call) ? call : {};
  actorOf(call);
  if (!isCallName(name))
    throw refuseFields([{ field: 'do', message: `must be ${Object.keys(operatorCalls).join(', ')}` }]);
  const faults = callFaults(name, input);
  if (faults.length > 0) throw refuseFields(faults);
  // A run under another ID would not wait for those on the same subject.
  const { workflowId } = workflowInfo();
  const id = operatorCalls[name].id(input as never, workflowId.split('/').at(-1) ?? '');
  if (workflowId !== id) throw refuseFields([{ field: 'workflowId', message: `must be ${id}` }]);
  // Null is how other languages leave a field out, except where it removes a limit.
  const given = Object.entries(input).filter(([field, value]) => value !== null || field === 'rateLimit');
  return { name, input: Object.fromEntries(given) };
}

function isCallName(name: unknown): name is OperatorCallName {
  return typeof name === 'string' && Object.hasOwn(operatorCalls, name);
}
