import { condition, isCancellation } from '@temporalio/workflow';
import { refusalOf } from './command-queue.js';
import type { Notification } from './notifications.js';
import { notifying } from './proxies.js';

/** What waits to be told, in the state of whoever tells it: it goes through continue-as-new. */
export interface Outbox<Told extends { id: string }> {
  /** Whether the worker has a target for notifications. Until that is known everything waits. */
  notifies?: boolean;
  outbox: Told[];
  /** `notificationDeadline` in milliseconds: how long a batch is tried before `isUndelivered` is told. */
  policy: { notificationDeadline: number };
  /** The end waits for what is left: it is tried at once, also where it is not known whether there is a target. */
  isClosing?: boolean;
}

export interface Telling<Told> {
  /** As it goes out. */
  asNotification(told: Told): Notification;
  /** In a few words, for the activity's summary. */
  wordsFor(told: Told): string;
  delivered(): void;
  /** Could not be delivered in time; it stays in the outbox and is tried again. */
  undelivered(): void;
}

/** So many go in one activity: a burst costs one, and one that fails late repeats little. */
const batchSize = 20;

/** After a batch that could not be delivered: a short `notificationDeadline` must not fill the history with attempts. */
const pauseAfterFailure = '10 minutes';

/** Nothing is left to be told, or nobody to tell it to. */
export function isTold({ notifies, outbox }: Pick<Outbox<{ id: string }>, 'notifies' | 'outbox'>): boolean {
  return notifies === false || outbox.length === 0;
}

/**
 * Waits at an end for what is still to be told. A receiver that stays silent does not hold an end for ever. Whether there is
 * a target may not even be known yet: then it is tried all the same.
 *
 * @param left milliseconds
 * @param isWanted whether there is something else to do, which ends the waiting
 * @returns false when the time was over before
 */
export async function untilTold(from: Outbox<{ id: string }>, left: number, isWanted: () => boolean): Promise<boolean> {
  if (isTold(from)) return true;
  const isOver = () => isTold(from) || isWanted();
  from.isClosing = true;
  const isInTime = left > 0 && (await condition(isOver, left, { summary: 'until the product is told' }));
  delete from.isClosing;
  return isInTime;
}

/**
 * Empties the outbox, beside everything else: no fold and no command ever waits for a receiver. Ends only when it is
 * cancelled.
 */
export async function keepDelivering<Told extends { id: string }>(
  from: Outbox<Told>,
  telling: Telling<Told>,
): Promise<void> {
  try {
    for (;;) {
      await condition(() => (from.notifies ?? from.isClosing) === true && from.outbox.length > 0);
      const wasClosing = from.isClosing === true;
      if (await deliverBatch(from, telling)) continue;
      const summary = 'until the receiver is tried again';
      // The end may not wait as long as a pause: it has everything tried once more.
      await condition(() => !wasClosing && from.isClosing === true, pauseAfterFailure, { summary });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
}

async function deliverBatch<Told extends { id: string }>(from: Outbox<Told>, telling: Telling<Told>): Promise<boolean> {
  const batch = from.outbox.slice(0, batchSize);
  try {
    const summary = `tell: ${batch.map((told) => telling.wordsFor(told)).join(', ')}`;
    const notifications = batch.map((told) => telling.asNotification(told));
    const { notify } = notifying(from.policy.notificationDeadline);
    const { delivered } = await notify.executeWithOptions({ summary }, [notifications]);
    from.outbox = from.outbox.filter(({ id }) => !delivered.includes(id));
    telling.delivered();
    return true;
  } catch (error) {
    refusalOf(error);
    telling.undelivered();
    return false;
  }
}
