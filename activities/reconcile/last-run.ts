import { log } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client, type WorkflowExecutionDescription } from '@temporalio/client';
import type { OrderEvent, OrderSnapshot } from '../../service/order/snapshot.js';
import { isAhead } from '../../protocol/time.js';
import { deleteUserId, kitOrderId } from '../../protocol/ids.js';
import type { DeleteUserResult } from '../../protocol/deletion/messages.js';
import { hasCriticalResult, type Standing } from '../../protocol/order/lifecycle.js';
import type { KitOrderResult } from '../../protocol/order/messages.js';
import { labOrderIdKey, labPhaseKey } from '../../protocol/search-attributes.js';
import { described, endedRunsOf, isUndecodable } from '../workflow-runs.js';

/*
 * Decides whether the end of an order has already been processed, if its workflow is not running: it may have ended, or
 * never existed. The time of an event is not enough to decide it: the event may be backdated or listed late, and a run
 * may have ended without it. So the events of the last run's result are compared, and a new run is started only for an
 * end that no run has processed.
 */

/** The last run of an order's workflow, as far as the namespace retains it. */
export type LastRun =
  /**
   * It ended by itself, and knew these events, and these orders' critical results, which were acknowledged. If it was
   * forwarded, the critical results are those of another chain's workflow, which may still run.
   */
  | { ended: 'by_itself'; timeline: KitOrderResult['timeline']; criticalOrders: string[]; isForwarded: boolean }
  /** An operator ended it, or it failed: that says nothing about what became of its orders. */
  | { ended: 'otherwise' }
  /** It ended by itself, and what it knew cannot be decoded, or was erased: it is assumed to have known everything until then. */
  | { ended: 'unreadable'; at: Date }
  /** It runs: the orders of its chain and its phase as it has shown them, unless it is busy with something newer. */
  | { ended?: undefined; orderIds: readonly string[]; phase: string | undefined; isBusy: boolean };

export async function lastRunOf(temporal: Client, rootOrderId: string, userId?: string): Promise<LastRun | undefined> {
  const workflowId = kitOrderId(rootOrderId);
  try {
    const described = await temporal.workflow.getHandle(workflowId).describe();
    const { runId, status, closeTime } = described;
    if (closeTime === undefined) return runningAs(described);
    if (status.name !== 'COMPLETED') return { ended: 'otherwise' };
    const result = await resultOrNothing<KitOrderResult>(temporal, { workflowId, runId });
    if (result === 'undecodable') return { ended: 'unreadable', at: closeTime };
    const { timeline = [], criticalResults = [], chain = [], outcome, rootOrderId: root = rootOrderId } = result ?? {};
    const criticalOrders = criticalResults.map(({ orderId }) => orderId);
    if (outcome !== 'forwarded' || root === rootOrderId) {
      return { ended: 'by_itself', timeline, criticalOrders, isForwarded: false };
    }
    return {
      ended: 'by_itself',
      timeline,
      isForwarded: true,
      criticalOrders: criticalOrdersAfter(chain, await lastRunOf(temporal, root, userId)),
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError)
      return userId === undefined ? undefined : erasedRunOf(temporal, workflowId, userId);
    throw error;
  }
}

/**
 * The final deletion of a user has erased the runs of the user's orders, which the service may list for a while. While it still erases, it does
 * not show which runs it found: their orders count as known. A request after it is a run of its own, which erased nothing.
 */
async function erasedRunOf(temporal: Client, workflowId: string, userId: string): Promise<LastRun | undefined> {
  const latest = await described(temporal, deleteUserId(userId));
  if (latest === undefined) return undefined;
  const isErasing = latest.closeTime === undefined && latest.typedSearchAttributes.get(labPhaseKey) === 'deleted';
  if (isErasing) return { ended: 'unreadable', at: new Date() };
  for (const { runId } of await endedRunsOf(temporal, latest.workflowId)) {
    const result = await resultOrNothing<DeleteUserResult>(temporal, { workflowId: latest.workflowId, runId });
    const { histories } = result === 'undecodable' ? {} : (result ?? {});
    const erased = typeof histories === 'object' ? histories.erased : [];
    const run = erased.find((each) => each.workflowId === workflowId);
    if (run) return run.completedAt === undefined ? undefined : { ended: 'unreadable', at: new Date(run.completedAt) };
  }
  return undefined;
}

