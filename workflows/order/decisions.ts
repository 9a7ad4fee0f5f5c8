import { meaningOf, readStatus } from '../../protocol/order/lifecycle.js';
import type { Remedy } from '../../protocol/order/policy.js';
import type { RaisedOrderAttention } from '../../protocol/order/state.js';
import { loggedRefusal, placingStopOf } from '../entity/commands.js';
import { atOnce, isDue, timeOf } from '../entity/loop-timer.js';
import { note } from '../entity/journal.js';
import { words } from '../entity/operators.js';
import { hour, iso } from '../entity/spans.js';
import { clear, enqueue, headOf, raise } from './announcements.js';
import {
  currentOrder,
  findOrder,
  lastEventId,
  needsSuccessor,
  outcomeOf,
  replacementOf,
  shipsKit,
  unreadOrder,
  type Chain,
  type ChainOrder,
} from './chain.js';
import {
  deadlinesOf,
  givingUpAt,
  needsRead,
  nextRecheck,
  isOverdueName,
  isPending,
  isReminder,
  isUnasked,
  type Deadline,
} from './deadlines.js';
import { endPostponement, isAbsent, isPostponed, postponeRefused, readOrder } from './reading.js';
import { isRedrawn } from './redraws.js';
import { replaceKit } from './replacing.js';
import type { KitOrderRun } from './run.js';

/** After its time no redraw is expected any more. */
export function endRedrawWaits(chain: Chain): void {
  const isRedraw = ({ name }: Deadline) => name === 'redraw';
  for (const { key } of dueOf(chain).filter(isRedraw)) chain.handledDeadlines.push(key);
}

/** True if a decision is due that waits for nothing else. */
export function isDecisionDue(chain: Chain): boolean {
  return needsDecision(chain) && !isPostponed(chain);
}

/** The decision may wait for a read of the order. */
function needsDecision(chain: Chain): boolean {
  if (unreadOrder(chain) !== undefined || outcomeOf(chain) !== undefined) return false;
  return (
    dueOf(chain).some(needsRead) ||
    toAskAgain(chain).length > 0 ||
    (isRecheckDue(chain) && (givingUpAt(chain) !== undefined || failedReplacement(chain) !== undefined)) ||
    questionToAsk(chain) !== undefined ||
    isAbsent(chain, currentOrder(chain).orderId)
  );
}

/** If there is nothing to decide any more, no decision waits for a read. */
export function endObsoleteWait(run: KitOrderRun): void {
  const { chain } = run;
  if (unreadOrder(chain) !== undefined || needsDecision(chain)) return;
  endPostponement(chain, timeOf(chain));
  if (outcomeOf(chain) !== undefined || !isReadAgainDue(chain)) return;
  delete chain.recheckAt;
  lookForOthers(run);
}

/** In the order in which they run, all on one read. */
const steps: readonly ((run: KitOrderRun) => Promise<void> | void)[] = [
  handleDue,
  askAgain,
  recheck,
  giveUp,
  applyRemedy,
];

/**
 * Takes the decisions that are due: asking a person, replacing a kit (`replacing.ts`), giving an order up. Silence may only mean a lost
 * webhook, and a webhook may be late. So the order is read first, and without an answer nothing is decided.
 */
export async function decideByPolicy(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  const { orderId } = currentOrder(chain);
  const answer = await readOrder(run, orderId);
  if (answer === 'refused') postponeRefused(chain, orderId, timeOf(chain));
  if (answer !== 'read') return;
  const looksForOthers = isReadAgainDue(chain);
  // After the commands on this order, which may have changed what is due.
  await run.lanes.runAfterCommands(orderId, () => runSteps(run, orderId));
  // After all decisions: an order that is looked for again is unread, and nothing is decided before it was read.
  if (looksForOthers && chain.ending === undefined) lookForOthers(run);
}

async function runSteps(run: KitOrderRun, orderId: string): Promise<void> {
  const { chain } = run;
  for (const step of steps) {
    // The read, or a replacement, may have brought another order, which is read before anything is decided on it.
    const isKnown = unreadOrder(chain) === undefined && currentOrder(chain).orderId === orderId;
    if (outcomeOf(chain) !== undefined || !isKnown) return;
    await step(run);
  }
}

