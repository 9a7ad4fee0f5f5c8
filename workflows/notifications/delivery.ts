import * as messages from '../../protocol/notifications/delivery.js';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  log,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { deliverNotificationsId } from '../../protocol/ids.js';
import { ofAttention } from '../../protocol/search-attributes.js';
import type { NotifyOutcome } from '../../activities/notifications/notifications.js';
import { activities } from '../activity-options.js';
import { askedPause, refusalOf, refuse } from '../entity/commands.js';
import { code, moment, showToOperators, table } from '../entity/operators.js';
import { batchOf, inBrief, isOvertaken } from '../entity/outbox.js';
import { iso, day, minute } from '../entity/spans.js';
import { noticeUnreadable, continueInNewRun, isNewRunSuggested } from '../entity/loop.js';
import { carriedOn, firstVersion } from '../entity/versions.js';
import {
  type NotificationsLeft,
  type RefusedNotification,
  isAlarmReminder,
  type Notification,
} from '../../protocol/notifications/delivery.js';
import { isObject } from '../../protocol/json.js';

/** The undelivered notifications of one workflow; plain JSON, goes through continue-as-new as it is. */
interface Delivery {
  version: number;
  source: string;
  giveUpAfter: number;
  /** When the last notifications were handed over; milliseconds since the epoch. */
  since: number;
  /** When each of the undelivered ones was handed over, by its id. */
  arrivedAt?: Record<string, number>;
  /** Notifications that were given up: their time was over, or an operator cancelled the delivery. */
  givenUp?: messages.UndeliveredNotification[];
  /** Notifications were handed over that cannot be decrypted: perhaps an alarm. */
  unreadable?: true;
  waiting: Notification[];
  refused: messages.RefusedNotification[];
  delivered: number;
  discarded: number;
}

interface DeliveryRun {
  delivery: Delivery;
  /** Something came in that the main loop has not looked at yet. */
  hasNews: boolean;
  hasUnreadable?: boolean;
  /** The attempts that are under way; `resend` ends them, so it does not wait for a pause. */
  round?: CancellationScope;
}

/** A receiver that is down for weeks is not called every few minutes. */
const longestDeliveryPause = '1 hour' as const;

/** A later time might be too late to be written as a date. */
const longestGiveUp = 3_650 * day;

/** After attempts that lasted a day, or that ended at once because nothing more is tried. */
const betweenRounds = 10 * minute;

/**
 * Delivers what a workflow could not before it ended, in its order, for 30 days by default. A notification that the receiver
 * refuses for good is set aside, and the next one is sent; it waits for an operator's `resend` or `discard`.
 */
export async function deliverNotifications(
  input: messages.DeliverNotificationsInput,
): Promise<messages.DeliveryResult> {
  const run: DeliveryRun = { delivery: open(input), hasNews: false };
  const { delivery } = run;
  listen(run);
  try {
    await deliver(run);
  } catch (error) {
    // An operator cancelled it: nothing more is sent, and what is left must be seen.
    if (!isCancellation(error)) throw error;
    giveUp(delivery, undeliveredOf(delivery));
  }
  show(delivery);
  return resultOf(delivery);
}

async function deliver(run: DeliveryRun): Promise<void> {
  const { delivery } = run;
  await condition(() => !isDone(delivery), '10 seconds', { summary: 'first notifications' });
  for (;;) {
    if (run.hasUnreadable) delivery.unreadable = true;
    giveUp(delivery, overdueIn(delivery));
    if (isDone(delivery)) break;
    run.hasNews = false;
    show(delivery);
    if (isNewRunSuggested()) await continueAsNew(delivery);
    if (delivery.waiting.length > 0) await deliverOnce(run);
    else await awaitOperator(run);
  }
  await condition(allHandlersFinished);
}

