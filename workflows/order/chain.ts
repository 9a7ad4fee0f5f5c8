import { meaningOf, standingOf, type Standing } from '../../protocol/order/lifecycle.js';
import type { OfActor } from '../../protocol/ids.js';
import type { CriticalResultReported, KitOrderInput } from '../../protocol/order/messages.js';
import type {
  CriticalResultRecord,
  DecidedOn,
  OrderOutcome,
  OrderPhase,
  RaisedOrderAttention,
  Replacement,
  Resolution,
} from '../../protocol/order/state.js';
import type { ResolvedOrderPolicy } from '../../protocol/order/policy.js';
import { readPassthrough, realRoot, rootOf, siblingsToRead } from '../../protocol/order/root-order.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { type Attentive, nothingYet, wasRaised } from '../entity/attention.js';
import { refuse } from '../entity/commands.js';
import type { Outbox } from '../entity/outbox.js';
import { openPolicy, type Governed } from '../entity/policy.js';
import { foldSnapshot, restoredOrders, type OrderRecord, type Orders } from './snapshots.js';
import { carriedOn, firstVersion } from '../entity/versions.js';
import { omitNullish } from '../../protocol/json.js';

/**
 * Everything a `kitOrder` run knows: what was reported (`orders`, the converging fold) and what was decided on it. It
 * is plain JSON and goes through continue-as-new as it is.
 */
export interface Chain extends Outbox, Attentive<RaisedOrderAttention>, Governed<ResolvedOrderPolicy> {
  version: number;
  rootOrderId: string;
  /** When the first run of this workflow began; milliseconds since the epoch. */
  openedAt: number;
  policy: ResolvedOrderPolicy;
  /** True if `placeKitOrder` handed this order over; otherwise nothing is replaced automatically. */
  handedOver: boolean;
  /** It was handed over without having been placed here: nothing is replaced automatically, either. */
  madeElsewhere?: true;
  /** The order was created for this hand-over, and no run has followed it before: there is no history to read. */
  isNew: boolean;
  /** The purpose of the run has been found out. */
  identified: boolean;
  reference?: string;
  /** The placing was cancelled before the hand-over: the workflow cancels this order once. */
  cancelRequest?: 'open' | 'carried_out';
  /** Who cancelled the placing. */
  cancelRequestedBy?: OfActor;
  labTestId?: string;
  labAccountId?: string;
  orders: Orders;
  replacements: Replacement[];
  /** Orders named by a transaction that were looked up, whether the service showed them or not: once is enough. */
  lookedUp: string[];
  /** Orders that a signal which could not be decrypted may have been about: not read since. */
  dropped?: string[];
  /** Keys of `unfinishedOrders` (`redraws.ts`) that were read. */
  lookedUpUnfinished?: string[];
  /** Orders that the service said it does not know: believed only when a later read says the same. */
  absent: Absence[];
  /** A decision waits for an order that could not be read. */
  unansweredRead?: UnansweredRead;
  /** Orders that are not of this chain and were not passed on yet, and the reports of their critical results. */
  foreign?: OrderSnapshot[];
  foreignReports?: CriticalResultReported[];
  /** The reports that were passed on, as canonical JSON: one that comes back is the chain's. */
  passedOn?: string[];
  announced: Announced[];
  /** Reports of critical results that were not looked at yet. */
  criticalReports: CriticalResultReported[];
  /** One for each order that has had one. */
  criticalResults: CriticalResultRecord[];
  /** Keys of the deadlines that have passed and were handled. */
  handledDeadlines: string[];
  /** More time, given by a person. */
  extensions: Extension[];
  /** Names of the settings that `setPolicy` has changed. */
  changedSettings?: string[];
  /** The sample id that each order was registered with here: the service may leave it out. */
  registered?: Record<string, string>;
  /** The latest change of the policy, as canonical JSON: it may be repeated after the end. */
  policyChange?: string;
  /** Decisions of people, the latest for each order. */
  resolutions: Resolution[];
  /** When an overdue order is read again. */
  recheckAt?: number;
  /** True once the log and the case file say that the service reports times in the future. */
  notedFutureTimes?: true;
  /**
   * An end that was decided here: `failed`, `abandoned`, `unresolved` or `order_gone`; or the one of an earlier run. `outcomeOf` returns
   * the outcome of any end.
   */
  ending?: OrderOutcome;
  /** The ending was put into the outbox. */
  endAnnounced?: boolean;
}

interface Absence {
  orderId: string;
  /** When the service first said so; milliseconds since the epoch. */
  since: number;
}

/** An order that the service did not show when a decision called for it. */
interface UnansweredRead {
  orderId: string;
  /** Milliseconds since the epoch, as `againAt`. */
  since: number;
  /** How many reads were not answered. */
  times: number;
  /** When it is read again. */
  againAt: number;
}

export interface Announced {
  orderId: string;
  eventId: number;
  phase: OrderPhase;
  problem?: string;
  /** The problem's detail: another one is another reason for it. */
  detail?: string;
  /** The interpretation of the results that was announced last. */
  interpretation?: string;
  /** The order's own status announced its end: the event for it has not come yet. */
  byStatus?: true;
}