function dueOf(chain: Chain): Deadline[] {
  return deadlinesOf(chain).filter((deadline) => isDue(chain, deadline.at) && isPending(chain, deadline));
}

async function handleDue(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  for (const deadline of dueOf(chain).filter(needsRead)) {
    if (chain.ending !== undefined) return;
    if (stands(chain, deadline)) await handlePassed(run, deadline);
  }
}

async function handlePassed(run: KitOrderRun, { key, name, orderId }: Deadline): Promise<void> {
  const { chain } = run;
  // The time to decide is over.
  if (!isOverdueName(name)) {
    chain.handledDeadlines.push(key);
    chain.ending = 'failed';
    return;
  }
  chain.recheckAt = nextRecheck(chain, timeOf(chain));
  if (name !== 'problem_persists') raise(chain, { key, reason: name, orderId }, timeOf(chain));
  else if (!(await carryOutRemedy(run, key))) return;
  chain.handledDeadlines.push(key);
}

/** A missed deadline may stand again, for example of an order that is the current one once more: then its question does, too. */
function askAgain({ chain }: KitOrderRun): void {
  for (const { key, name, orderId } of toAskAgain(chain)) {
    if (!isOverdueName(name)) continue;
    raise(chain, { key, reason: name, orderId }, timeOf(chain));
  }
}

function toAskAgain(chain: Chain): Deadline[] {
  return deadlinesOf(chain).filter(
    ({ key, name }) =>
      isOverdueName(name) &&
      chain.handledDeadlines.includes(key) &&
      !chain.attention.some((raised) => raised.key === key),
  );
}

function isRecheckDue(chain: Chain): boolean {
  return isReadAgainDue(chain) || isDue(chain, givingUpAt(chain));
}

function isReadAgainDue(chain: Chain): boolean {
  return isDue(chain, chain.recheckAt);
}

/**
 * An overdue order is read again from time to time, and what failed may succeed now: a replacement is tried again, and its question stands
 * until one is ordered.
 */
async function recheck(run: KitOrderRun): Promise<void> {
  if (!isRecheckDue(run.chain)) return;
  delete run.chain.recheckAt;
  const failed = failedReplacement(run.chain);
  if (failed) await carryOutRemedy(run, failed.key);
}

/** The service may show now what it did not show before. */
function lookForOthers(run: KitOrderRun): void {
  const { chain } = run;
  if (chain.lookedUp.length > 0) run.hasNews = true;
  chain.lookedUp = [];
}

/** An order that never moves again is given up. */
function giveUp({ chain }: KitOrderRun): void {
  const givingUp = givingUpAt(chain);
  if (givingUp === undefined) return;
  if (isDue(chain, givingUp)) chain.ending = 'unresolved';
  else chain.recheckAt ??= nextRecheck(chain, timeOf(chain));
}

/** Reminders ask for nothing that cannot be undone, so no read is made for them. */
export function remind(chain: Chain, now: number): void {
  if (chain.ending !== undefined) return;
  const due = dueOf(chain).filter(isReminder);
  for (const { key, name, at, ordinal, orderId } of due) {
    chain.handledDeadlines.push(key);
    // After a long silence of the worker several reminders may be due at once: one says it.
    if (due.some((other) => other.name === name && other.at > at)) continue;
    const head = headOf(chain, currentOrder(chain), `${key}/${name}`, iso(at));
    enqueue(chain, { ...head, type: name, data: { reminder: ordinal } });
    note(chain, `${words(name)} ${ordinal} is due`, now, orderId);
  }
}

function stands(chain: Chain, { key, at }: Deadline): boolean {
  return deadlinesOf(chain).some((deadline) => deadline.key === key && deadline.at <= at);
}

/** Does what the policy says about a kit that failed: it may replace one that was lost or not delivered, or whose sample cannot be used. */
async function applyRemedy(run: KitOrderRun): Promise<void> {
  const question = questionToAsk(run.chain);
  if (question) await carryOutRemedy(run, question.key);
}