function open(input: messages.DeliverNotificationsInput | null | undefined): Delivery {
  const { source = '', giveUpAfter, carried } = input ?? {};
  if (carried != null) return carriedOn<Delivery>('state of the delivery', carried);
  if (typeof source !== 'string' || workflowInfo().workflowId !== deliverNotificationsId(source)) {
    throw refuse(
      'InvalidCommand',
      'the workflow ID must be deliver-notifications/<the ID of the workflow they come from>',
    );
  }
  if (!(typeof giveUpAfter === 'number' && giveUpAfter > 0 && giveUpAfter <= longestGiveUp)) {
    throw refuse('InvalidCommand', 'giveUpAfter must be a number of milliseconds above 0, at most ten years');
  }
  const now = Date.now();
  return {
    version: firstVersion,
    source,
    giveUpAfter,
    since: now,
    waiting: [],
    refused: [],
    delivered: 0,
    discarded: 0,
  };
}

function isDone({ waiting, refused }: Delivery): boolean {
  return waiting.length === 0 && refused.length === 0;
}

/** Until when a notification is tried: those that come later do not prolong it. */
function endOf({ arrivedAt, since, giveUpAfter }: Delivery, id: string): number {
  return (arrivedAt?.[id] ?? since) + giveUpAfter;
}

/** When the next of them is given up. */
function nextEndOf(delivery: Delivery, ids = idsOf(delivery)): number {
  return Math.min(...ids.map((id) => endOf(delivery, id)));
}

function overdueIn(delivery: Delivery): messages.UndeliveredNotification[] {
  return undeliveredOf(delivery).filter(({ id }) => endOf(delivery, id) <= Date.now());
}

function giveUp(delivery: Delivery, left: readonly messages.UndeliveredNotification[]): void {
  if (left.length > 0) delivery.givenUp = [...(delivery.givenUp ?? []), ...left];
  remove(
    delivery,
    left.map(({ id }) => id),
  );
}

function remove(delivery: Delivery, ids: readonly string[]): void {
  delivery.waiting = delivery.waiting.filter(({ id }) => !ids.includes(id));
  delivery.refused = delivery.refused.filter(({ notification }) => !ids.includes(notification.id));
  const left = new Set(idsOf(delivery));
  delivery.arrivedAt = Object.fromEntries(Object.entries(delivery.arrivedAt ?? {}).filter(([id]) => left.has(id)));
}

/** One round: a batch and, if it fails, a pause. An operator, or something urgent that comes in, ends it so the next one begins at once. */
async function deliverOnce(run: DeliveryRun): Promise<void> {
  const round = new CancellationScope();
  run.round = round;
  try {
    await round.run(() => deliverBatch(run.delivery));
  } catch (error) {
    const isEnded = round.consideredCancelled && !CancellationScope.current().consideredCancelled;
    if (!(isCancellation(error) && isEnded)) throw error;
  } finally {
    delete run.round;
  }
}

/** Tried for a day at most: a batch costs a few events, whatever the number of its attempts. */
async function deliverBatch(delivery: Delivery): Promise<void> {
  const batch = batchOf(delivery.waiting);
  const ids = batch.map(({ id }) => id);
  const options = {
    scheduleToCloseTimeout: Math.max(Math.min(day, nextEndOf(delivery, ids) - Date.now()), 1000),
    retry: { maximumInterval: longestDeliveryPause },
    summary: `notify: ${batch.map(inBrief).join(', ')}`,
  };
  try {
    const outcome = await activities.notify.executeWithOptions(options, [{ notifications: batch }]);
    // A round is ended for another attempt, of what was being refused at that moment, too.
    const isEnded = CancellationScope.current().consideredCancelled;
    settle(delivery, isEnded ? { ...outcome, refused: [] } : outcome);
  } catch (error) {
    // A round that was ended has no pause.
    const refusal = refusalOf(error);
    await sleep(Math.max(betweenRounds, askedPause(refusal)), { summary: 'until the receiver is tried again' });
  }
}

