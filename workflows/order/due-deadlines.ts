import { enqueue, headOf } from './announcements.js';
import { raise } from './attention.js';
import { currentOrder, note, type Case } from './case.js';
import { deadlinesOf, givingUpAt, isOverdueName, isUnasked, type Deadline, type OverdueName } from './deadlines.js';
import { readOrder } from './reading.js';
import { allowed, apply, retryReplacement } from './remedies.js';
import type { Run } from './run.js';

/** Does what is due at the deadlines that have passed. */
export async function meetDeadlines(run: Run): Promise<void> {
  const { kase } = run;
  const now = Date.now();
  askAgain(kase, now);
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
  if (!stands(kase, deadline) || isUnasked(kase, deadline)) return;
  if (isOverdueName(name)) return meetOverdue(run, deadline, name);
  kase.met.push(deadline.key);
  if (name === 'decision') kase.ending = 'failed';
  if (name !== 'registration_reminder' && name !== 'return_reminder') return;
  // After a long silence of the worker several reminders may be due at once: one says it.
  if (due.some((other) => other.name === name && other.at > deadline.at)) return;
  const head = headOf(kase, currentOrder(kase), `${deadline.key}/${name}`, new Date(deadline.at).toISOString());
  enqueue(kase, { ...head, type: name, data: { reminder: deadline.ordinal } });
  note(kase, deadline.orderId, `${name.replaceAll('_', ' ')} ${deadline.ordinal} is due`, Date.now());
}

/** An order that had missed a deadline, was replaced, and is the current one again: the question stands once more. */
function askAgain(kase: Case, now: number): void {
  for (const { key, name, orderId } of deadlinesOf(kase)) {
    if (!isOverdueName(name) || !kase.met.includes(key)) continue;
    if (kase.attention.some((raised) => raised.key === key)) continue;
    raise(kase, { key, reason: name, orderId }, now);
    kase.recheckAt ??= now + kase.policy.recheckEvery;
  }
}

/** Silence may only mean a lost webhook: the order is read, and only if it really stands still a person is asked. */
async function meetOverdue(run: Run, deadline: Deadline, name: OverdueName): Promise<void> {
  const { kase } = run;
  await readOrder(run, deadline.orderId);
  if (kase.ending !== undefined || !stands(kase, deadline)) return;
  kase.met.push(deadline.key);
  kase.recheckAt = Date.now() + kase.policy.recheckEvery;
  const order = currentOrder(kase);
  if (name === 'problem_persists') await apply(run, order, problemRemedy(kase), deadline.key);
  else raise(kase, { key: deadline.key, reason: name, orderId: deadline.orderId }, Date.now());
}

/** A blocked sample is at the lab: no new kit helps it. */
function problemRemedy(kase: Case) {
  const order = currentOrder(kase);
  return order.standing.phase === 'at_lab' ? 'ask' : allowed(kase, order, kase.policy.onProblem);
}

/** Reads an overdue order again from time to time, and gives it up when it never moves. */
async function recheck(run: Run, now: number): Promise<void> {
  const { kase } = run;
  if (kase.ending !== undefined || Math.min(kase.recheckAt ?? Infinity, givingUpAt(kase) ?? Infinity) > now) return;
  delete kase.recheckAt;
  if (kase.unreadable.length > 0) run.heard = true;
  kase.unreadable = [];
  await retryReplacement(run);
  if (givingUpAt(kase) === undefined) return;
  await readOrder(run, currentOrder(kase).orderId);
  const givingUp = givingUpAt(kase);
  if (givingUp === undefined) return;
  if (givingUp <= now) kase.ending ??= 'unresolved';
  else kase.recheckAt = Date.now() + kase.policy.recheckEvery;
}

function stands(kase: Case, { key, at }: Deadline): boolean {
  return deadlinesOf(kase).some((deadline) => deadline.key === key && deadline.at <= at);
}
