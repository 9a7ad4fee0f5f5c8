import { CancellationScope, condition } from '@temporalio/workflow';
import {
  type RefusedNotification,
  isAlarm,
  isUrgent,
  type Notification,
} from '../../protocol/notifications/delivery.js';
import { activities } from '../activity-options.js';
import { askedPause, refusalOf } from './commands.js';
import { words } from './operators.js';
import { minute } from './spans.js';
import { afterMainLoop } from './steps.js';

/** The notifications that wait to be delivered, in the state of the workflow that makes them. */
export interface Outbox {
  /** False if the deployment sends no notifications. Until a worker has said so, or the contrary, everything waits. */
  notifies?: boolean;
  outbox: Notification[];
  /** This run has handed some to `deliverNotifications`: every further one goes there too, behind them. */
  handsOver?: boolean;
  /** The workflow has nothing else to do: a pause between attempts is over. */
  isEnding?: boolean;
  /** `notificationDeadline` in milliseconds: how long a batch is tried before `undelivered` is called. */
  policy: { notificationDeadline: number };
}

/** The actions of the workflow after a delivery. */
export interface AfterDelivery {
  delivered(): void;
  /** Nothing arrived in time; it stays in the outbox and is tried again. */
  undelivered(): void;
}

/** The most notifications in one activity: a burst costs one activity, and a batch that fails late repeats little. */
export const batchSize = 20;

/** After a batch that could not be delivered: a short `notificationDeadline` must not fill the history with attempts. */
const pauseAfterFailure = 10 * minute;

/** How long an end waits for the receiver. Then `deliverNotifications` goes on, and the workflow closes. */
const endWait = '1 minute';

/**
 * Puts a notification into the outbox, which `keepDelivering` empties. If the deployment has no receiver, nothing is kept and nothing
 * scheduled.
 */
export function enqueue(to: Pick<Outbox, 'notifies' | 'outbox'>, notification: Notification): void {
  if (to.notifies !== false) to.outbox.push(notification);
}

/** A notification of an area: the ids of what it is about go into its data. */
export function notificationOf(
  { area, source, subject }: { area: string; source: string; subject: string },
  { id, at, type, data, ...about }: { id: string; at: string; type: string; data: object },
): Notification {
  return { id, at, source, type: `${area}.${type}`, subject, data: { ...about, ...data } };
}

/** The most ids that are kept: more than one workflow usually announces. They are in the result. */
const mostAnnounced = 200;

/** Puts a notification into the outbox, once. */
export function enqueueOnce(
  to: Pick<Outbox, 'notifies' | 'outbox'> & { announced: string[] },
  made: Notification,
): void {
  if (to.announced.includes(made.id)) return;
  to.announced = [...to.announced, made.id].slice(-mostAnnounced);
  enqueue(to, made);
}

/** The first worker that says it decides for the run, so what waits is never dropped. Without a receiver nothing waits. */
export function setNotifies(of: Pick<Outbox, 'notifies' | 'outbox'>, notifies: boolean): void {
  of.notifies ??= notifies;
  if (!of.notifies) of.outbox = [];
}

/**
 * Puts the next link or deletion in the place of one that has ended, in a run that has not closed yet
 * (docs/internals/decisions/0015-the-next-link-begins-in-the-open-run.md). What is undelivered stays in the outbox, and so does
 * the way in which it is delivered.
 */
export function beginNext<State extends Outbox>(state: State, next: State): void {
  const { outbox, notifies, handsOver } = state;
  for (const key of Object.keys(state)) Reflect.deleteProperty(state, key);
  Object.assign(
    state,
    { ...next, outbox },
    notifies !== undefined && { notifies },
    handsOver !== undefined && { handsOver },
  );
}

function isEmpty({ notifies, outbox }: Outbox): boolean {
  return notifies === false || outbox.length === 0;
}

/**
 * Waits at an end for what is still undelivered, a minute at most; then hands it over, so an end is an end whatever the
 * receiver does.
 * @param hasNews whether there is something else to do, which ends the waiting
 */
export async function deliverBeforeEnd(from: Outbox, hasNews = () => false): Promise<void> {
  if (isEmpty(from)) return;
  const isOver = () => isEmpty(from) || hasNews();
  const summary = 'until the product is notified';
  from.isEnding = true;
  // Without knowing whether there is a receiver nothing is being delivered: waiting would not help.
  const isInTime = from.notifies === true && (await condition(isOver, endWait, { summary }));
  delete from.isEnding;
  if (!isInTime) await handOverNotifications(from, from.outbox, []);
}

/** The same for a run that acts on nothing any more: what is announced while the rest is handed over, an alarm above all, follows it. */
export async function deliverAtLast(from: Outbox): Promise<void> {
  while (!isEmpty(from)) await deliverBeforeEnd(from);
}

/**
 * Empties the outbox, beside everything else: no fold and no command ever waits for a receiver. Goes on as long as the run does.
 * @param isItsTurn false for the moment in which something else has to be scheduled first
 */