function runningAs({ typedSearchAttributes, raw }: WorkflowExecutionDescription): LastRun {
  return {
    orderIds: typedSearchAttributes.get(labOrderIdKey) ?? [],
    phase: typedSearchAttributes.get(labPhaseKey),
    isBusy: raw.pendingWorkflowTask != null,
  };
}

/** A key that is gone must not stop the comparison of all other orders. */
async function resultOrNothing<Result>(
  temporal: Client,
  { workflowId, runId }: Pick<WorkflowExecutionDescription, 'workflowId' | 'runId'>,
): Promise<Partial<Result> | null | 'undecodable'> {
  try {
    return (await temporal.workflow.getHandle(workflowId, runId).result()) as Partial<Result> | null;
  } catch (error) {
    if (!isUndecodable(error)) throw error;
    log.error(
      'the result of an order, or of a deletion, cannot be decoded: give the worker the key that it was encrypted with',
      {
        workflowId,
      },
    );
    return 'undecodable';
  }
}

/**
 * The critical results that a chain's workflow has. A forwarder has passed its own on: while the chain's workflow runs,
 * the alarm is raised there and stays until somebody acknowledges it.
 */
function criticalOrdersAfter(passedOn: KitOrderResult['chain'], ofChain: LastRun | undefined): string[] {
  if (ofChain?.ended === 'by_itself') return ofChain.criticalOrders;
  if (ofChain === undefined || ofChain.ended !== undefined) return [];
  return passedOn.filter(hasCriticalResult).map(({ orderId }) => orderId);
}

/**
 * True if the running workflow has certainly not received the order's end. It shows one phase for its whole chain, so with
 * several orders only an order that it does not list is certain.
 */
export function isEndNews(run: LastRun, orderId: string, { final, phase }: Pick<Standing, 'final' | 'phase'>): boolean {
  if (run.ended !== undefined || run.isBusy || !final) return false;
  if (!run.orderIds.includes(orderId)) return true;
  return run.orderIds.length === 1 && run.phase !== phase;
}

/**
 * The longest time by which an event may be backdated or listed late (not documented; assumed). If no run is left to
 * compare, an older end is assumed to have been processed by a run that is no longer retained.
 */
export const assumedBackdating = 7 * 24 * 60 * 60_000;

/**
 * @param last the order's last event; undefined if only its status shows that it has ended
 * @param from start of the range, ISO 8601
 */
export function isEndKnown(
  run: LastRun | undefined,
  snapshot: Pick<OrderSnapshot, 'orderId' | 'updatedAt' | 'interpretation' | 'flaggedCritical'>,
  last: Pick<OrderEvent, 'id' | 'at'> | undefined,
  from: string,
): boolean {
  const { orderId, updatedAt } = snapshot;
  const [at = from, ...more] = [last?.at, updatedAt].filter((time) => time !== undefined);
  if (run === undefined) {
    // Nothing else heals a critical result whose alarm was lost: its order need not have an event for it.
    const told = more.filter((time) => !isAhead(time, Date.now()));
    const times = hasCriticalResult(snapshot) ? [at, ...told] : [at];
    return times.every((time) => Date.parse(time) <= Date.parse(from) - assumedBackdating);
  }
  switch (run.ended) {
    case undefined:
    case 'otherwise':
      return false;
    case 'by_itself':
      if (hasCriticalResult(snapshot) && !run.criticalOrders.includes(orderId)) return false;
      return last === undefined || run.timeline.some((event) => event.orderId === orderId && event.eventId === last.id);
    case 'unreadable':
      return [at, ...more].every((time) => Date.parse(time) <= run.at.getTime() || isAhead(time, Date.now()));
    default:
      return run satisfies never;
  }
}
