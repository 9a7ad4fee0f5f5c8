import type { WorkflowExecutionInfo } from '@temporalio/client';
import {
  deliverNotificationsName,
  stateQuery,
  discardUpdate,
  resendUpdate,
  type DeliveryState,
  type DiscardCommand,
  type ResendCommand,
} from '../../protocol/notifications/delivery.js';
import { deliveredFrom, deliverNotificationsId } from '../../protocol/ids.js';
import {
  progressQuery,
  type ReplayNotificationsProgress,
  type ReplayNotificationsResult,
} from '../../protocol/operators/notification-replay.js';
import type { CallOptions } from '../call-options.js';
import { operate, type ProgressOptions } from '../operators/operator-calls.js';
import { callKinds, type TemporalCalls } from '../workflow-calls.js';
import { listWorkflows, type ListOptions } from '../workflow-list.js';
import { isRunning } from '../workflow-runs.js';
import { notificationErrorMap, NotificationNotFound, NotificationsInvalid } from './errors.js';

/** True if this can be the ID of one of our workflows. Temporal does not answer a request with a far longer one. */
function isWorkflowId(source: unknown): boolean {
  return typeof source === 'string' && /^[A-Za-z0-9._:/-]{1,512}$/.test(source);
}

const notificationCalls = callKinds(notificationErrorMap, 'The delivery');

/** One workflow whose product could not be notified before its end. */
export interface UndeliveredSummary {
  /** The ID of the workflow that the notifications come from, such as `kit-order/<order id>`. */
  source: string;
  /** When the first of them was left. */
  since: Date;
}

const deliveries = {
  workflows: `WorkflowType = '${deliverNotificationsName}'`,
  invalid: NotificationsInvalid,
  own: ({ workflowId }: WorkflowExecutionInfo) => ({ source: deliveredFrom(workflowId) }),
};

export type ReplayOptions = ProgressOptions<ReplayNotificationsProgress>;

/**
 * The notifications that were left when their workflow ended: your endpoint was down for longer than a minute, or
 * refused them for good. A worker keeps delivering them for 30 days (NOTIFY_RETRY_DAYS). Every method also rejects
 * with the errors of {@link CallOptions}.
 */
export class NotificationOperations {
  readonly #calls: TemporalCalls;

  constructor(calls: TemporalCalls) {
    this.#calls = calls;
  }

  /**
   * The workflows whose undelivered notifications are still tried, newest first; not those that were given up after
   * NOTIFY_RETRY_DAYS. Does not wake a workflow. Deadline: 30 seconds a page.
   * @throws NotificationsInvalid
   */
  async *list(options: ListOptions = {}): AsyncGenerator<UndeliveredSummary, void, undefined> {
    const running = this.#calls.iterate(notificationCalls.reading, options, () =>
      listWorkflows(this.#calls.client, deliveries, { all: true }, options),
    );
    for await (const { source, startedAt } of running) yield { source, since: startedAt };
  }

  /**
   * True if notifications of a workflow wait: the receiver refused them for good, or was down at its end. Does not wake a
   * workflow. Deadline: 30 seconds.
   * @param source the ID of the workflow that they come from
   */
  async isWaiting(source: string, options: CallOptions = {}): Promise<boolean> {
    return this.#calls.call(
      notificationCalls.reading,
      options,
      async () => isWorkflowId(source) && isRunning(this.workflow(source)),
    );
  }

  /**
   * The undelivered notifications of one workflow, and until when they are tried. Deadline: 30 seconds.
   * @param source the ID of the workflow that they come from
   * @throws NotificationNotFound if nothing of it is, or was lately, undelivered
   */
  async state(source: string, options: CallOptions = {}): Promise<DeliveryState> {
    return this.#calls.call(notificationCalls.reading, options, (call) =>
      call.query(this.workflow(source), stateQuery),
    );
  }

  /**
   * Tries now. Refused notifications are sent again too, before all others. Deadline: 30 seconds.
   * @param which `ids`: only these; without them all
   * @throws NotificationNotFound, NotificationsInvalid
   */
  async resend(source: string, which: ResendCommand = {}, options: CallOptions = {}): Promise<DeliveryState> {
    return this.#calls.call(notificationCalls.command, options, (call) =>
      call.update(this.workflow(source), resendUpdate, which),
    );
  }

  /**
   * Drops notifications that nobody needs any more. Deadline: 30 seconds.
   * @throws NotificationNotFound, NotificationsInvalid
   */
  async discard(source: string, which: DiscardCommand, options: CallOptions = {}): Promise<DeliveryState> {
    return this.#calls.call(notificationCalls.command, options, (call) =>
      call.update(this.workflow(source), discardUpdate, which),
    );
  }

  /**
   * Sends again, with their ids, the notifications that your product accepted since then, for a product that was restored from a backup.
   * Those of one workflow come in their order; docs/restore.md says how far back histories go. Deadline: 10 minutes; the replay itself may take
   * a day, and the same call waits for one that is under way.
   * @throws NotificationsNotConfigured, OperatorCallInvalid, OperatorCallInterrupted
   */
  async replay({ since }: { since: Date }, options: ReplayOptions = {}): Promise<ReplayNotificationsResult> {
    const input = { since: Number.isNaN(since.getTime()) ? String(since) : since.toISOString() };
    return operate(this.#calls, 'replayNotifications', input, options, progressQuery);
  }

  /** The Web UI shows the ID of the delivery itself, so that one is taken, too. */
  private workflow(source: string) {
    if (!isWorkflowId(source)) throw new NotificationNotFound('The source is not the ID of a workflow of the worker');
    const isDelivery = source.startsWith(deliverNotificationsId(''));
    return this.#calls.client.workflow.getHandle(isDelivery ? source : deliverNotificationsId(source));
  }
}
