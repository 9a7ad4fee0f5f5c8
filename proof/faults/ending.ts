import { lowLevel } from '../../sandbox/lab-service/lifecycle.js';
import type { Notification } from '../../test/rig/notification-receiver.js';
import type { Subject } from './plan.js';
import type { Stored } from './health-data.js';
import type { Answer } from './product.js';
import type { Stage } from './stage.js';

/** How one subject ended, without ids and times: with faults and without them it must be the same. */
export interface Ending {
  name: string;
  story: string;
  /** Why the story broke off, if it did. */
  error?: string;
  /** What the product's commands were answered. */
  answers: Pick<Answer, 'command' | 'answer'>[];
  /** The result of the workflows. */
  result: unknown;
  /** What the service has in the end, and the database of health data. */
  truth: Truth;
  /** What the product must have been notified of, each kind once. */
  notified: string[];
}

interface Truth {
  orders: { origin: unknown; statuses: string[]; isRegistered: boolean }[];
  jobs: string[];
  deleted: number;
  health: (Stored | undefined)[];
}

export interface Played {
  subject: Subject;
  users: string[];
  answers: Answer[];
  result?: unknown;
  error?: string;
}

/** Everything that is there in the end, read once. */
export type AtService = Awaited<ReturnType<typeof readService>>;

export async function readService({ control, health }: Pick<Stage, 'control' | 'health'>, users: readonly string[]) {
  await control.settleWebhooks();
  const [orders, jobs, deletedUsers] = await Promise.all([control.orders(), control.jobs(), control.deletedUsers()]);
  const stored = await Promise.all(users.map(async (user) => [user, await health?.of(user)] as const));
  return { orders, jobs, deletedUsers, health: new Map(stored) };
}

export function endingOf(played: Played, atService: AtService, notifications: readonly Notification[]): Ending {
  const { subject, users, answers, result, error } = played;
  return {
    name: subject.name,
    story: subject.story,
    ...(error !== undefined && { error }),
    // A person who types a code again still plays the same story.
    answers: answers.map(({ command, answer }) => ({ command, answer })),
    result: withoutIdentity(result),
    truth: truthOf(users, atService),
    notified: notifiedOf(users, notifications),
  };
}

function truthOf(users: readonly string[], { orders, jobs, deletedUsers, health }: AtService): Truth {
  const ofUsers = orders.filter(({ order }) => users.includes(order.user_id));
  return {
    orders: ofUsers.map(({ order }) => ({
      origin: order.origin,
      statuses: order.events.map(({ status }) => lowLevel(status)),
      isRegistered: order.patient_details !== null,
    })),
    // A file whose upload's answer and webhooks were lost is uploaded again: the kinds count, not the number.
    jobs: [...new Set(jobs.filter((job) => users.includes(job.user_id)).map(({ outcome }) => outcome))],
    deleted: deletedUsers.filter(({ user_id: id }) => users.includes(id)).length,
    health: users.map((user) => health.get(user)),
  };
}

/** The notifications that a product cannot do without. Phases may be skipped when several events arrive at once. */
const required =
  /^(result|correction|cancellation|replacement|ended|critical_result|completed|failed|link\.ended|appointment\.ended|user\.deleted|user\.deletion_undone)$/;

function notifiedOf(users: readonly string[], notifications: readonly Notification[]): string[] {
  const ofUsers = notifications.filter(({ data }) => users.includes(String(data['user_id'])));
  const byId = new Map(ofUsers.map((notification) => [notification.id, notification]));
  return [...byId.values()].filter(isRequired).map(described).toSorted();
}

function isRequired({ type, data }: Notification): boolean {
  return required.test(type) || (type === 'attention_raised' && data['reason'] === 'decision_needed');
}

function described({ type, data }: Notification): string {
  const { outcome = '', interpretation = '', reason = '' } = data;
  return [type, outcome, interpretation, reason].map(String).filter(Boolean).join(' ');
}

/**
 * How it came about, and not how it ended: ids, what was announced, if a deletion was withdrawn before the service had taken it, and when
 * a critical result was updated, which only its own webhook says.
 */
const ofTheWay = new Set([
  ...['version', 'policy', 'announced', 'eventId', 'atEventId', 'supersededBy'],
  ...['undo', 'connections', 'graceUntil', 'scheduledAt', 'updatedAt', 'sampleId', 'shipment'],
]);

/** Replaces ids by the order in which they appear, and every time by one word. */
function withoutIdentity(value: unknown): unknown {
  const names = new Map<string, string>();
  const named = (id: string): string => {
    const name = names.get(id) ?? `id ${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  const plain = (each: unknown): unknown => {
    if (typeof each === 'string') return plainText(each, named);
    if (Array.isArray(each)) return each.map(plain);
    if (typeof each !== 'object' || each === null) return each;
    const isOfOrder = 'rootOrderId' in each;
    const entries = Object.entries(each).filter(([name]) => !ofTheWay.has(name) && (name !== 'timeline' || isOfOrder));
    return Object.fromEntries(
      entries.map(([name, item]) => [plainText(name, named), plain(item)] as const).toSorted(byName),
    );
  };
  return plain(value);
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

function plainText(text: string, named: (id: string) => string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, named)
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})/g, 'a time')
    .replaceAll(/(?<=\/)\d+/g, 'an event')
    .replaceAll(/(?:calm|faulty)-(?=order-|other-)/g, '');
}
