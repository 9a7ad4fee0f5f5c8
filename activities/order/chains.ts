import { ServiceError, ServiceUnavailable, TooManyRequests } from '../../service/errors.js';
import { isIdRefused } from '../../service/order/orders.js';
import type { LabService } from '../../service/lab-service.js';
import type { CriticalResultReport } from '../../service/order/critical-result.js';
import { listedOnce, type ListedOnce, type OrderSnapshot } from '../../service/order/snapshot.js';
import { type EarlierRun, signalOrStart, startAfter } from '../../protocol/signal-or-start.js';
import { canonicalId, kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import type { HandOver, PlaceKitOrderResult } from '../../protocol/order/placing-messages.js';
import { readPassthrough, realRoot, rootOf, siblingsToRead } from '../../protocol/order/root-order.js';
import * as messages from '../../protocol/order/messages.js';
import { criticalResultStart, kitOrderStart } from '../../protocol/starts.js';
import { unreadableSignal } from '../../protocol/unencrypted.js';
import { labOrderIdKey, labUserIdKey } from '../../protocol/search-attributes.js';
import type { ActivityDependencies } from '../dependencies.js';
import { failureOf } from '../failures.js';
import { hasEndpoint } from '../notifications/notifications.js';
import { isOfUser } from './earlier-orders.js';
import { readIfKnown } from './orders.js';
import { described, lastEndedOf, resultOf } from '../workflow-runs.js';

/** Information that a run started by a webhook needs before it does anything. */
export interface ChainReading {
  /** Every order of the chain that can be read now, with the orders of its transaction once (`listedWhole`). */
  snapshots: ListedOnce[];
  /** The service does not know the order. */
  gone: boolean;
  /** The root whose workflow follows the chain. */
  rootOrderId: string;
  /** The order's passthrough is a copy of another user's: its reference is not the order's. */
  isAlone?: boolean;
  notifies: boolean;
  /** The result of the last run for the same root; that run announced everything in its timeline. */
  previous?: messages.KitOrderResult;
  /** The run before this one did not end by itself: what it had sent may still be under way. */
  followsBrokenRun?: boolean;
}

/** Finding the workflow that an order belongs to, and passing things on to it. */
export function chainActivities(dependencies: ActivityDependencies) {
  const { service, temporal, taskQueue, target } = dependencies;
  return {
    /** Hands a placed order over to the workflow that follows it, which a webhook may have started already. */
    async handOver(placed: HandOver): Promise<void> {
      await signalOrStart(...placedSignal(dependencies, placed));
    },

    async forwardOrder({ snapshot, rootOrderId }: { snapshot: OrderSnapshot; rootOrderId: string }): Promise<void> {
      const start = kitOrderStart(snapshot, rootOrderId);
      await signalOrStart(temporal.workflow, taskQueue, start, messages.orderChangedSignal, snapshot);
    },

    async forwardCriticalResult({ report, rootOrderId }: { report: CriticalResultReport; rootOrderId: string }) {
      const start = criticalResultStart(report, rootOrderId);
      await signalOrStart(temporal.workflow, taskQueue, start, messages.criticalResultReportedSignal, report);
    },

    /** A signal that could not be decrypted: the chain's workflow asks a person to look, and reads its orders. */
    async forwardUnreadable({ rootOrderId }: { rootOrderId: string }): Promise<void> {
      const start = kitOrderStart({ orderId: rootOrderId, events: [] }, rootOrderId);
      await signalOrStart(temporal.workflow, taskQueue, start, unreadableSignal);
    },

    /**
     * The order's webhooks do not name the chain that it joined. They arrive at the order's own workflow, which is
     * notified here to pass them on.
     */
    async joinChain(placed: messages.ReplacementPlaced): Promise<void> {
      const { snapshot } = placed;
      const start = kitOrderStart(snapshot, snapshot.orderId, placed.reference);
      await signalOrStart(temporal.workflow, taskQueue, start, messages.replacementPlacedSignal, placed);
    },

    /**
     * Reads an order, its transaction's orders and the last run of its workflow. An error is rethrown, so it is
     * retried: without an answer the run cannot know what to follow. Only a search for earlier runs that does not answer is
     * given up.
     */
    async readChain(rootOrderId: string, earlier?: EarlierRun): Promise<ChainReading> {
      const workflowId = kitOrderId(rootOrderId);
      const { followsBrokenRun, ...last } = await lastEndedOf(temporal, workflowId, earlier);
      const previous = await resultOf<messages.KitOrderResult>(temporal, { workflowId, ...last });
      const own = await whenServiceAsks(() => readIfReadable(service, rootOrderId));
      const isAlone = own.snapshot !== undefined && (await hasAnothersPassthrough(dependencies, own.snapshot));
      if (own.snapshot && isAlone) delete own.snapshot.passthrough;
      const snapshots = own.snapshot ? [own.snapshot, ...(await readSiblings(service, own.snapshot))] : [];
      return {
        snapshots: listedOnce(snapshots),
        gone: own.gone,
        // Only the worker that placed a replacement knows it as one: keep the orders that were passed on before.
        rootOrderId: previous?.outcome === 'forwarded' ? previous.rootOrderId : realRoot(rootOrderId, snapshots),
        notifies: hasEndpoint(target),
        ...(isAlone && { isAlone }),
        ...(previous && { previous }),
        ...(followsBrokenRun && { followsBrokenRun }),
      };
    },
  };
}

/** Somebody waits for the order that was created, and Temporal keeps a signal in milliseconds. */
const handOverMs = 5_000;

/** The same as the activity for an order that was created just now, in one call. It fails if a run has followed the order, and has ended, before it arrives. */
export async function handOverNew(dependencies: ActivityDependencies, placed: HandOver): Promise<void> {
  const { temporal } = dependencies;
  const signal = placedSignal(dependencies, placed);
  await temporal.withDeadline(Date.now() + handOverMs, () => startAfter({}, ...signal));
}

function placedSignal({ temporal, taskQueue, target }: ActivityDependencies, placed: HandOver) {
  const { snapshot, reference, policy } = placed;
  const start = kitOrderStart(snapshot, snapshot.orderId, reference, policy);
  const argument: messages.OrderPlaced = { ...placed, notifies: hasEndpoint(target) };
  return [temporal.workflow, taskQueue, start, messages.orderPlacedSignal, argument] as const;
}

/** The read is retried after any answer, at the time that the service names if it names one. */
async function whenServiceAsks<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const isStated = error instanceof TooManyRequests || error instanceof ServiceUnavailable;
    throw isStated ? failureOf(error, 'ServiceRefused') : error;
  }
}

