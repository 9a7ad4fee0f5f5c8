import {
  allHandlersFinished,
  CancellationScope,
  makeContinueAsNewFunc,
  TemporalFailure,
  workflowInfo,
  setHandler,
} from '@temporalio/workflow';
import type { RaisedAttention } from '../../protocol/attention.js';
import { unreadableSignal } from '../../protocol/unencrypted.js';
import { LoopTimer, keepTimeBy, type Moment } from './loop-timer.js';
import { afterDelivery, type AttentionVerbs } from './attention.js';
import { CommandQueue } from './commands.js';
import { deliverAtLast, deliverBeforeEnd, keepDelivering, type Outbox } from './outbox.js';
import { afterMessages, isStepRecorded } from './steps.js';
import { omitNullish } from '../../protocol/json.js';

/** One run of a long-running workflow: the commands that wait for its main loop, and all that wakes it. */
export interface EntityRun extends Wakeable {
  commands: CommandQueue;
}

/** All that wakes a main loop. */
export interface Wakeable {
  /** Those that the loop carries out. A workflow whose commands run beside its loop has none. */
  commands?: { isEmpty: boolean };
  timer: LoopTimer;
  /** Something came in that the main loop has not looked at yet. */
  hasNews: boolean;
  /** A signal was dropped because it cannot be decrypted, and nobody was asked to look. */
  hasUnreadable?: boolean;
  /** While the main loop waits: true if it goes on in this step of the workflow. */
  isWoken?: () => boolean;
}

export function openRun(): EntityRun {
  return { commands: new CommandQueue(), timer: new LoopTimer(), hasNews: false };
}

/** The steps of the loop that each workflow does in its own way. */
interface LoopVerbs {
  /** Does what is due, and publishes what is known then. */
  act: () => Promise<void>;
  /** Schedules a read of what a signal that could not be decrypted may have reported. */
  readDropped?: () => Promise<void> | void;
  /** Nothing is left to wait for. */
  isOver: () => boolean;
  /** Another workflow does the work from now on: the run stops at once. */
  isForwarded?: () => boolean;
  /** Puts the end into the outbox, once: what comes in before everybody is notified may take an end back. */
  announceEnd?: () => void;
  /** When there is something to do though nothing comes in. */
  nextMoment: () => Moment | undefined;
  /** Goes on while the run waits: ends at once when the timer fires or a command comes. */
  meanwhile?: () => Promise<void>;
  /** A new run is needed though the history is short. */
  mustContinueAsNew?: () => boolean;
  workflowType: string;
  /** The input of the run that goes on after this one, with everything that is known. */
  nextInput: () => object;
}

interface EntityLoop<State extends Outbox, Raised extends RaisedAttention<string>> extends LoopVerbs {
  /** Everything that it knows: plain JSON, and the same object as long as the run lasts. */
  state: State;
  attention: AttentionVerbs<State, Raised>;
}

/** Runs until the work is over and the product was notified, or what is left was handed over, or another workflow took the work. */
export async function runLoop<State extends Outbox, Raised extends RaisedAttention<string>>(
  run: Wakeable,
  loop: EntityLoop<State, Raised>,
): Promise<void> {
  const { state, attention, isForwarded = () => false } = loop;
  keepTimeBy(state, run.timer);
  const after = afterDelivery(state, attention, () => (run.hasNews = true));
  const isItsTurn = () => run.isWoken?.() !== true;
  void CancellationScope.nonCancellable(() => keepDelivering(state, after, isItsTurn));
  const act = async () => {
    if (run.hasUnreadable) {
      run.hasUnreadable = false;
      attention.raise(state, 'unreadable_signal', Date.now());
      await loop.readDropped?.();
    }
    await loop.act();
  };
  try {
    do {
      await workToTheEnd(run, { ...loop, act });
    } while (!isForwarded() && !(await end(run, state, loop)));
  } catch (error) {
    // An operator cancelled the workflow, or its work failed: what was announced is delivered all the same.
    if (error instanceof TemporalFailure) await CancellationScope.nonCancellable(() => deliverAtLast(state));
    throw error;
  }
  run.timer.disarm();
}

