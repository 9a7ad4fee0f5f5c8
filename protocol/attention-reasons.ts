import type { AppointmentAttentionReason } from './appointment/messages.js';
import type { DeletionAttentionReason } from './deletion/messages.js';
import type { LinkAttentionReason } from './link/messages.js';
import type { MatchReviewAttentionReason } from './match-review/messages.js';
import type { AttentionReason } from './order/state.js';
import type { ReportAttentionReason } from './report/messages.js';

/*
 * Every reason for attention, by the work that raises it: docs/attention.md is generated from it, and `labops` knows the reasons by it.
 * Workflows do not import it.
 */

export interface AttentionText {
  /** The case that raises it. */
  raised: string;
  /** The advice to a person, with the commands that answer it. */
  answer: string;
  /** The events that clear it. */
  cleared: string;
}

type Texts<Reason extends string> = Readonly<Record<Reason, AttentionText>>;

const never = 'nothing: it stays until the workflow ends';

const shared: Texts<'notifications_undelivered' | 'unreadable_signal'> = {
  notifications_undelivered: {
    raised: 'the product’s endpoint does not accept a notification for longer than `notificationDeadline`',
    answer: 'fix the endpoint; it is retried, also for NOTIFY_RETRY_DAYS (30) after the workflow’s end',
    cleared: 'a delivery',
  },
  unreadable_signal: {
    raised: 'a signal was dropped: it cannot be decrypted with the worker’s keys',
    answer: 'compare the sender’s keys with the worker’s',
    cleared: never,
  },
};

const nextMove = 'the order’s next move';

export const orderAttention: Texts<AttentionReason> = {
  shipping_overdue: { raised: 'the kit has not shipped', answer: 'ask the service; `cancel`', cleared: nextMove },
  delivery_overdue: {
    raised: 'the kit is not moving on its way to the customer',
    answer: 'ask the service; `resolveProblem`, `replaceKit`',
    cleared: nextMove,
  },
  transit_to_lab_overdue: {
    raised: 'the kit is not moving on its way to the lab',
    answer: 'ask the service; `resolveProblem`, `replaceKit`',
    cleared: nextMove,
  },
  registration_overdue: { raised: 'the kit is not registered', answer: 'call the patient', cleared: nextMove },
  return_overdue: { raised: 'the sample has not been sent back', answer: 'call the patient', cleared: nextMove },
  results_overdue: {
    raised: 'the lab has no results yet',
    answer: 'ask the service',
    cleared: `${nextMove}, or a later date of the service`,
  },
  collection_overdue: {
    raised: 'an order by another method than a kit makes no progress',
    answer: 'ask the service',
    cleared: nextMove,
  },
  problem_persists: {
    raised: 'a problem in transit or a blocked sample outlasted `problemLimit`',
    answer: '`resolveProblem`: any decision for a kit in transit, all but `replace` for a blocked sample',
    cleared: `the answer, or ${nextMove}`,
  },
  decision_needed: {
    raised: 'the kit is lost, undeliverable or its sample unusable, and the policy asks',
    answer: '`resolveProblem`: any decision',
    cleared: `the answer, or ${nextMove}`,
  },
  critical_result: {
    raised: 'the service reported a critical result',
    answer: 'act on it, then `acknowledgeCriticalResult`',
    cleared: 'the acknowledgement, and nothing else',
  },
  unknown_interpretation: {
    raised: 'the service describes the results in a word that is not known here: it may be an alarm',
    answer: 'read the results; then, if the order still runs, `resolveProblem` with `wait`',
    cleared: 'the answer, or a word that is known',
  },
  late_arrival: {
    raised: 'two kits are under way: one that was replaced moves again, or the service redraws it after all',
    answer: 'cancel one of the two, or go on with this one: `abandon` the current order',
    cleared: 'the end of one of the two',
  },
  replacement_failed: {
    raised:
      'the replacement could not be ordered; it is retried daily if the policy says `replace`, hourly while placing is stopped',
    answer: 'see the log; `replaceKit`',
    cleared: `the replacement, or ${nextMove}`,
  },
  order_unreadable: {
    raised:
      'a decision is due, and the service has not shown the order for a day, or refuses to; nothing is decided meanwhile',
    answer: 'check the service and its key; `resolveProblem` with `abandon` stops following it',
    cleared: 'a read of the order',
  },
  registered_another_order: {
    raised: 'the sample id belongs to another order',
    answer: 'compare the kits',
    cleared: 'a registration of this order',
  },
  reference_conflict: {
    raised: 'a second reference claims the order',
    answer: 'look at both placing workflows; `resolveProblem` with `wait` lets the first keep it',
    cleared: 'the answer',
  },
  foreign_order: {
    raised:
      'another user’s order names this chain in its `passthrough`; it is followed by itself, its id is in the case file',
    answer: 'find out who created it; `resolveProblem` with `wait`',
    cleared: 'the answer',
  },
  cancellation_failed: {
    raised: 'the placing was cancelled when its order already existed, and the order’s own cancellation failed',
    answer: '`cancel` it, or let it continue: `resolveProblem` with `wait`',
    cleared: 'the answer',
  },
  notifications_undelivered: shared.notifications_undelivered,
  unreadable_signal: {
    ...shared.unreadable_signal,
    answer: `${shared.unreadable_signal.answer}; then \`resolveProblem\` with \`wait\``,
    cleared: 'the answer',
  },
  ambiguous_order: {
    raised:
      '(on `placeKitOrder`) after a lost answer it is not certain which order was created, or if one was; the placing has failed',
    answer: 'look at them; if none is the order, place it with another reference',
    cleared: never,
  },
  placing_delayed: {
    raised:
      '(on `placeKitOrder`) the service has not accepted the order for an hour, or refuses the key, or placing is stopped',
    answer: 'see its case file; placing keeps trying',
    cleared: 'the order, or its cancellation',
  },
};

