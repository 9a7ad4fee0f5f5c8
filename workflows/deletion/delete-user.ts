import {
  allHandlersFinished,
  CancellationScope,
  condition,
  setHandler,
  type ApplicationFailure,
} from '@temporalio/workflow';
import { refusalOf } from '../command-queue.js';
import { keepDelivering, untilTold } from '../outbox.js';
import { isGraceOver, stateOf, type Deletion } from './case.js';
import { endFailed } from './ending.js';
import { confirm, holdGrace } from './grace.js';
import {
  requestUpdate,
  stateQuery,
  undoUpdate,
  type DeleteUserInput,
  type DeleteUserResult,
  type DeletionState,
} from './messages.js';
import { openChecked, openRun, type Run } from './run.js';
import { begin } from './scheduling.js';
import { deletionTelling, raise, show } from './telling.js';
import { undo, validateUndo } from './undoing.js';

/**
 * Deletes one user at the lab service and holds the time in which that can be undone. Its history stays short however long
 * an outage lasts (rounds of attempts last a day); where it is requested again very often within the grace it goes on in a
 * new run. Before the grace it does not: the server takes 2,000 requests then, and refuses more.
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
  const { kase, commands } = run;
  try {
    await begin(run);
    if (kase.outcome === undefined) await holdGrace(run);
    if (kase.outcome === undefined) await confirm(run);
  } catch (error) {
    endFailed(run, refusalOf(error));
  }
  while (!commands.isEmpty) await commands.carryOutNext(() => undo(run));
}

/** A receiver that stays silent holds neither the end for ever, nor a new deletion at all. */
async function tellTheEnd(run: Run): Promise<void> {
  const { post, kase } = run;
  if (!(await untilTold(post, kase.policy.notificationDeadline, () => run.next !== undefined))) {
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
    delete run.refusal;
  }
  show(run);
}

/** Whoever requested it learns of it too. */
async function fail(run: Run, refusal: ApplicationFailure): Promise<never> {
  run.answered = true;
  await condition(allHandlersFinished);
  Object.assign(run.kase, { outcome: 'failed', failure: refusal.type, endedAt: new Date(Date.now()).toISOString() });
  throw refusal;
}

function resultOf({ kase, refusal }: Run): DeleteUserResult {
  const state = stateOf(kase);
  const { outcome, endedAt } = state;
  if (outcome !== undefined && outcome !== 'failed' && endedAt !== undefined) return { ...state, outcome, endedAt };
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
  setHandler(undoUpdate, () => (run.kase.outcome === 'undone' ? stateOf(run.kase) : askToUndo(run)), {
    description:
      'Undoes the deletion while the grace runs, or withdraws it: restores the user and the data, not the connections.',
    validator: () => validateUndo(run),
  });
  setHandler(stateQuery, () => stateOf(run.kase), {
    description: 'Where the deletion stands, until when it can be undone, and what was found running.',
  });
}

/** Stops whatever precedes the grace, and waits for its turn. */
async function askToUndo(run: Run): Promise<DeletionState> {
  const answer = run.commands.ask('undo');
  run.beginning?.cancel();
  return answer;
}

/**
 * A deletion that is under way is the one that was asked for, unless somebody has restored the user meanwhile: then it is
 * a new one, as after every end but the final one.
 */
async function request(run: Run, input: DeleteUserInput): Promise<DeletionState> {
  const { kase } = run;
  const opened = openChecked(input);
  if (!('userId' in opened)) throw opened;
  // The first one that is given serves the undo.
  if (opened.clientUserId !== undefined) kase.clientUserId ??= opened.clientUserId;
  if (kase.outcome === undefined && kase.phase !== 'requested') await joinGrace(run, opened);
  const { outcome } = run.kase;
  if (outcome !== undefined && outcome !== 'deleted') {
    run.next ??= opened;
    run.answered = false;
  }
  await condition(() => run.answered);
  if (run.refusal) throw run.refusal;
  return stateOf(run.kase);
}

async function joinGrace(run: Run, opened: Deletion): Promise<void> {
  const { kase } = run;
  if (kase.phase === 'grace' && !isGraceOver(kase, Date.now())) await run.commands.ask('look');
  if (kase.outcome === undefined && (run.doubt !== undefined || kase.phase === 'confirming')) run.again ??= opened;
}
