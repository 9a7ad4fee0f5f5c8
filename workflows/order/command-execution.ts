import { ApplicationFailure } from '@temporalio/workflow';
import { commanding } from '../proxies.js';
import type { FailureDetails } from '../failure-details.js';
import { clear, raise } from './attention.js';
import { findOrder, note, type Case } from './case.js';
import { validate } from './command-validation.js';
import { refusalOf } from '../command-queue.js';
import type { Command } from './command.js';
import { deadlinesOf, isOverdueName } from './deadlines.js';
import { hear } from './intake.js';
import type { RegisterCommand } from './messages.js';
import { replaceKit } from './replacement.js';
import { readOrder } from './reading.js';
import { review } from './review.js';
import type { Run } from './run.js';
import { stateOf } from './view.js';
import type { OrderState } from './messages.js';

/** Carries out one command and answers with the state after it. */
export async function carryOut(run: Run, command: Command): Promise<OrderState> {
  const { orderId } = command;
  // Commands before it may have changed what this one was accepted for.
  validate(run, command);
  switch (command.kind) {
    case 'register':
      await register(run, orderId, command.registration);
      break;
    case 'cancel':
      await cancel(run, orderId);
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
  note(run.kase, orderId, doneBy(command), Date.now());
  review(run);
  return stateOf(run.kase);
}

function doneBy(command: Command): string {
  switch (command.kind) {
    case 'register':
      return 'the product registered the kit';
    case 'cancel':
      return 'the product cancelled the order';
    case 'replaceKit':
      return 'the product asked for a new kit';
    case 'resolveProblem':
      return `decided: ${command.decision}`;
    default:
      return command satisfies never;
  }
}

async function cancel(run: Run, orderId: string): Promise<void> {
  try {
    hear(run, await commanding.cancelOrder.executeWithOptions({ summary: `cancel ${orderId.slice(0, 8)}` }, [orderId]));
  } catch (error) {
    throw await refused(run, orderId, refusalOf(error));
  }
}

/** An order that the service does not find any more is gone, which ends the case. */
async function refused(run: Run, orderId: string, refusal: ApplicationFailure): Promise<ApplicationFailure> {
  const [details] = (refusal.details ?? []) as Partial<FailureDetails>[];
  if (details?.status === 404) await readOrder(run, orderId);
  return refusal;
}

async function register(run: Run, orderId: string, registration: RegisterCommand['registration']): Promise<void> {
  const { kase } = run;
  const question = { key: orderId, reason: 'registered_another_order', orderId } as const;
  try {
    const account = kase.labAccountId === undefined ? {} : { labAccountId: kase.labAccountId };
    const call = { orderId, registration, chain: kase.orders.map((order) => order.orderId), ...account };
    hear(run, await commanding.registerKit.executeWithOptions({ summary: `register ${orderId.slice(0, 8)}` }, [call]));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.type === 'RegisteredAnotherOrder') raise(kase, question, Date.now());
    throw await refused(run, orderId, refusal);
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
