import { log } from '@temporalio/workflow';
import { raise } from './attention.js';
import { currentOrder, findOrder, needsSuccessor, replacementOf, type Case, type ChainOrder } from './case.js';
import { refusalOf } from '../command-queue.js';
import { deadlinesOf, mayBeRedrawn } from './deadlines.js';
import { readStatus } from './lifecycle.js';
import type { Remedy } from './policy.js';
import { replaceKit } from './replacement.js';
import type { Run } from './run.js';

/** What the policy says about a kit that failed, once no redraw is to be expected any more. */
export async function takeRemedy(run: Run): Promise<void> {
  const { kase } = run;
  const order = currentOrder(kase);
  if (kase.ending !== undefined || !needsSuccessor(order)) return;
  const deadlines = deadlinesOf(kase);
  if (deadlines.some(({ name, key }) => name === 'redraw' && !kase.met.includes(key))) return;
  const question = deadlines.find(({ name }) => name === 'decision');
  if (!question || kase.attention.some(({ key }) => key === question.key)) return;
  if (kase.patience.some(({ key }) => key === question.baseKey)) return;
  await apply(run, order, remedyFor(kase, order), question.key);
}

function remedyFor(kase: Case, order: ChainOrder): Remedy {
  const { low } = readStatus(order.standing.last?.status ?? '');
  if (low === 'redraw_available') return 'ask';
  return allowed(kase, order, mayBeRedrawn(order) ? kase.policy.onSampleError : kase.policy.onLost);
}

/** An adopted order is never replaced by itself, nor one whose chain has had all its replacements: a person is asked. */
export function allowed(kase: Case, { orderId }: ChainOrder, remedy: Remedy): Remedy {
  const isClaimed = replacementOf(kase, orderId) !== undefined;
  const mayReplace = kase.handedOver && (isClaimed || kase.replacements.length < kase.policy.replacementLimit);
  return remedy === 'replace' && !mayReplace ? 'ask' : remedy;
}

/** @param key identifies the question, so that it is asked once */
export async function apply(run: Run, order: ChainOrder, remedy: Remedy, key: string): Promise<void> {
  const { kase } = run;
  const { orderId } = order;
  switch (remedy) {
    case 'fail':
      kase.ending = 'failed';
      return;
    case 'ask':
      raise(kase, { key, reason: needsSuccessor(order) ? 'decision_needed' : 'problem_persists', orderId }, Date.now());
      return;
    case 'replace':
      try {
        await replaceKit(run, orderId);
      } catch (error) {
        const { type, message } = refusalOf(error);
        log.warn('replacement failed', { orderId, type, message });
        raise(kase, { key, reason: 'replacement_failed', orderId }, Date.now());
        kase.recheckAt = Date.now() + kase.policy.recheckEvery;
      }
      return;
    default:
      return remedy satisfies never;
  }
}

/** A replacement that the policy wanted and that failed is tried again; the question stands until one is ordered. */
export async function retryReplacement(run: Run): Promise<void> {
  const { kase } = run;
  const failed = kase.attention.find(({ reason }) => reason === 'replacement_failed');
  const order = failed && findOrder(kase, failed.orderId);
  if (!failed || !order || !deadlinesOf(kase).some(({ key }) => key === failed.key)) return;
  await apply(run, order, 'replace', failed.key);
}