interface Extension {
  /** Of the deadline. */
  baseKey: string;
  /** From when the limit counts again. */
  since: string;
}

/** One order of the chain with what its events mean. */
export interface ChainOrder extends OrderRecord {
  standing: Standing;
}

/** @param now milliseconds since the epoch */
export function openChain({ rootOrderId, policy, carried }: KitOrderInput, now: number): Chain {
  if (carried != null) {
    const chain = carriedOn<Chain>('state of the order', carried);
    return { ...chain, orders: restoredOrders(chain.orders) };
  }
  return {
    version: firstVersion,
    rootOrderId,
    openedAt: now,
    ...openPolicy('order', policy),
    handedOver: false,
    isNew: false,
    identified: false,
    orders: [],
    replacements: [],
    lookedUp: [],
    absent: [],
    announced: [],
    criticalReports: [],
    criticalResults: [],
    handledDeadlines: [],
    extensions: [],
    resolutions: [],
    ...nothingYet(),
  };
}

/** Folds a snapshot in; returns true if it reported anything new. */
export function foldIn(chain: Chain, snapshot: OrderSnapshot): boolean {
  const orders = foldSnapshot(chain.orders, snapshot);
  if (orders === chain.orders) return false;
  chain.orders = orders;
  return true;
}

export function ordersOf(chain: Chain): ChainOrder[] {
  return chain.orders.map(withStanding);
}

/** Worked out once for each record, because records never change. It says nothing that the record does not. */
const withStandings = new WeakMap<OrderRecord, ChainOrder>();

function withStanding(record: OrderRecord): ChainOrder {
  const known = withStandings.get(record);
  if (known) return known;
  const order = { ...record, standing: standingOf(record.events, record.latest.status) };
  withStandings.set(record, order);
  return order;
}

export function findOrder(chain: Chain, orderId: string | undefined): ChainOrder | undefined {
  const record = chain.orders.find((order) => order.orderId === orderId);
  return record && withStanding(record);
}

/** The sample id that an order is registered with. */
export function registeredAs(chain: Chain, orderId: string): string | undefined {
  const order = findOrder(chain, orderId);
  return chain.registered?.[orderId] ?? (order?.standing.registered ? order.latest.sampleId : undefined);
}

/**
 * The order that is expected to bring the results, or is to be replaced. It is the last order of the first group that is not empty:
 * 1. in play, and nobody gave it up; an order that was replaced is in play again once it moves,
 * 2. not replaced, and nobody gave it up,
 * 3. in play,
 * 4. all.
 */
export function currentOrder(chain: Chain): ChainOrder {
  const orders = ordersOf(chain);
  const notGivenUp = orders.filter((order) => !isGivenUp(chain, order));
  const inPlay = (order: ChainOrder) => isInPlay(chain, order);
  const current =
    notGivenUp.findLast(inPlay) ??
    notGivenUp.findLast(({ orderId }) => !isReplaced(chain, orderId)) ??
    orders.findLast(inPlay) ??
    orders.at(-1);
  if (!current) throw new TypeError('A chain has no current order before its first snapshot');
  return current;
}

export function isReplaced(chain: Chain, orderId: string): boolean {
  return replacementOf(chain, orderId)?.orderId !== undefined;
}

export function isInPlay(chain: Chain, order: ChainOrder): boolean {
  const replacement = replacementOf(chain, order.orderId);
  if (replacement?.orderId !== undefined && !hasMovedSince(order, replacement)) return false;
  return !order.standing.final || order.standing.phase === 'completed';
}

/** A person stopped following it, and it has brought no results all the same. */
export function isGivenUp({ resolutions }: Chain, { orderId, standing }: ChainOrder): boolean {
  if (standing.phase === 'completed') return false;
  return resolutions.some((answer) => answer.orderId === orderId && answer.decision === 'abandon');
}

/** A problem that is reported from the kit's last known place is not a movement; one from another place is. */
function hasMovedSince({ events, standing }: ChainOrder, { atEventId }: Replacement): boolean {
  const { arrivedBy = -1 } = standing;
  return arrivedBy > atEventId || events.some(({ id, status }) => id > atEventId && meaningOf(status).is !== 'problem');
}

export function replacementOf(chain: Chain, orderId: string): Replacement | undefined {
  return chain.replacements.find(({ replaces }) => replaces === orderId);
}

export function lastEventId({ standing }: ChainOrder): number {
  return standing.last?.id ?? -1;
}

export function decisionBasisOf(order: ChainOrder): DecidedOn {
  return omitNullish({ eventId: lastEventId(order), status: order.latest.status });
}

/** Set once the current order has an outcome. An open critical result keeps the workflow open all the same. */
export function outcomeOf(chain: Chain): OrderOutcome | undefined {
  if (chain.ending !== undefined) return chain.ending;
  const { phase } = currentOrder(chain).standing;
  return phase === 'completed' || phase === 'cancelled' ? phase : undefined;
}

