import { ApplicationFailure } from '@temporalio/workflow';
import { commanding } from '../proxies.js';
import { clear, raise } from './attention.js';
import { findOrder, type Case } from './case.js';
import { refusalOf, type Command } from './commands.js';
import { deadlinesOf, isOverdueName } from './deadlines.js';
import { hear } from './hearing.js';
import type { RegisterCommand } from './messages.js';
import { replaceKit } from './remedies.js';
import { review } from './review.js';
import type { Run } from './run.js';
import { stateOf } from './view.js';
import type { OrderState } from './messages.js';

/** Carries out one command and answers with the state after it. */
export async function carryOut(run: Run, command: Command): Promise<OrderState> {
  const { orderId } = command;
  switch (command.kind) {
    case 'register':
      await register(run, orderId, command.registration);
      break;
    case 'cancel':
      hear(run, await commanding.cancelOrder.executeWithOptions({ summary: `cancel ${orderId}` }, [orderId]));
      break;
    case 'replaceKit':
      await replaceKit(run, orderId);
      break;
    case 'resolveProblem':
      await resolveProblem(run, orderId, command.decision);
      break;
    default:
      return command satisfies never;
  }
  review(run);
  return stateOf(run.kase);
}

async function register(run: Run, orderId: string, registration: RegisterCommand['registration']): Promise<void> {
  const { kase } = run;
  const question = { key: orderId, reason: 'registered_another_order', orderId } as const;
  try {
    const account = kase.labAccountId === undefined ? {} : { labAccountId: kase.labAccountId };
    const call = { orderId, registration, ...account };
    hear(run, await commanding.registerKit.executeWithOptions({ summary: `register ${orderId}` }, [call]));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.type === 'RegisteredAnotherOrder') raise(kase, question, Date.now());
    throw refusal;
  }
  clear(kase, ({ key, reason }) => key === question.key && reason === question.reason, Date.now());
}

async function resolveProblem(run: Run, orderId: string, decision: 'wait' | 'replace' | 'abandon'): Promise<void> {
  const { kase } = run;
  switch (decision) {
    case 'wait':
      return beMorePatient(kase, orderId);
    case 'replace':
      return replaceKit(run, orderId);
    case 'abandon':
      kase.ending = 'abandoned';
      return;
    default:
      return decision satisfies never;
  }
}

/** Every limit that was missed, and the time to decide, count anew from now. */
function beMorePatient(kase: Case, orderId: string): void {
  const asked = deadlinesOf(kase).filter(
    (deadline) =>
      deadline.orderId === orderId &&
      (deadline.name === 'decision' || (isOverdueName(deadline.name) && kase.met.includes(deadline.key))),
  );
  if (asked.length === 0) {
    throw ApplicationFailure.nonRetryable(
      `Order ${orderId} (${findOrder(kase, orderId)?.standing.phase}) has missed no limit that could be extended`,
      'NothingToResolve',
      { fields: [] },
    );
  }
  const since = new Date(Date.now()).toISOString();
  kase.patience.push(...asked.map(({ baseKey }) => ({ key: baseKey, since })));
}
