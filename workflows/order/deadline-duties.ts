import { log } from '@temporalio/workflow';
import { reading } from '../proxies.js';
import { enqueue, headOf } from './announcements.js';
import { raise } from './attention.js';
import { currentOrder, unreadOrder, type Case } from './case.js';
import { refusalOf } from './commands.js';
import { deadlinesOf, givingUpAt, isOverdueName, type Deadline, type OverdueName } from './deadlines.js';
import { hear } from './hearing.js';
import { allowed, apply, retryReplacement } from './remedies.js';
import type { Run } from './run.js';

/** Reads the orders that a transaction names and no webhook ever told of. */
export async function readUnreadOrders(run: Run): Promise<void> {
  for (let orderId = unreadOrder(run.kase); orderId !== undefined; orderId = unreadOrder(run.kase)) {
    const { kase } = run;
    const told = await read(run, orderId);
    if (told === 'known') continue;
    kase.unreadable.push(orderId);
    // In an outage it is tried again; its own webhooks will tell of it, too.
    if (told === 'unanswered') kase.recheckAt ??= Date.now() + kase.policy.recheckEvery;
  }
}

/** Does what is due at the deadlines that have passed. */
export async function meetDeadlines(run: Run): Promise<void> {
  const { kase } = run;
  const now = Date.now();
  const due = deadlinesOf(kase).filter(({ key, at }) => at <= now && !kase.met.includes(key));
  for (const deadline of due) {
    if (kase.ending !== undefined) return;
    await meet(run, deadline, due);
  }
  await recheck(run, now);
}

async function meet(run: Run, deadline: Deadline, due: readonly Deadline[]): Promise<void> {
  const { kase } = run;
  const { name } = deadline;
  if (!stands(kase, deadline)) return;
  if (isOverdueName(name)) return meetOverdue(run, deadline, name);
  kase.met.push(deadline.key);
  if (name === 'decision') kase.ending = 'failed';
  if (name !== 'registration_reminder' && name !== 'return_reminder') return;
  // After a long silence of the worker several reminders may be due at once: one says it.
  if (due.some((other) => other.name === name && other.at > deadline.at)) return;
  const head = headOf(kase, currentOrder(kase), `${deadline.key}/${name}`, new Date(deadline.at).toISOString());
  enqueue(kase, { ...head, type: name, data: { reminder: deadline.ordinal } });
}

/** Silence may only mean a lost webhook: the order is read, and only if it really stands still a person is asked. */
async function meetOverdue(run: Run, deadline: Deadline, name: OverdueName): Promise<void> {
  const { kase } = run;
  await read(run, deadline.orderId);
  if (kase.ending !== undefined || !stands(kase, deadline)) return;
  kase.met.push(deadline.key);
  kase.recheckAt = Date.now() + kase.policy.recheckEvery;
  const order = currentOrder(kase);
  if (name === 'problem_persists') await apply(run, order, problemRemedy(kase), deadline.key);
  else raise(kase, { key: deadline.key, reason: name, orderId: deadline.orderId }, Date.now());
}

/** A blocked sample is at the lab: no new kit helps it. */
function problemRemedy(kase: Case) {
  return currentOrder(kase).standing.phase === 'at_lab' ? 'ask' : allowed(kase, kase.policy.onProblem);
}

/** Reads an overdue order again from time to time, and gives it up when it never moves. */
async function recheck(run: Run, now: number): Promise<void> {
  const { kase } = run;
  if (kase.ending !== undefined || Math.min(kase.recheckAt ?? Infinity, givingUpAt(kase) ?? Infinity) > now) return;
  delete kase.recheckAt;
  kase.unreadable = [];
  await retryReplacement(run);
  if (givingUpAt(kase) === undefined) return;
  await read(run, currentOrder(kase).orderId);
  const givingUp = givingUpAt(kase);
  if (givingUp === undefined) return;
  if (givingUp <= now) kase.ending ??= 'unresolved';
  else kase.recheckAt = Date.now() + kase.policy.recheckEvery;
}

function stands(kase: Case, { key, at }: Deadline): boolean {
  return deadlinesOf(kase).some((deadline) => deadline.key === key && deadline.at <= at);
}

/**
 * An order that was known and is gone ends the case; one that cannot be read now is as silent as before. A refusal
 * other than 404 (an id that is no UUID) will be one next time, too.
 */
async function read(run: Run, orderId: string): Promise<'known' | 'gone' | 'unanswered'> {
  try {
    const snapshot = await reading.readOrder.executeWithOptions({ summary: `read order ${orderId}` }, [orderId]);
    if (snapshot) hear(run, snapshot);
    else if (orderId === currentOrder(run.kase).orderId) run.kase.ending = 'order_gone';
    return snapshot ? 'known' : 'gone';
  } catch (error) {
    const { type, message } = refusalOf(error);
    log.warn('order could not be read', { orderId, type, message });
    return type === 'ServiceRefused' ? 'gone' : 'unanswered';
  }
}