/** Also for what had to wait: the order may have got its results meanwhile. */
export function requireOpen(chain: Chain): void {
  const outcome = outcomeOf(chain);
  if (outcome !== undefined) throw refuse('OrderEnded', `The order has ended: ${outcome}`, { reason: outcome });
}

/** It brings no results, or not all: a redraw or a replacement follows, or the chain fails. */
export function needsSuccessor({ standing }: ChainOrder): boolean {
  return standing.final && standing.phase !== 'completed' && standing.phase !== 'cancelled';
}

export function isKit({ latest }: ChainOrder): boolean {
  return (latest.method ?? 'testkit') === 'testkit';
}

/** A visit has no kit, and nothing is shipped for an import: its sample exists. */
export function shipsKit(order: ChainOrder): boolean {
  return isKit(order) && !order.standing.imported;
}

/** Imported, and not moved since. */
export function isAwaitedImport({ standing }: ChainOrder): boolean {
  return standing.imported && standing.phase === 'preparing';
}

/** A visit took the sample. A date for the results says so, too. */
export function isTaken({ standing, latest }: ChainOrder): boolean {
  return standing.drawnAt !== undefined || latest.resultsBy !== undefined;
}

/**
 * The root of the chain that an order without a hand-over is known to belong to, if that is another's: its first order was read and is the
 * same user's, or the service names nothing but a parent.
 */
export function rootElsewhere({ handedOver, rootOrderId, orders }: Chain): string | undefined {
  if (handedOver) return undefined;
  const snapshots = orders.map(({ latest }) => latest);
  const own = snapshots.find(({ orderId }) => orderId === rootOrderId);
  const root = realRoot(rootOrderId, snapshots);
  if (own === undefined || root === rootOrderId) return undefined;
  const first = snapshots.find(({ orderId }) => orderId === rootOf(own));
  const isSure = first ? first.userId === own.userId : own.transaction === undefined && own.parentId === root;
  return isSure ? root : undefined;
}

/**
 * True for another user's order that names this chain only in its passthrough and is not a reserved replacement. Everybody who uses
 * the account may give an order any passthrough.
 */
export function isForeign(chain: Chain, snapshot: OrderSnapshot): boolean {
  const { orderId, userId, parentId } = snapshot;
  const isKnown = isKnownForeign(chain, orderId);
  if (!(claims(chain, snapshot) || isKnown) || isReserved(chain, snapshot)) return false;
  const others = chain.orders.filter(
    ({ latest }) => latest.orderId !== orderId && (!claims(chain, latest) || isReserved(chain, latest)),
  );
  const users = others.flatMap(({ latest }) => latest.userId ?? []);
  if (userId === undefined || users.length === 0) return isKnown;
  if (users.includes(userId)) return false;
  return !others.some((other) => other.orderId === parentId || isOfTransactionOf({ latest: snapshot }, other));
}

/** The chain has passed it on, and nothing has brought it in since. */
export function isKnownForeign(chain: Chain, orderId: string): boolean {
  return wasRaised(chain, foreignQuestion(chain, orderId)) && !chain.orders.some((order) => order.orderId === orderId);
}

/** Asked of the chain's first order; that it was asked is also how the chain remembers which orders are foreign. */
export function foreignQuestion({ rootOrderId }: Chain, orderId: string) {
  return { key: `${orderId}/foreign`, reason: 'foreign_order', orderId: rootOrderId } as const;
}

function claims({ rootOrderId }: Chain, { orderId, passthrough }: OrderSnapshot): boolean {
  return orderId !== rootOrderId && readPassthrough(passthrough)?.root === rootOrderId;
}

function isReserved({ replacements }: Chain, { orderId, passthrough }: OrderSnapshot): boolean {
  const number = readPassthrough(passthrough)?.n;
  return replacements.some((reserved) => reserved.n === number && (reserved.orderId ?? orderId) === orderId);
}

/** An order that a dropped signal may have been about, or that the service's transaction names and that was never reported. */
export function unreadOrder(chain: Chain): string | undefined {
  const [dropped] = chain.dropped ?? [];
  if (dropped !== undefined) return dropped;
  const known = new Set([...chain.lookedUp, ...chain.orders.map(({ orderId }) => orderId)]);
  const unreadOf = (listed: readonly { id: string }[]) => listed.find(({ id }) => !known.has(id))?.id;
  const lists = chain.orders.map(({ latest }) => latest.transaction?.orders ?? []);
  return unreadOf(lists.filter((listed) => unreadOf(listed) !== undefined).flatMap(siblingsToRead));
}

/** The earlier order may have been reported without a transaction, before there was a redraw: then the later one's lists it. */
export function isOfTransactionOf(
  { latest: { transaction } }: Pick<OrderRecord, 'latest'>,
  earlier: OrderRecord,
): boolean {
  if (transaction === undefined) return false;
  const isListed = transaction.orders.some(({ id }) => id === earlier.orderId);
  return isListed || transaction.id === earlier.latest.transaction?.id;
}