export async function keepDelivering(from: Outbox, after: AfterDelivery, isItsTurn: () => boolean): Promise<void> {
  for (;;) {
    await afterMainLoop(() => from.notifies === true && from.outbox.length > 0 && isItsTurn());
    const wasEnding = from.isEnding === true;
    if (from.handsOver === true) await handOverNotifications(from, from.outbox, []);
    else {
      // What has come since, and is urgent, ends the attempts for a batch, and the pause after them. For one that already waited the next
      // batch would have no room either, and its attempts would start over for nothing.
      const known = from.outbox.slice();
      const pause = await deliverBatch(from, known, after, isItsTurn);
      if (pause > 0) await waitForReceiver(from, known, pause, wasEnding);
    }
  }
}

/** An end, or what is urgent and has come since, does not wait for it. */
async function waitForReceiver(
  from: Outbox,
  known: readonly Notification[],
  pause: number,
  wasEnding: boolean,
): Promise<void> {
  const isOver = () => (!wasEnding && from.isEnding === true) || isOvertaken(known, from.outbox);
  await condition(isOver, pause, { summary: 'until the receiver is tried again' });
}

/**
 * True if an alarm has come since, or a reminder while nothing urgent waited: reminders must not keep restarting the attempts of what
 * will go first.
 */
export function isOvertaken(known: readonly Notification[], waiting: readonly Notification[]): boolean {
  const overtakes = known.some(isUrgent) ? isAlarm : isUrgent;
  return waiting.some((each) => overtakes(each) && !known.includes(each));
}

/**
 * What is urgent and comes meanwhile calls the attempts back: at once if none is running, else after the one that is, which may have arrived
 * (`notify` in `workflows/activity-options.ts`).
 * @returns the pause before the next batch, in milliseconds
 */
async function deliverBatch(
  from: Outbox,
  known: readonly Notification[],
  after: AfterDelivery,
  isItsTurn: () => boolean,
): Promise<number> {
  const batch = batchOf(from.outbox);
  const attempts = new CancellationScope();
  let isOver = false;
  const letUrgentPass = async () => {
    await afterMainLoop(() => isOver || (isOvertaken(known, from.outbox) && isItsTurn()));
    if (!isOver) attempts.cancel();
  };
  void letUrgentPass();
  try {
    const summary = `notify: ${batch.map(inBrief).join(', ')}`;
    const options = { scheduleToCloseTimeout: from.policy.notificationDeadline, summary };
    const notify = () => activities.notify.executeWithOptions(options, [{ notifications: batch }]);
    const { delivered, refused, handedOver } = await attempts.run(notify);
    remove(from, handedOver ? batch.map(({ id }) => id) : arrived(batch, delivered, refused));
    if (refused.length > 0) await handOverNotifications(from, [], refused);
    after.delivered();
    return 0;
  } catch (error) {
    // They were called back: the result of the last attempt does not matter.
    if (attempts.consideredCancelled) return 0;
    const refusal = refusalOf(error);
    after.undelivered();
    return Math.max(pauseAfterFailure, askedPause(refusal));
  } finally {
    isOver = true;
  }
}

/**
 * The ids that have arrived: those that the result names, or all but the refused if none is missing. An id with the time at which a message
 * was handled differs in a replay that handles the message together with what followed it.
 */
function arrived(
  batch: readonly Notification[],
  delivered: readonly string[],
  refused: readonly RefusedNotification[],
): readonly string[] {
  if (delivered.length + refused.length < batch.length) return delivered;
  const refusedIds = refused.map(({ notification }) => notification.id);
  return batch.map(({ id }) => id).filter((id) => !refusedIds.includes(id));
}

/** The next ones in order. What is urgent behind them takes the places of the last of them. */
export function batchOf(waiting: readonly Notification[]): Notification[] {
  const urgent = waiting.filter(isUrgent).slice(0, batchSize);
  const others = waiting.filter((each) => !isUrgent(each)).slice(0, batchSize - urgent.length);
  return waiting.filter((each) => urgent.includes(each) || others.includes(each));
}

/** `deliver-notifications/<workflow id>` takes them from here. */
async function handOverNotifications(
  from: Outbox,
  left: readonly Notification[],
  refused: readonly RefusedNotification[],
): Promise<void> {
  const notifications = [...left];
  // What is announced from now on must not overtake them.
  if (notifications.length > 0) from.handsOver = true;
  const summary = `hand over ${notifications.length + refused.length} notifications`;
  const handed = { notifications, refused: [...refused], isPromised: from.notifies === true };
  await activities.handOverNotifications.executeWithOptions({ summary }, [handed]);
  remove(
    from,
    [...notifications, ...refused.map(({ notification }) => notification)].map(({ id }) => id),
  );
}

function remove(from: Outbox, ids: readonly string[]): void {
  from.outbox = from.outbox.filter(({ id }) => !ids.includes(id));
}

/** `at lab`, `ended`: what a notification is about, in a few words. */
export function inBrief({ type, data }: Notification): string {
  const name = type.slice(type.indexOf('.') + 1);
  const { phase, outcome } = data;
  const what = name === 'phase_changed' ? phase : name === 'ended' ? outcome : name;
  return words(typeof what === 'string' ? what : name);
}

/**
 * Eight hexadecimal digits that stand for a text (FNV-1a over UTF-16 units), for ids that are logged: two texts differ in them, and a
 * reader of logs does not see the words. It keeps nothing secret from somebody who tries every word. Workflows have no `node:crypto`.
 */
export function shortDigest(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
