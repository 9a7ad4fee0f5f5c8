import { activityInfo } from '@temporalio/activity';
import { appointmentActivities } from '../../activities/appointment/appointments.js';
import { chainActivities } from '../../activities/order/chains.js';
import type { ActivityDependencies } from '../../activities/dependencies.js';
import { linkActivities } from '../../activities/link/links.js';
import { matchReviewActivities } from '../../activities/match-review.js';
import { notificationActivities } from '../../activities/notifications/notifications.js';
import { orderActivities } from '../../activities/order/orders.js';
import { placingActivities } from '../../activities/order/placing.js';
import { createPlacingCheck } from '../../activities/placing-stop.js';
import { policyActivities } from '../../activities/policy.js';
import { reportActivities } from '../../activities/report/reports.js';
import { runningWorkActivities } from '../../activities/deletion/running-work.js';
import { historyActivities } from '../../activities/deletion/histories.js';
import { receiptActivities } from '../../activities/deletion/receipt.js';
import { userActivities } from '../../activities/deletion/users.js';
import type { NotificationsLeft, Notification } from '../../protocol/notifications/delivery.js';
import { deliverNotificationsId } from '../../protocol/ids.js';
import { canonicalJson } from '../../protocol/json.js';
import { deliverNotifications } from '../../workflows/notifications/delivery.js';
import { day, hour, minute, second, type Life } from './life.js';
import { Network, Receiver, type Handle } from './service.js';
import type { Joins } from './recorded-run.js';
import { Server, type Execution } from './temporal.js';
import type { Activities } from './attempts.js';

/** One workflow with its world. */
export interface World {
  /** The service's part in it. */
  handle(request: Parameters<Handle>[0]): ReturnType<Handle>;
  /** Plans what happens: what the product asks for, and what happens at the service. */
  begin(): void;
  /** How long things go wrong, and how long it then takes to come to rest; milliseconds. */
  spans: { disturbed: number; calm: number };
  /** The service does its part, so everything comes to an end. */
  calmDown(): void;
  /** What must be so when the dust has settled. */
  check(): void;
  /** What differs from the usual dependencies of activities. */
  dependencies?: Partial<ActivityDependencies>;
}

/** What the worlds of all workflows have in common. */
export interface Stage {
  life: Life;
  server: Server;
  receiver: Receiver;
  /** What any run has announced, in this order, whether it arrived or not. */
  announced: Notification[];
}

/** Whose lives are played, with the workflows that it hands things over to. */
export interface Kind {
  workflows: Record<string, unknown>;
  world: new (stage: Stage) => World;
}

/** Plays one life from its first command until the dust has settled. */
export async function play(life: Life, { workflows, world: Make }: Kind, joinings: readonly Joins[]): Promise<void> {
  await life.play(async () => {
    const server = new Server(life, { ...workflows, deliverNotifications });
    const receiver = new Receiver(life);
    const stage: Stage = { life, server, receiver, announced: [] };
    const world = new Make(stage);
    const network = new Network(life, (request) => world.handle(request));
    const target = { url: 'http://product.invalid/notifications', secret: `whsec_${'c2VjcmV0'.repeat(6)}` };
    const temporal = server.client();
    const dependencies: ActivityDependencies = {
      ...{ service: network.service, temporal, taskQueue: 'lives', echoesPassthrough: true, erasesHistories: false },
      requireNotStopped: createPlacingCheck(temporal, 'lives'),
      ...{
        reportFiles: { open: () => Promise.reject(new TypeError('no file')) },
        encrypts: true,
        target,
        workerStore: 'off',
      },
      ...world.dependencies,
    };
    server.worker.renew = () => (server.worker.activities = noting(stage, activitiesWith(dependencies)));
    server.worker.renew();
    server.onNewRun = (input) => note(stage, carriedIn(input));
    world.begin();
    await life.until(life.now + world.spans.disturbed);
    life.tell('from here on nothing goes wrong');
    life.isCalm = true;
    world.calmDown();
    await life.until(life.now + 2 * hour);
    for (const { workflowId, status } of server.executions) {
      const isWaiting = workflowId.startsWith('deliver-notifications/') && status === 'RUNNING';
      if (isWaiting) void server.update(workflowId, 'resend', {});
    }
    await life.until(life.now + world.spans.calm);
    if (life.violations.length === 0) {
      checkAll(stage);
      world.check();
    }
    await server.replayAll(joinings);
  });
}

/** All that the workflows of these lives call. The others are costly to create, for each life again. */
function activitiesWith(dependencies: ActivityDependencies): Activities {
  return Object.assign(
    {},
    ...[policyActivities(), placingActivities(dependencies), orderActivities(dependencies)],
    ...[chainActivities(dependencies), linkActivities(dependencies), userActivities(dependencies)],
    ...[runningWorkActivities(dependencies), reportActivities(dependencies), notificationActivities(dependencies)],
    ...[appointmentActivities(dependencies), matchReviewActivities(dependencies)],
    ...[historyActivities(dependencies), receiptActivities(dependencies)],
  ) as Activities;
}

/**
 * Keeps what is announced before it is sent, or handed over. The sender is the product's only part that is not itself here: it would wait for
 * real sockets. What it comes to is the receiver's.
 */
