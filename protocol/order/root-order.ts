import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { compareText } from '../json.js';
import { omitNullish } from '../../service/json-object.js';
import { canonicalId, isAddressable } from '../ids.js';

/*
 * The chain that an order belongs to: a pure function of its snapshot, so a webhook finds its workflow without a
 * search.
 */

/** The content of our own passthrough. `root` is missing on the first order of a chain: it is its own root. */
interface Passthrough {
  root?: string;
  reference: string;
  /** 1 for the first order of a chain, 2 for its first replacement, and so on. */
  n: number;
}

/**
 * The exact key that we give each creation: `labops:<root order id or ->:<reference>:<n>`. A reference may itself
 * contain colons; the parts around it must not.
 */
export function writePassthrough({ root, reference, n }: Passthrough): string {
  return `labops:${root ?? '-'}:${reference}:${n}`;
}

const passthroughPattern = /^labops:([A-Za-z0-9._-]{1,128}):([A-Za-z0-9._:-]{1,128}):([1-9][0-9]{0,5})$/;

/** Reads our own passthrough; `undefined` for anything that another system wrote. */
export function readPassthrough(value: string | undefined): Passthrough | undefined {
  const match = passthroughPattern.exec(value ?? '');
  if (!match) return undefined;
  const [, root = '', reference = '', n = ''] = match;
  if (!isAddressable(root)) return undefined;
  return { ...(root !== '-' && { root: canonicalId(root) }), reference, n: Number(n) };
}

/** True if both were given to one creation. The reference of a chain may change between two attempts; a root and a number do not. */
export function isSameCreation(one: string | undefined, other: string): boolean {
  const [a, b] = [readPassthrough(one), readPassthrough(other)];
  return one === other || (a?.root !== undefined && a.root === b?.root && a.n === b.n);
}

/**
 * The root order, in this order: the root named in our own passthrough; the transaction's order with origin `initial`;
 * the end of the `parent_id` chain; the transaction's earliest `created_at`, then smallest id; the order's own id.
 *
 * A payload without passthrough can name a root that itself belongs to another chain (the redraw of a replacement):
 * a run that such a payload starts reads the order and its transaction first, and forwards if there is another root.
 */
export function rootOf(snapshot: OrderSnapshot): string {
  const passthrough = readPassthrough(snapshot.passthrough);
  if (passthrough?.root !== undefined) return passthrough.root;
  const { orderId, origin, parentId } = snapshot;
  const followsAnother = isRedraw({ origin }) || (parentId !== undefined && parentId !== orderId);
  if (passthrough && !followsAnother) return orderId;
  const siblings = siblingsOf(snapshot).toSorted(byCreationThenId);
  const initial = siblings.find((order) => order.origin === 'initial');
  return initial?.id ?? endOfParents(snapshot, siblings) ?? siblings[0]?.id ?? orderId;
}

/**
 * True if the service made the order from another one, whose passthrough it may carry: then it is not our own creation, and not a root if
 * another order is known.
 */
export function isRedraw({ origin }: { origin?: string | null | undefined }): boolean {
  return origin === 'redraw' || origin === 'recreation';
}

/** The root by everything that is known of the chain: the transaction's root may itself be a replacement whose passthrough names the chain's root. */
export function realRoot(orderId: string, snapshots: readonly OrderSnapshot[]): string {
  const own = snapshots.find((snapshot) => snapshot.orderId === orderId);
  if (!own) return orderId;
  const root = rootOf(own);
  const first = snapshots.find((snapshot) => snapshot.orderId === root);
  return first ? rootOf(first) : root;
}

/** The most orders of a transaction that are read: a kit is redrawn once or twice. */
const mostRead = 40;

/** The first order and the newest of a transaction; webhooks report the others. */
export function siblingsToRead(listed: readonly Sibling[]): readonly Sibling[] {
  if (listed.length <= mostRead) return listed;
  const [first, ...others] = listed.toSorted(byCreationThenId);
  return first === undefined ? [] : [first, ...others.slice(1 - mostRead)];
}

/** The transaction's orders; the order itself belongs to them even if its transaction lists only the others. */
function siblingsOf({ orderId, origin, createdAt, transaction }: OrderSnapshot): Sibling[] {
  const listed = transaction?.orders ?? [];
  const own = omitNullish({ id: orderId, origin, createdAt });
  const all = listed.some(({ id }) => id === orderId) ? listed : [...listed, own];
  return all.filter(({ id }) => isAddressable(id));
}

type Sibling = NonNullable<OrderSnapshot['transaction']>['orders'][number];

/**
 * Follows `parent_id` upwards; an order without a parent that is one itself is the end. A loop, which the service
 * should never send, counts as no answer.
 */
function endOfParents(snapshot: OrderSnapshot, siblings: readonly Sibling[]): string | undefined {
  const parents = new Map(siblings.map((order) => [order.id, addressable(order.parentId)]));
  if (snapshot.parentId !== undefined) parents.set(snapshot.orderId, addressable(snapshot.parentId));
  const seen = new Set([snapshot.orderId]);
  let last = snapshot.orderId;
  for (let parent = parents.get(last); parent !== undefined; parent = parents.get(parent)) {
    if (seen.has(parent)) return undefined;
    seen.add(parent);
    last = parent;
  }
  const isParent = siblings.some(({ parentId }) => parentId === last);
  return last === snapshot.orderId && !isParent ? undefined : last;
}

function addressable(id: string | undefined): string | undefined {
  return isAddressable(id) ? canonicalId(id) : undefined;
}

function byCreationThenId(a: Sibling, b: Sibling): number {
  return compareText(a.createdAt ?? '', b.createdAt ?? '') || compareText(a.id, b.id);
}
