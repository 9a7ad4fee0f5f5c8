import { log } from '@temporalio/workflow';
import { raise } from './attention.js';
import type { Case } from './case.js';
import { hear } from './intake.js';
import type { OrderPlaced, ReplacementPlaced } from './messages.js';
import type { Run } from './run.js';
import { readSnapshot } from './snapshot-reader.js';

/** The placed order arrives with its reference and policy. It may come twice, and after any number of webhooks. */
export function takeOver(run: Run, placed: OrderPlaced): void {
  const { kase } = run;
  if (typeof placed?.reference !== 'string' || typeof placed.policy !== 'object') {
    log.error('a hand-over without reference and policy was dropped');
    return;
  }
  hear(run, placed.snapshot);
  const { rootOrderId } = kase;
  if (kase.reference !== undefined && kase.reference !== placed.reference) {
    const key = `${rootOrderId}/${placed.reference}`;
    raise(kase, { key, reason: 'reference_conflict', orderId: rootOrderId }, Date.now());
  } else if (!kase.handedOver) {
    accept(kase, placed);
  }
  run.heard = true;
}

function accept(kase: Case, { reference, policy, labTestId, labAccountId, adopted, notifies }: OrderPlaced): void {
  kase.handedOver = true;
  kase.reference = reference;
  kase.policy = policy;
  kase.placedAnew = !adopted;
  if (labTestId !== undefined) kase.labTestId = labTestId;
  if (labAccountId !== undefined) kase.labAccountId = labAccountId;
  setNotifies(kase, notifies);
}

/** With no target nothing is kept, and nothing scheduled. */
export function setNotifies(kase: Case, notifies: boolean): void {
  kase.notifies = notifies;
  if (!notifies) kase.outbox = [];
}

/** The order turns out to be a replacement in another root's chain: from here on this run only passes things on. */
export function join(run: Run, placed: ReplacementPlaced): void {
  const { kase } = run;
  const isMeant = typeof placed?.rootOrderId === 'string' && placed.rootOrderId !== kase.rootOrderId;
  if (!isMeant || !readSnapshot(placed.snapshot)) {
    log.error('a replacement without a root of its own was dropped');
    return;
  }
  run.forwardsTo = placed.rootOrderId;
  if (placed.reference !== undefined) kase.reference = placed.reference;
  hear(run, placed.snapshot);
  run.heard = true;
}