function settle(delivery: Delivery, { delivered, refused }: NotifyOutcome): void {
  const settled = new Set([...delivered, ...refused.map(({ notification }) => notification.id)]);
  delivery.waiting = delivery.waiting.filter(({ id }) => !settled.has(id));
  delivery.refused.push(...refused);
  delivery.delivered += delivered.length;
}

/** Everything that is left was refused for good. */
async function awaitOperator(run: DeliveryRun): Promise<void> {
  const { delivery } = run;
  await condition(() => run.hasNews, Math.max(nextEndOf(delivery) - Date.now(), 1), {
    summary: 'an operator: resend or discard',
  });
}

async function continueAsNew(delivery: Delivery): Promise<void> {
  await condition(allHandlersFinished);
  const { source, giveUpAfter } = delivery;
  const input: messages.DeliverNotificationsInput = { source, giveUpAfter, carried: delivery };
  await continueInNewRun(input, messages.deliverNotificationsName);
}

function listen(run: DeliveryRun): void {
  const { delivery } = run;
  noticeUnreadable(run);
  setHandler(messages.notificationsLeftSignal, (left) => take(run, left), {
    description: 'Notifications that their workflow could not deliver, or that the receiver refused for good.',
  });
  setHandler(messages.stateQuery, () => stateOf(delivery), {
    description: 'What is still undelivered, and until when it is tried.',
  });
  setHandler(messages.resendUpdate, (command) => resend(run, command), {
    description: 'Tries now, refused notifications first.',
    validator: (command: messages.ResendCommand | undefined) => {
      const ids: unknown = command?.ids;
      if (ids == null) return;
      if (!Array.isArray(ids)) throw refuse('InvalidCommand', 'ids must be a list of notifications');
      requireKnown(delivery, ids);
    },
  });
  setHandler(messages.discardUpdate, (command) => discard(run, command), {
    description: 'Drops notifications that nobody needs any more.',
    validator: (command: messages.DiscardCommand) => {
      if (!Array.isArray(command?.ids) || command.ids.length === 0)
        throw refuse('InvalidCommand', 'ids must name notifications');
      requireKnown(delivery, command.ids);
    },
  });
}

/** The same notifications may be handed over twice. */
function take(run: DeliveryRun, given: unknown): void {
  const { delivery } = run;
  const known = delivery.waiting;
  const isNew = ({ id }: Notification) => !idsOf(delivery).includes(id);
  const { leftOut, ...left } = readNotificationsLeft(given);
  if (leftOut > 0) log.error('notifications without an id, a type or a time cannot be delivered', { leftOut });
  // Only the latest reminder is still of use, however long the receiver is down. What came earlier replaces none that waits.
  const later = left.areEarlier ? [] : left.notifications;
  const reminded = later.filter(isAlarmReminder).map(({ subject }) => subject);
  delivery.waiting = delivery.waiting.filter((each) => !(isAlarmReminder(each) && reminded.includes(each.subject)));
  const taken = left.notifications.filter(isNew);
  delivery.waiting = left.areEarlier ? [...taken, ...delivery.waiting] : [...delivery.waiting, ...taken];
  delivery.refused.push(...left.refused.filter(({ notification }) => isNew(notification)));
  delivery.since = Date.now();
  delivery.arrivedAt ??= {};
  for (const id of idsOf(delivery)) delivery.arrivedAt[id] ??= delivery.since;
  run.hasNews = true;
  // What is urgent does not wait for a pause, which may be an hour, and what came earlier is sent before what is being tried.
  if (left.areEarlier || isOvertaken(known, delivery.waiting)) run.round?.cancel();
}

function idsOf({ waiting, refused }: Delivery): string[] {
  return [...waiting, ...refused.map(({ notification }) => notification)].map(({ id }) => id);
}

function resend(run: DeliveryRun, command: messages.ResendCommand | undefined): messages.DeliveryState {
  const { delivery } = run;
  const isMeant = (id: string) => command?.ids?.includes(id) ?? true;
  const again = delivery.refused.filter(({ notification }) => isMeant(notification.id));
  delivery.refused = delivery.refused.filter((each) => !again.includes(each));
  delivery.waiting = [...again.map(({ notification }) => notification), ...delivery.waiting];
  run.hasNews = true;
  run.round?.cancel();
  return stateOf(delivery);
}