/** Acts, then waits for what comes first, until nothing is left to wait for, to look at, or to carry out. */
async function workToTheEnd(run: Wakeable, verbs: LoopVerbs): Promise<void> {
  const { timer } = run;
  for (;;) {
    timer.begin({ hasWork: hasWork(run) });
    run.hasNews = false;
    await verbs.act();
    if (verbs.isForwarded?.() || (verbs.isOver() && !hasWork(run))) return;
    const setTimer = () => timer.set(verbs.nextMoment());
    if (isNewRunDue(verbs) && (await awaitIdle(run, setTimer)))
      await continueInNewRun(verbs.nextInput(), verbs.workflowType);
    // If something came in meanwhile, or the timer has fired, the next turn deals with it: no timer is needed.
    if (!hasWork(run) && !timer.hasFired) {
      setTimer();
      if (verbs.meanwhile) await verbs.meanwhile();
    }
    await untilWoken(run, () => hasWork(run) || timer.hasFired || (isNewRunDue(verbs) && allHandlersFinished()));
  }
}

/** Waits for what wakes a main loop, and lets everything go first that handles a message (`steps.ts`). */
export async function untilWoken(run: Wakeable, isWoken: () => boolean): Promise<void> {
  run.isWoken = isWoken;
  try {
    await afterMessages(isWoken);
  } finally {
    // Cancelled, it does not go on: a delivery would wait for it.
    delete run.isWoken;
  }
}

/**
 * Announces the end, gives the product a minute, hands over what is left, and answers every caller. False if something
 * came in meanwhile: then the work goes on.
 */
async function end(run: Wakeable, outbox: Outbox, { announceEnd, isOver }: LoopVerbs): Promise<boolean> {
  run.timer.disarm();
  announceEnd?.();
  await deliverBeforeEnd(outbox, () => hasWork(run));
  return (await awaitIdle(run)) && isOver();
}

/**
 * Waits until every caller is answered, or there is something to do first: then it is false.
 * @param setTimer for what falls due meanwhile
 */
async function awaitIdle(run: Wakeable, setTimer?: () => void): Promise<boolean> {
  const isWoken = () => allHandlersFinished() || hasWork(run) || run.timer.hasFired;
  if (!isWoken()) {
    setTimer?.();
    await untilWoken(run, isWoken);
  }
  return allHandlersFinished() && !hasWork(run);
}

function hasWork({ hasNews, commands }: Wakeable): boolean {
  return hasNews || commands?.isEmpty === false;
}

function isNewRunDue({ mustContinueAsNew }: LoopVerbs): boolean {
  return isNewRunSuggested() || mustContinueAsNew?.() === true;
}

/**
 * Works on though the workflow is cancelled: what is on its way is not called back, and the main loop learns of the
 * cancellation in its turn.
 */
export async function workThrough(run: Cancellable, work: () => Promise<void>): Promise<void> {
  void CancellationScope.current().cancelRequested.catch(() => {
    run.cancelled = true;
    run.hasNews = true;
  });
  await CancellationScope.nonCancellable(work);
}

export interface Cancellable extends Pick<Wakeable, 'hasNews'> {
  /** An operator, or the product through Temporal, cancelled the workflow. */
  cancelled: boolean;
  /** That has been dealt with. Temporal cancels a run once, so what begins after it has to continue in a new run. */
  wasCancelled?: true;
}

/** True if the workflow was cancelled, once. */
export function acceptCancellation(run: Cancellable): boolean {
  if (!run.cancelled) return false;
  run.cancelled = false;
  run.wasCancelled = true;
  return true;
}

/**
 * True if the history is long, or if there is a later release of the worker: a run stays on the release that began it
 * (docs/internals/decisions/0017-a-run-stays-on-its-release.md).
 */
export function isNewRunSuggested(): boolean {
  const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo();
  return isStepRecorded() && (continueAsNewSuggested || targetWorkerDeploymentVersionChanged);
}

/**
 * Ends this run and begins the next one, on the current release. Never returns.
 * @param memo in the place of this run's
 */
export async function continueInNewRun(
  input: object,
  workflowType?: string,
  memo?: Record<string, unknown>,
): Promise<never> {
  const options = { initialVersioningBehavior: 'AUTO_UPGRADE', ...omitNullish({ workflowType, memo }) } as const;
  return makeContinueAsNewFunc<(input: object) => Promise<unknown>>(options)(input);
}

export function noticeUnreadable(run: Pick<Wakeable, 'hasUnreadable' | 'hasNews'>): void {
  const receive = () => {
    run.hasUnreadable = true;
    run.hasNews = true;
  };
  setHandler(unreadableSignal, receive, {
    description: 'A signal could not be decrypted with the keys of the worker, and was dropped.',
  });
}