function noting(stage: Stage, activities: Activities): Activities {
  const { receiver, server } = stage;
  const handOver = activities['handOverNotifications'] as unknown as (left: HandedOver) => Promise<void>;
  const handOverNotifications = async (left: HandedOver) => {
    note(stage, { outbox: [...left.notifications, ...left.refused.map(({ notification }) => notification)] });
    await handOver(left);
  };
  const notify = async ({ notifications }: { notifications: Notification[] }) => {
    note(stage, { outbox: notifications });
    const delivery = deliverNotificationsId(notifications[0]?.source ?? '');
    const isBehind =
      activityInfo().workflowExecution?.workflowId !== delivery && server.running(delivery) !== undefined;
    if (!isBehind) return receiver.take(notifications);
    await handOver({ notifications, refused: [], isPromised: true });
    return { delivered: [], refused: [], handedOver: true };
  };
  return { ...activities, notify, handOverNotifications };
}

/** The state that a run carries into the next one: all of it, or a part of a deletion's. */
function carriedIn(input: unknown): { outbox?: Notification[] } {
  const { carried = {} } = input as { carried?: { deletion?: object } };
  return carried.deletion ?? carried;
}

type HandedOver = NotificationsLeft & { isPromised: boolean };

function note({ announced, life, server }: Stage, { outbox = [] }: { outbox?: Notification[] }): void {
  for (const each of outbox) {
    const known = announced.find(({ id }) => id === each.id);
    // A receiver drops a known id, so other content under it would be lost. After a cancelled run the next one may say the same in its own way.
    if (known && contentOf(known) !== contentOf(each) && !server.hasCancelled)
      life.broken('one id stands for one announcement', each.id);
    if (known) continue;
    announced.push(each);
    life.count('announced');
  }
}

/** Reference and chain may have become known since, or the same may be announced at another time. */
function contentOf({ type, data: { reference: _reference, rootOrderId: _root, ...data } }: Notification): string {
  return canonicalJson([type, data]);
}

/** What a run has come to: its result, or nothing as long as it has none. */
export function resultOf<Result>(execution: Pick<Execution, 'run'> | undefined): Partial<Result> {
  const end = execution?.run.end;
  return end?.kind === 'completed' && end.result ? end.result : {};
}

/** The claims of more than one world. */
export const claims = {
  endsAreTrue: 'no end contradicts what the service shows',
  reflected: 'every acknowledged command is reflected at the service',
  handedOver: 'nothing is lost over a hand-over',
} as const;

/** Checks the claims about every workflow. */
function checkAll(stage: Stage): void {
  const { life, server } = stage;
  checkAnnouncements(stage);
  const open = server.replies.find(({ repliedAt }) => repliedAt === undefined);
  if (open) life.broken('every command is answered', `${open.name} has no answer`);
  for (const { type, status } of server.executions)
    if (status === 'RUNNING') life.broken('no life hangs', `${type} is open in the end`);
}

function checkAnnouncements({ life, server, receiver, announced }: Stage): void {
  const got = new Set(receiver.got.map(({ id }) => id));
  const dropped = announced.filter(({ id, type }) => !got.has(id) && !type.endsWith('reminder'));
  const [lost] = dropped;
  if (lost) life.broken('nothing that was announced is lost', `${lost.type} (${lost.id}) did not arrive`);
  for (const { id, type, at, data } of announced) {
    const moment = Date.parse(at);
    const isOfSilence = /(raised|ended)$/.test(type) && silence.test(String(data['reason'] ?? data['outcome']));
    if (isOfSilence && !server.reads.some((read) => read <= moment && read > moment - longestRead))
      life.broken('nothing follows from silence without asking the service', id);
  }
  for (const { workflowId, run } of server.executions) {
    const { outcome = 'forwarded' } = resultOf<{ outcome: string }>({ run });
    const isSaid = ({ source, type, data }: Notification) =>
      source === workflowId && (data['outcome'] === outcome || type.endsWith(outcome) || type === endTypes[outcome]);
    if (!['forwarded', 'unknown_user'].includes(outcome) && !announced.some(isSaid))
      life.broken('every end is announced', `${workflowId} ended as ${outcome}`);
  }
}

/** The questions and ends that may follow from silence alone. A webhook may only be late, so the service is asked first. */
const silence = /_overdue$|^(problem_persists|decision_needed|unresolved|expired|order_gone|job_gone|gone)$/;

/** A read is tried, and may wait for a worker, for so long; milliseconds. */
const longestRead = 15 * minute;

/** The notification that announces an order's end, for each outcome that is not the last word of its type. */
const endTypes: Readonly<Record<string, string>> = { completed: 'order.result', cancelled: 'order.cancellation' };

/** A webhook of the service: late, twice, in another order, or never. */
export function webhook({ life }: Stage, what: string, arrive: () => void): void {
  if (life.fails(0.7)) return life.tell(`  the webhook of ${what} gets lost`);
  life.after(life.fails() ? life.span(second, day) : life.between(30, 3 * second), () => {
    life.tell(`webhook: ${what}`);
    arrive();
  });
  // Repeated, or an empty one.
  if (life.fails(0.7)) life.after(life.span(second, 2 * day), () => (life.tell(`webhook, again: ${what}`), arrive()));
}