/**
 * True for an order whose passthrough is another user's: it names a chain that has not taken it in (the chain's workflow says which
 * numbers it has reserved), or repeats that of a chain's first order, whose placing knows which order that is.
 */
async function hasAnothersPassthrough(
  { service, temporal }: ActivityDependencies,
  own: OrderSnapshot,
): Promise<boolean> {
  const ours = readPassthrough(own.passthrough);
  if (ours === undefined || own.userId === undefined) return false;
  const { root, reference } = ours;
  if (root === own.orderId) return false;
  if (root === undefined) {
    const placingId = placeKitOrderId(reference);
    const placing = await described(temporal, placingId);
    const user = placing?.typedSearchAttributes.get(labUserIdKey);
    if (placing?.status.name !== 'COMPLETED' || user === undefined || isOfUser(own.userId, user)) return false;
    // A registration gives an order to another user.
    const placed = await resultOf<PlaceKitOrderResult>(temporal, placing);
    return placed !== undefined && canonicalId(placed.orderId) !== canonicalId(own.orderId);
  }
  const first = await whenServiceAsks(() => readIfReadable(service, root));
  if (first.snapshot?.userId === undefined || first.snapshot.userId === own.userId) return false;
  const chain = await described(temporal, kitOrderId(root));
  return chain?.typedSearchAttributes.get(labOrderIdKey)?.includes(own.orderId) !== true;
}

/** An order whose id the service refuses is followed by its webhooks alone. */
async function readIfReadable(
  service: LabService,
  orderId: string,
): Promise<{ snapshot?: OrderSnapshot; gone: boolean }> {
  try {
    const snapshot = await readIfKnown(service, orderId);
    return snapshot ? { snapshot, gone: false } : { gone: true };
  } catch (error) {
    if (isIdRefused(error)) return { gone: false };
    throw error;
  }
}

async function readSiblings(service: LabService, own: OrderSnapshot): Promise<OrderSnapshot[]> {
  const siblings: OrderSnapshot[] = [];
  for (const { id } of siblingsToRead(own.transaction?.orders ?? [])) {
    if (id === own.orderId) continue;
    const { snapshot } = await readIfReadable(service, id).catch((error: unknown) => {
      // Only the root determines the chain; another order is read later, or sends webhooks of its own.
      if (!(error instanceof ServiceError) || id === rootOf(own)) throw error;
      return { snapshot: undefined };
    });
    if (snapshot) siblings.push(snapshot);
  }
  return siblings;
}
