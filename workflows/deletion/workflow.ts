import { allHandlersFinished, condition, setHandler, ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import * as messages from '../../protocol/deletion/messages.js';
import { canonicalId, isAddressable, deleteUserId, actorRule, isActor, type OfActor } from '../../protocol/ids.js';
import { actorOf, refusalOf, refuse, refuseField } from '../entity/commands.js';
import { noticeUnreadable, openRun as openEntityRun, runLoop } from '../entity/loop.js';
import { beginNext } from '../entity/outbox.js';
import { settlePolicy } from '../entity/policy.js';
import { iso } from '../entity/spans.js';
import { clear, endFailed, raise, requestNext } from './announcements.js';
import { recheck, undo, validateUndo } from './commands.js';
import { isGraceOver, nextMoment, type DeletionRun, type Deletion, openDeletion } from './deletion.js';
import { confirm, actInGracePeriod, settleDoubt } from './grace.js';
import { begin } from './scheduling.js';
import { show, stateOf } from './view.js';
import { carriedOn } from '../entity/versions.js';

/**
 * Deletes one user at the lab service, and can undo that until the grace period is over. Its history stays short
 * however long an outage lasts (rounds of attempts last a day). If the deletion is requested again very often during
 * the grace period, it continues in a new run; before the grace period it does not: the server accepts 2,000 requests
 * then, and refuses more.
 */
export async function deleteUser(input: messages.DeleteUserInput): Promise<messages.DeleteUserResult> {
  const run = openRun(input);
  listen(run);
  if (run.refusal) return fail(run, run.refusal);
  await runLoop(run, loopOf(run));
  return resultOf(run);
}

function loopOf(run: DeletionRun) {
  const { deletion } = run;
  return {
    state: deletion,
    attention: { raise, clear },
    act: () => act(run),
    // A next deletion comes with `hasNews`, so the loop goes on.
    isOver: () => deletion.outcome !== undefined,
    nextMoment: () => nextMoment(deletion),
    meanwhile: () => settleDoubt(run),
    workflowType: messages.deleteUserName,
    nextInput: (): messages.DeleteUserInput => ({ userId: deletion.userId, carried: carriedOf(run) }),
  };
}

async function act(run: DeletionRun): Promise<void> {
  const { deletion, commands } = run;
  startNext(run);
  try {
    await settlePolicy(deletion, 'deletion');
    await begin(run);
    if (deletion.outcome === undefined && (await actInGracePeriod(run))) await confirm(run);
  } catch (error) {
    endFailed(run, refusalOf(error));
  }
  while (deletion.outcome !== undefined && !commands.isEmpty) await commands.carryOutNext();
}

function startNext(run: DeletionRun): void {
  const { next } = run;
  if (next) {
    beginNext(run.deletion, next);
    delete run.next;
    delete run.refusal;
  }
  show(run.deletion);
}

/** The caller that requested it gets the refusal too. */
async function fail(run: DeletionRun, refusal: ApplicationFailure): Promise<never> {
  run.answered = true;
  await condition(allHandlersFinished);
  Object.assign(run.deletion, {
    outcome: 'failed',
    failure: refusal.type,
    endedAt: iso(Date.now()),
  });
  throw refusal;
}

function resultOf({ deletion, refusal }: DeletionRun): messages.DeleteUserResult {
  const state = stateOf(deletion);
  const { outcome, endedAt } = state;
  if (outcome !== undefined && outcome !== 'failed' && endedAt !== undefined)
    return { version: messages.deletionResultVersion, ...state, outcome, endedAt };
  throw refusal ?? new Error('A deletion ends with an outcome or a refusal');
}

function listen(run: DeletionRun): void {
  noticeUnreadable(run);
  setHandler(messages.requestUpdate, (input) => request(run, input), {
    description: 'Requests the deletion. Answers once the service has accepted it, or when that takes long.',
    validator: (input: messages.DeleteUserInput) => {
      const opened = openChecked(input);
      if (!('userId' in opened)) throw opened;
    },
  });
  setHandler(
    messages.undoUpdate,
    (given) => (run.deletion.outcome === 'undone' ? stateOf(run.deletion) : askToUndo(run, actorOf(given))),
    {
      description:
        'Undoes the deletion during the grace period, or withdraws it: restores the user and the data, not the connections.',
      validator: (given: OfActor) => validateUndo(run, given),
    },
  );
  setHandler(messages.stateQuery, () => stateOf(run.deletion), {
    description: 'Where the deletion stands, until when it can be undone, and what was found running.',
  });
}

async function askToUndo(run: DeletionRun, actor: OfActor): Promise<messages.DeletionState> {
  run.undoing ??= untilUndone(run, actor).finally(() => delete run.undoing);
  return run.undoing;
}

/** Stops whatever precedes the grace, and waits for its turn. */
async function untilUndone(run: DeletionRun, actor: OfActor): Promise<messages.DeletionState> {
  const answer = run.commands.ask(() => undo(run, actor));
  run.beginning?.cancel();
  return answer;
}

/**
 * A deletion that is under way is the one that was asked for, unless somebody has restored the user meanwhile: then it is
 * a new one, as after every end but the final one.
 */
async function request(run: DeletionRun, input: messages.DeleteUserInput): Promise<messages.DeletionState> {
  const { deletion } = run;
  const opened = openChecked(input);
  if (!('userId' in opened)) throw opened;
  // The undo uses the first one that is given.
  if (opened.clientUserId !== undefined) deletion.clientUserId ??= opened.clientUserId;
  await afterUndo(run);
  if (deletion.outcome === undefined && deletion.phase !== 'requested') await joinGrace(run, opened);
  const { outcome } = run.deletion;
  if (outcome !== undefined && outcome !== 'deleted') {
    requestNext(run, opened);
    run.answered = false;
  }
  await condition(() => run.answered);
  if (run.refusal) throw run.refusal;
  return stateOf(run.deletion);
}

/** An undo that came before this request ends the deletion that it was asked for, not the one that is requested now. */
async function afterUndo(run: DeletionRun): Promise<void> {
  if (run.undoing === undefined) return;
  run.isRequestedAgain = true;
  await condition(() => run.undoing === undefined);
  delete run.isRequestedAgain;
}

async function joinGrace(run: DeletionRun, opened: Deletion): Promise<void> {
  const { deletion } = run;
  if (!isGraceOver(deletion, Date.now())) await run.commands.ask(() => recheck(run));
  const isUnclear = run.doubt !== undefined || isGraceOver(deletion, Date.now());
  if (deletion.outcome === undefined && isUnclear) run.nextIfRestored ??= opened;
}

/** The input of the next run of a deletion whose history grew long. */
const carried = [
  'deletion',
  'answered',
  'nextIfRestored',
  'doubt',
  'sentUntil',
  'unansweredAt',
  'undoSentUntil',
] as const satisfies readonly (keyof DeletionRun)[];

type Carried = Pick<DeletionRun, (typeof carried)[number]>;

function carriedOf(run: DeletionRun): Carried {
  return Object.fromEntries(carried.map((name) => [name, run[name]])) as unknown as Carried;
}

/** Nothing else checks the input of a backend in another language: its faults become the run's refusal. */
function openRun(input: messages.DeleteUserInput): DeletionRun {
  return input?.carried == null ? openNew(input) : goOn(input.carried as Carried);
}

function goOn(known: Carried): DeletionRun {
  const { deletion, nextIfRestored } = known;
  return {
    ...openEntityRun(),
    ...known,
    deletion: carriedOn<Deletion>('state of the deletion', deletion),
    ...(nextIfRestored && { nextIfRestored: carriedOn<Deletion>('state of the deletion', nextIfRestored) }),
  };
}

function openNew(input: messages.DeleteUserInput): DeletionRun {
  const opened = openChecked(input);
  const deletion = opened instanceof ApplicationFailure ? openDeletion({ userId: '' }, Date.now()) : opened;
  return {
    ...openEntityRun(),
    deletion,
    answered: false,
    ...(opened instanceof ApplicationFailure && { refusal: opened }),
  };
}

function openChecked(input: Partial<messages.DeleteUserInput> | undefined): Deletion | ApplicationFailure {
  const { userId, clientUserId, by, policy: _policy, carried: _carried, ...unknown } = input ?? {};
  // A part of the policy beside it, if it were ignored, would change what is deleted and when.
  const [misplaced] = Object.keys(unknown);
  if (misplaced !== undefined) return refuse('InvalidCommand', `${misplaced} is not known here`);
  if (!isAddressable(userId)) return refuse('InvalidCommand', 'userId must be an id of the service');
  if (workflowInfo().workflowId !== deleteUserId(userId))
    return refuse('InvalidCommand', 'the workflow ID must be delete-user/<userId>, a UUID in lower case');
  if (clientUserId != null && typeof clientUserId !== 'string')
    return refuse('InvalidCommand', 'clientUserId must be a string');
  if (by != null && !isActor(by)) return refuseField('by', actorRule);
  return openDeletion({ ...input, userId: canonicalId(userId) }, Date.now());
}