function discard(run: DeliveryRun, { ids }: messages.DiscardCommand): messages.DeliveryState {
  const { delivery } = run;
  const before = idsOf(delivery).length;
  remove(delivery, ids);
  delivery.discarded += before - idsOf(delivery).length;
  run.hasNews = true;
  // What is being tried may be what was discarded.
  run.round?.cancel();
  return stateOf(delivery);
}

function requireKnown(delivery: Delivery, ids: readonly string[]): void {
  const known = idsOf(delivery);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length === 0) return;
  throw refuse('NotificationNotFound', 'There is no undelivered notification with this id; see the state');
}

function stateOf(delivery: Delivery): messages.DeliveryState {
  const { source, delivered, discarded } = delivery;
  const triedUntil = iso(delivery.since + delivery.giveUpAfter);
  return { source, undelivered: undeliveredOf(delivery), triedUntil, delivered, discarded };
}

function undeliveredOf({ waiting, refused }: Delivery): messages.UndeliveredNotification[] {
  return [
    ...waiting.map(described),
    ...refused.map(({ notification, status }) => ({ ...described(notification), refusedWith: status })),
  ];
}

function described({ id, type, at }: Notification): messages.UndeliveredNotification {
  return { id, type: `labops.${type}`, at };
}

function resultOf(delivery: Delivery): messages.DeliveryResult {
  const { source, delivered, discarded } = delivery;
  return { source, delivered, discarded, givenUp: delivery.givenUp ?? [] };
}

/** Shows the case file, and attention while notifications are undelivered. It stays if they were given up or could not be read. */
function show(delivery: Delivery): void {
  const attention = [
    ...(isDone(delivery) && !delivery.givenUp ? [] : ['notifications_undelivered']),
    ...(delivery.unreadable ? ['unreadable_signal'] : []),
  ];
  const since = attention.map(() => iso(delivery.since));
  showToOperators(() => caseFileOf(stateOf(delivery)), ofAttention(attention, since));
}

function caseFileOf({ source, undelivered, triedUntil }: ReturnType<typeof stateOf>): string {
  const rows = undelivered
    .slice(0, 50)
    .map(({ id, type, at, refusedWith }) => [code(id), type, moment(at), String(refusedWith ?? '')]);
  return [
    `Undelivered notifications of ${code(source)}: **${undelivered.length}**, retried until ${moment(triedUntil)}`,
    '',
    ...(rows.length === 0 ? [] : [table(['Id', 'Type', 'Time (UTC)', 'Refused with'], rows)]),
  ].join('\n');
}

/**
 * Reads notifications that came by signal. What has no id, type and time cannot be delivered and is left out: a signal cannot be
 * refused, and one that fails would stop the delivery of all others. Never throws.
 */
export function readNotificationsLeft(value: unknown): NotificationsLeft & { leftOut: number } {
  const given = isObject(value) ? value : {};
  const [offered, offeredRefused] = [listOf(given['notifications']), listOf(given['refused'])];
  const notifications = offered.filter(isNotification);
  const refused = offeredRefused.filter(
    (each): each is RefusedNotification =>
      isObject(each) && isNotification(each['notification']) && typeof each['status'] === 'number',
  );
  const leftOut = offered.length + offeredRefused.length - notifications.length - refused.length;
  return { notifications, refused, leftOut, ...(given['areEarlier'] === true && { areEarlier: true as const }) };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNotification(value: unknown): value is Notification {
  if (!isObject(value) || !isObject(value['data'])) return false;
  const texts = [value['id'], value['type'], value['at'], value['source'], value['subject']];
  return texts.every((text) => typeof text === 'string') && !Number.isNaN(Date.parse(String(value['at'])));
}
