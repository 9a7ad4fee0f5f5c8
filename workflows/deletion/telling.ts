import { graceEndOf, note, stateOf } from './case.js';
import { caseFileOf } from './case-file.js';
import { deleteUserId } from './address.js';
import type { DeletionAttentionReason } from './messages.js';
import type { DeletionNotification } from './notifications.js';
import type { Notification } from '../notifications.js';
import type { Telling } from '../outbox.js';
import { labAttentionKey, labPhaseKey, labUserIdKey } from '../search-attributes.js';
import { showToOperators } from '../visibility.js';
import type { Run } from './run.js';

/** What the product and the operators are told of a deletion. */

/** A notification less what every one has. */
type News = DeletionNotification extends infer Each
  ? Each extends DeletionNotification
    ? Pick<Each, 'type' | 'data'>
    : never
  : never;

/** @param name of what happened, once per deletion; the type where it happens once anyway */
export function tell({ kase, post }: Run, news: News, name: string = news.type): void {
  if (post.notifies === false) return;
  const { userId, requestedAt } = kase;
  const id = `${userId}/${requestedAt}/${name}`;
  post.outbox.push({ ...news, id, at: new Date(Date.now()).toISOString(), userId });
}

export function tellScheduled(run: Run): void {
  const { kase } = run;
  const graceUntil = new Date(graceEndOf(kase) ?? Date.now()).toISOString();
  const { scheduledBefore, work = [] } = kase;
  tell(run, { type: 'deletion_scheduled', data: { graceUntil, scheduledBefore, work } });
}

/** Asks a person to look, once while the reason stands. */
export function raise(run: Run, reason: DeletionAttentionReason): void {
  const { kase } = run;
  if (kase.attention.some((raised) => raised.reason === reason)) return;
  const attention = { reason, since: new Date(Date.now()).toISOString() };
  kase.attention.push(attention);
  note(kase, `attention: ${reason.replaceAll('_', ' ')}`, Date.now());
  tell(run, { type: 'attention_raised', data: attention }, `${reason}.${attention.since}/attention_raised`);
  show(run);
}

export function clear(run: Run, reason: DeletionAttentionReason): void {
  const { kase } = run;
  const attention = kase.attention.find((raised) => raised.reason === reason);
  if (!attention) return;
  kase.attention = kase.attention.filter((raised) => raised !== attention);
  note(kase, `no more attention: ${reason.replaceAll('_', ' ')}`, Date.now());
  tell(run, { type: 'attention_cleared', data: attention }, `${reason}.${attention.since}/attention_cleared`);
  show(run);
}

export function show({ kase }: Run): void {
  const { userId, phase, attention } = stateOf(kase);
  showToOperators(caseFileOf(kase), [
    { key: labUserIdKey, value: userId },
    { key: labPhaseKey, value: phase },
    { key: labAttentionKey, value: attention.map(({ reason }) => reason) },
  ]);
}

/** How a deletion's notifications go out, and what becomes of it when they do not. */
export function deletionTelling(run: Run): Telling<DeletionNotification> {
  return {
    asNotification,
    wordsFor: ({ type }) => type.replaceAll('_', ' '),
    delivered: () => clear(run, 'notifications_undelivered'),
    undelivered: () => raise(run, 'notifications_undelivered'),
  };
}

function asNotification({ id, at, type, data, userId }: DeletionNotification): Notification {
  const source = deleteUserId(userId);
  return { id, at, source, type: `user.${type}`, subject: userId, data: { userId, ...data } };
}