export const linkAttention: Texts<LinkAttentionReason> = {
  connection_unconfirmed: {
    raised: 'the service does not show a connection that it reported',
    answer: 'ask the service; the user has to log in again',
    cleared: 'the end of the link',
  },
  ...shared,
};

export const reportAttention: Texts<ReportAttentionReason> = {
  parsing_overdue: {
    raised:
      'neither a result nor a review by `parsingDeadline`; if a review was requested, by that plus `reviewDeadline`',
    answer: 'ask the service; submit it again with a new reference',
    cleared: 'a result or a review',
  },
  review_overdue: {
    raised: 'no end of the review by `reviewDeadline`',
    answer: 'ask the service',
    cleared: 'the end of the review',
  },
  ambiguous_job: {
    raised: 'no submission has claimed this job, and it is not certain if an upload whose answer was lost made it',
    answer:
      'look at the user’s jobs at the service: if another has the same file, ignore this one (`labops reports cancel <job-id>` stops following it); else use it',
    cleared: never,
  },
  reference_conflict: {
    raised: 'a second reference claims the job',
    answer: 'look at both `submitReport` workflows',
    cleared: never,
  },
  upload_delayed: {
    raised: '(on `submitReport`) the file has not been uploaded for an hour, or the service refuses the key',
    answer: 'see its case file; it keeps trying for 7 days',
    cleared: 'the upload',
  },
  ...shared,
};

export const appointmentAttention: Texts<AppointmentAttentionReason> = {
  confirmation_overdue: {
    raised: 'pending for longer than `confirmationWait`',
    answer: 'ask the service',
    cleared: 'the confirmation, or another move',
  },
  visit_overdue: {
    raised: 'the time is over, and nobody reported a blood draw',
    answer: 'ask the service',
    cleared: 'the end, or another time',
  },
  order_cancelled: {
    raised: 'the order was cancelled, and its service-centre visit was not',
    answer: '`cancel` it, unless the order comes back',
    cleared: 'the cancellation, or the order’s return',
  },
  ...shared,
};

export const matchReviewAttention: Texts<MatchReviewAttentionReason> = {
  decision_needed: {
    raised: 'a result waits for a decision',
    answer: '`accept`, `reject` or `markUnsure`',
    cleared: 'a decision, here or at the service',
  },
  service_review_overdue: {
    raised: 'no decision of the service’s staff within `serviceReviewDeadline`',
    answer: 'ask the service',
    cleared: 'their decision',
  },
  review_unreadable: {
    raised: 'for a day, the service has not shown the review, or has refused to',
    answer: 'check the service and its key',
    cleared: 'a read of the review, or its end',
  },
  ...shared,
};

export const deletionAttention: Texts<DeletionAttentionReason> = {
  deletion_delayed: {
    raised: 'the service has not accepted the deletion for an hour, or refuses the key',
    answer: 'see its case file; it keeps trying',
    cleared: 'the service’s answer, or an undo',
  },
  undo_doubtful: {
    raised: 'an undo got no answer, and for an hour the service has not shown whether it happened',
    answer: 'see its case file; an undo may be sent again',
    cleared: 'the service’s answer',
  },
  confirmation_delayed: {
    raised: 'after the grace period, the service has not shown for an hour whether the user is gone',
    answer: 'see its case file; the product is notified only once the user is gone',
    cleared: 'the service’s answer',
  },
  erasure_delayed: {
    raised:
      'the user is gone, and for an hour the worker’s database has not erased the health data, or Temporal the histories',
    answer:
      'see its case file; fix the database, or allow the worker DeleteWorkflowExecution (or set ERASE_HISTORIES=false); it keeps trying',
    cleared: 'the erasure',
  },
  ...shared,
};
