import {
  allHandlersFinished,
  CancellationScope,
  condition,
  setHandler,
  type ApplicationFailure,
} from '@temporalio/workflow';
import { refusalOf } from '../command-queue.js';
import { keepDelivering } from '../outbox.js';
import { stateOf } from './case.js';
import { confirm, holdGrace, validateUndo } from './grace.js';
import {
  requestUpdate,
  stateQuery,
  undoUpdate,
  type DeleteUserInput,
  type DeleteUserResult,
  type DeletionState,
} from './messages.js';
import { meetRunningWork } from './running-work.js';
import { openChecked, openRun, type Run } from './run.js';
import { schedule } from './scheduling.js';
import { deletionTelling, raise, show, tell } from './telling.js';

/**
 * Deletes one user at the lab service and holds the time in which that can be undone. Its history stays short whatever
 * happens (rounds of attempts last a day), so that it never needs to continue as new.
 */
export async function deleteUser(input: DeleteUserInput): Promise<DeleteUserResult> {
  const run = openRun(input);
  listen(run);
  if (run.refusal) return fail(run, run.refusal);
  const delivery = new CancellationScope();
  const delivering = delivery.run(() => keepDelivering(run.post, deletionTelling(run)));
  do {
    beginNext(run);
    await carryOut(run);
    await tellTheEnd(run);
  } while (run.next !== undefined);
  delivery.cancel();
  await delivering;
  return resultOf(run);
}

async function carryOut(run: Run): Promise<void> {
  const { kase } = run;
  try {
    await meetRunningWork(run);
    if (kase.outcome === undefined) await schedule(run);
    if (kase.outcome === undefined) await holdGrace(run);
    if (kase.outcome === undefined) await confirm(run);
  } catch (error) {
    run.refusal = refusalOf(error);
    if (run.answered) tell(run, { type: 'deletion_failed', data: { reason: run.refusal.type ?? 'unknown' } });
    run.answered = true;
  }
}

/** A receiver that stays silent holds neither the end for ever, nor a new deletion at all. */
async function tellTheEnd(run: Run): Promise<void> {
  const { post, kase } = run;
  const isTold = () => post.notifies !== true || post.outbox.length === 0 || run.next !== undefined;
  const summary = 'until the product is told';
  if (!isTold() && !(await condition(isTold, kase.policy.notificationDeadline, { summary }))) {
    raise(run, 'notifications_undelivered');
  }
  await condition(() => allHandlersFinished() || run.next !== undefined);
}

function beginNext(run: Run): void {
  const { next } = run;
  if (next) {
    run.kase = next;
    run.post.policy = next.policy;
    delete run.next;
  }
  show(run);
}

/** Whoever requested it learns of it too. */
async function fail(run: Run, refusal: ApplicationFailure): Promise<never> {
  run.answered = true;
  await condition(allHandlersFinished);
  throw refusal;
}

function resultOf({ kase, refusal }: Run): DeleteUserResult {
  const state = stateOf(kase);
  const { outcome, endedAt } = state;
  if (outcome !== undefined && endedAt !== undefined) return { ...state, outcome, endedAt };
  throw refusal ?? new Error('A deletion ends with an outcome or a refusal');
}

function listen(run: Run): void {
  setHandler(requestUpdate, (input) => request(run, input), {
    description: 'Asks for the deletion: answers once the service has taken it, or when that takes long.',
    validator: (input: DeleteUserInput) => {
      const opened = openChecked(input);
      if (!('userId' in opened)) throw opened;
    },
  });
  setHandler(undoUpdate, () => (run.kase.outcome === 'undone' ? stateOf(run.kase) : run.commands.ask('undo')), {
    description: 'Undoes the deletion while the grace runs: restores the user and the data, not the connections.',
    validator: () => validateUndo(run),
  });
  setHandler(stateQuery, () => stateOf(run.kase), {
    description: 'Where the deletion stands, until when it can be undone, and what was found running.',
  });
}

async function request(run: Run, input: DeleteUserInput): Promise<DeletionState> {
  if (run.kase.outcome === 'undone' && run.next === undefined) {
    const next = openChecked(input);
    if (!('userId' in next)) throw next;
    run.next = next;
    run.answered = false;
  }
  await condition(() => run.answered);
  if (run.refusal) throw run.refusal;
  return stateOf(run.kase);
}
