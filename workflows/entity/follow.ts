import {
  allHandlersFinished,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type { RaisedAttention } from '../../protocol/attention.js';
import { Alarm, type Moment } from './alarm.js';
import { deliveryOf, type AttentionVerbs } from './attention.js';
import { CommandQueue } from './commands.js';
import { deliverBeforeEnd, keepDelivering, type Outbox } from './outbox.js';

/** One run of a long-running workflow: the commands that wait for its main loop, and all that wakes it. */
export interface Run<Command = never, Answer extends object = object> extends Woken {
  commands: CommandQueue<Command, Answer>;
}

interface Woken {
  commands: { isEmpty: boolean };
  alarm: Alarm;
  /** Something came in that the main loop has not looked at yet. */
  hasNews: boolean;
}

export function openRun<Command = never, Answer extends object = object>(): Run<Command, Answer> {
  return { commands: new CommandQueue(), alarm: new Alarm(), hasNews: false };
}

/** The parts of the shared life that each workflow has its own way to do. */
interface Life<State extends Outbox, Raised extends RaisedAttention<string>> {
  /** Everything that it knows: plain JSON, and the same object as long as the run lasts. */
  state: State;
  attention: AttentionVerbs<State, Raised>;
  /** Does what is due, and brings announcements and what operators see in line. */
  act: () => Promise<void>;
  /** Nothing is left to wait for. */
  isOver: () => boolean;
  /** Another workflow does the work from now on: the run stops at once. */
  isElsewhere?: () => boolean;
  /** Puts the end into the outbox, once: what comes in before everybody is notified may take an end back. */
  announceEnd?: () => void;
  /** When there is something to do though nothing comes in. */
  nextMoment: () => Moment | undefined;
  /** Goes on while the run waits: ends at once when the alarm rings or a command comes. */
  meanwhile?: () => Promise<void>;
  /** A new run is needed though the history is short. */
  isSpent?: () => boolean;
  workflowType: string;
  /** The input of the run that goes on after this one, with everything that is known. */
  carry: () => object;
}

/** The life of a long-running workflow until its end is notified, or its work done elsewhere. */
export async function follow<State extends Outbox, Raised extends RaisedAttention<string>>(
  run: Woken,
  life: Life<State, Raised>,
): Promise<void> {
  const { state, attention, isElsewhere = () => false } = life;
  const delivery = new CancellationScope();
  const outcome = deliveryOf(state, attention, () => (run.hasNews = true));
  const delivering = delivery.run(() => keepDelivering(state, outcome));
  do {
    await workToTheEnd(run, life);
  } while (!isElsewhere() && !(await isSettled(run, life)));
  run.alarm.disarm();
  delivery.cancel();
  await delivering;
}

/** Acts, then waits for whatever comes first, until nothing is left to wait for and every command was carried out. */
async function workToTheEnd<State extends Outbox, Raised extends RaisedAttention<string>>(
  run: Woken,
  life: Life<State, Raised>,
): Promise<void> {
  const { alarm, commands } = run;
  for (;;) {
    run.hasNews = false;
    await life.act();
    if (life.isElsewhere?.() || (life.isOver() && commands.isEmpty)) return;
    if (isSpent(life) && (await isIdle(run))) await continueAsNew(life);
    // What came in meanwhile is due at once: it needs no timer.
    if (!isDisturbed(run)) {
      alarm.set(life.nextMoment());
      if (life.meanwhile) await life.meanwhile();
    }
    await condition(() => isDisturbed(run) || alarm.rang);
  }
}

/** An end holds once everybody is notified and answered, and nothing came in meanwhile that contradicts it. */
async function isSettled<State extends Outbox, Raised extends RaisedAttention<string>>(
  run: Woken,
  life: Life<State, Raised>,
): Promise<boolean> {
  run.alarm.disarm();
  run.hasNews = false;
  life.announceEnd?.();
  await deliverBeforeEnd(life.state, () => isDisturbed(run));
  return (await isIdle(run)) && life.isOver();
}

/** Waits until every caller is answered, or there is something to do first. */
async function isIdle(run: Woken): Promise<boolean> {
  await condition(() => allHandlersFinished() || isDisturbed(run));
  return !isDisturbed(run);
}

function isDisturbed({ hasNews, commands }: Woken): boolean {
  return hasNews || !commands.isEmpty;
}

function isSpent({ isSpent: needsNewRun }: { isSpent?: () => boolean }): boolean {
  return workflowInfo().continueAsNewSuggested || needsNewRun?.() === true;
}

async function continueAsNew({ workflowType, carry }: { workflowType: string; carry: () => object }): Promise<void> {
  await makeContinueAsNewFunc<(input: object) => Promise<unknown>>({ workflowType })(carry());
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

export interface Cancellable {
  /** An operator, or the product through Temporal, cancelled the workflow. */
  cancelled: boolean;
  hasNews: boolean;
}