/** The question of what becomes of a kit that failed, once no redraw is expected any more, until it is asked or answered. */
function questionToAsk(chain: Chain): Deadline | undefined {
  const deadlines = deadlinesOf(chain);
  if (deadlines.some(({ name, key }) => name === 'redraw' && !chain.handledDeadlines.includes(key))) return undefined;
  return deadlines.find((deadline) => isUnasked(chain, deadline));
}

/** A blocked sample is at the lab: no new kit helps it, so a person is asked. */
function remedyFor(chain: Chain, order: ChainOrder): Remedy {
  const { last, endedByStatus, phase } = order.standing;
  if (!needsSuccessor(order)) return phase === 'at_lab' ? 'ask' : allowed(chain, order, chain.policy.onProblem);
  const status = last?.status ?? '';
  if (readStatus(status).low === 'redraw_available') return 'ask';
  if (meaningOf(status).is === 'redraw') return allowed(chain, order, chain.policy.onSampleError);
  // An unknown failure, or one whose event is still to come, may be followed up by the service itself.
  if ((endedByStatus === true || meaningOf(status).is !== 'loss') && chain.policy.onLost === 'replace') return 'ask';
  return allowed(chain, order, chain.policy.onLost);
}

/**
 * Besides those of `remedyFor`, four kinds of order are never replaced automatically: one that was not handed over or was made elsewhere,
 * one for which no kit is shipped, one whose chain has used all its replacements, and one that the service has redrawn: the search would
 * find that redraw, which a person has given up. For these a person is asked.
 */
function allowed(chain: Chain, order: ChainOrder, remedy: Remedy): Remedy {
  const isReserved = replacementOf(chain, order.orderId) !== undefined;
  const isLeft = isReserved || chain.replacements.length < chain.policy.replacementLimit;
  const isOurs = chain.handedOver && chain.madeElsewhere !== true;
  const mayReplace = isOurs && shipsKit(order) && isLeft && !isRedrawn(chain.orders, order);
  return remedy === 'replace' && !mayReplace ? 'ask' : remedy;
}

/**
 * Does what the policy says now about a kit that failed, or about a problem that persists.
 *
 * @param key identifies the question, so it is asked once
 * @returns false when the order has moved on since it was read: then it is decided on again
 */
async function carryOutRemedy(run: KitOrderRun, key: string): Promise<boolean> {
  const { chain } = run;
  const order = currentOrder(chain);
  const { orderId } = order;
  const remedy = remedyFor(chain, order);
  if (remedy !== 'replace')
    clear(chain, (asked) => asked.key === key && asked.reason === 'replacement_failed', Date.now());
  if (remedy === 'fail') {
    chain.ending = 'failed';
    return true;
  }
  if (remedy === 'ask') {
    const reason = needsSuccessor(order) ? 'decision_needed' : 'problem_persists';
    raise(chain, { key, reason, orderId }, Date.now());
    return true;
  }
  remedy satisfies 'replace';
  try {
    await replaceKit(run, orderId);
    return true;
  } catch (error) {
    const refusal = loggedRefusal('replacement failed', { orderId }, error);
    // It was given up, or brought its results, meanwhile: nobody is asked any more.
    if (outcomeOf(chain) !== undefined) return false;
    const now = findOrder(chain, orderId) ?? order;
    if (lastEventId(now) > lastEventId(order)) {
      chain.recheckAt = atOnce;
      return false;
    }
    raise(chain, { key, reason: 'replacement_failed', orderId }, Date.now());
    const reservation = replacementOf(chain, orderId);
    const stop = placingStopOf(refusal);
    if (reservation && stop) reservation.stopReason = stop.stopReason ?? '';
    chain.recheckAt = stop ? Date.now() + betweenStoppedRounds : nextRecheck(chain, Date.now());
    return true;
  }
}

/** A lost kit has waited for days, and each round reads its order. */
const betweenStoppedRounds = hour;

function failedReplacement(chain: Chain): RaisedOrderAttention | undefined {
  return chain.attention.find(
    ({ reason, key }) => reason === 'replacement_failed' && deadlinesOf(chain).some((deadline) => deadline.key === key),
  );
}
