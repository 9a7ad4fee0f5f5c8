import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  TemporalFailure,
  log,
  workflowInfo,
} from '@temporalio/workflow';
import type { StoppedDetails } from '../../activities/placing-stop.js';
import { isReference, referencePattern, actorRule, isActor, type OfActor } from '../../protocol/ids.js';
import { day } from './spans.js';
import { afterMessages } from './steps.js';
import { notAccepted, type FailureDetails } from '../../protocol/failure-details.js';
import { isObject } from '../../protocol/json.js';

/** A command that waits for its turn, and what came of it. */
interface Asked {
  work: () => Promise<object>;
  answer?: object;
  refusal?: ApplicationFailure;
}

/**
 * Work on one subject runs one at a time in the order it came; work on different subjects, side by side. A rejection
 * reaches the caller of that work only. What comes next begins when that caller is answered, whether it has waited or comes in
 * the same step (`steps.ts`).
 */
export class Lanes {
  private readonly last = new Map<string | symbol, Promise<void>>();

  run<T>(subject: string | symbol, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(subject);
    const done = before === undefined ? work() : before.then(work);
    const isFree = done
      .then(ignored, ignored)
      .then(() => CancellationScope.nonCancellable(() => afterMessages(() => true)))
      .then(() => {
        if (this.last.get(subject) === isFree) this.last.delete(subject);
      });
    this.last.set(subject, isFree);
    return done;
  }

  /**
   * The main loop's work: commands go first, those that come meanwhile too. Which of the two came first differs in a replay that handles a
   * command in another step.
   */
  async runAfterCommands<T>(subject: string | symbol, work: () => Promise<T>): Promise<T> {
    for (let last = this.last.get(subject); last; last = this.last.get(subject)) await last;
    return this.run(subject, work);
  }
}

/** The caller gets the outcome; the lane only waits for it. */
const ignored = (): void => {};

/** How many commands of a run may wait when a further one comes. */
const mostWaiting = 5;

/** The same for a cancellation, which may be a deletion's, and for a change of the policy. */
export const mostBeforeCancelling = 8;

/**
 * Called by an update's validator. Temporal takes ten updates of a run at a time: a command that is repeated in vain must leave room for an
 * acknowledgement, which is never refused here.
 */
export function requireRoom(waiting: number, most = mostWaiting): void {
  if (waiting < most) return;
  throw refuse(
    'ServiceUnavailable',
    `${waiting} commands are not answered yet, so this one was not accepted; try again`,
    { reason: notAccepted },
  );
}

/**
 * Commands that the main loop carries out, one at a time in the order they came; each caller waits for the outcome of its
 * own.
 */
export class CommandQueue {
  private readonly asked: Asked[] = [];

  get isEmpty(): boolean {
    return this.asked.length === 0;
  }

  /** Called by an update's validator. */
  requireRoom(most?: number): void {
    requireRoom(this.asked.length, most);
  }

  /** Called by an update's handler. */
  async ask<Answer extends object>(work: () => Promise<Answer>): Promise<Answer> {
    const asked: Asked = { work };
    this.asked.push(asked);
    await condition(() => asked.answer !== undefined || asked.refusal !== undefined);
    if (asked.answer) return asked.answer as Answer;
    throw asked.refusal ?? ApplicationFailure.nonRetryable('The command was not carried out', 'CommandFailed');
  }

  /** The caller is answered even if the workflow is cancelled meanwhile: the cancellation waits for its turn, too. */
  async askThrough<Answer extends object>(work: () => Promise<Answer>): Promise<Answer> {
    return CancellationScope.nonCancellable(() => this.ask(work));
  }

  /** Every caller that waits gets the refusal. */
  refuseAll(refusal: ApplicationFailure): void {
    for (const asked of this.asked.splice(0)) asked.refusal = refusal;
  }

  /** Called by the main loop. A command that fails is refused; the work goes on. */
  async carryOutNext(): Promise<void> {
    const next = this.asked[0];
    if (!next) return;
    try {
      next.answer = await next.work();
    } catch (error) {
      next.refusal = refusalOf(error);
    }
    this.asked.shift();
  }
}

/**
 * Only an `ApplicationFailure` may leave a handler: any other error would retry the workflow task forever. An activity
 * that ran out of time without a failure of its own had no worker to run on.
 */
export function refusalOf(error: unknown): ApplicationFailure {
  if (isCancellation(error) || !(error instanceof TemporalFailure)) throw error;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof ApplicationFailure)) continue;
    return ApplicationFailure.nonRetryable(cause.message, cause.type, ...(cause.details ?? []));
  }
  return ApplicationFailure.nonRetryable('The command could not be carried out in time; try again', 'CommandTimedOut');
}

/** Throws the refusal itself: the caller that waits for a workflow's result reads it, not that an activity failed. */
export function throwRefusal(error: unknown): never {
  throw refusalOf(error);
}

/**
 * The refusal, logged, because nobody is answered with it.
 * @param about ids, nothing personal
 */
export function loggedRefusal(what: string, about: Record<string, string>, error: unknown): ApplicationFailure {
  const refusal = refusalOf(error);
  log.warn(what, { ...about, type: refusal.type, message: refusal.message });
  return refusal;
}

/** A failure that no repetition changes: its type, a sentence, and details of which the fields are always there. */
export function refuse(
  type: string,
  message: string,
  details: Partial<FailureDetails> & Record<string, unknown> = {},
): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { fields: [], ...details });
}

/** A command is wrong in one field. */
export function refuseField(field: string, problem: string): ApplicationFailure {
  return refuse('InvalidCommand', `${field} ${problem}`, { fields: [{ field, message: problem }] });
}

/** A command is wrong in these fields. */
export function refuseFields(fields: FailureDetails['fields']): ApplicationFailure {
  const faults = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  return refuse('InvalidCommand', `The command is not valid: ${faults}`, { fields });
}

/** Who sends a command, if it says so. The refusal does not repeat it: somebody may have typed a name. */
export function actorOf(command: unknown): OfActor {
  const by = isObject(command) ? command['by'] : undefined;
  if (by == null) return {};
  if (!isActor(by)) throw refuseField('by', actorRule);
  return { by };
}

/** Checks what names a run: no compiler checks the input of a backend in another language. */
export function requireReference(reference: unknown, idOf: (reference: string) => string): asserts reference is string {
  if (!isReference(reference)) throw refuse('ReferenceInvalid', `reference must match ${referencePattern}`);
  if (workflowInfo().workflowId === idOf(reference)) return;
  throw refuse('ReferenceInvalid', `the workflow ID must be ${idOf('<reference>')}`);
}

/** How long the service asks to be left alone, in milliseconds. A round of attempts ends at once if it has no time left for that. */
export function askedPause(failure: ApplicationFailure | undefined): number {
  return Math.min(detailsOf(failure).retryAfterMs ?? 0, day);
}

/** True if the refusal is a 404, which may be a proxy's. */
export function isNotFound(refusal: ApplicationFailure): boolean {
  return detailsOf(refusal).status === 404;
}

/** The details that an activity gave its failure. */
export function detailsOf<Details = FailureDetails>(failure: ApplicationFailure | undefined): Partial<Details> {
  return failure?.details?.[0] ?? {};
}

/** How long a command waits for a run that cannot find out what it is for. */
export const commandWait = '3 minutes';

/**
 * Waits for what a run has to know before it does anything. The sender of a command is not kept waiting for an outage
 * meanwhile: after a while the command is refused, and may be sent again.
 */
export async function answeringMeanwhile<Reading>(
  commands: Pick<CommandQueue, 'isEmpty' | 'refuseAll'>,
  reading: Promise<Reading>,
): Promise<Reading> {
  let isRead = false;
  const read = reading.finally(() => (isRead = true));
  const answering = (async () => {
    for (;;) {
      await condition(() => isRead || !commands.isEmpty);
      if (isRead || (await condition(() => isRead, commandWait, { summary: 'commands wait' }))) return;
      commands.refuseAll(notKnownYet());
    }
  })();
  const [found] = await Promise.all([read, answering]);
  return found;
}

export function notKnownYet(): ApplicationFailure {
  return refuse(
    'ServiceUnavailable',
    'The current state is not known yet, because the lab service, or Temporal’s search for earlier runs, ' +
      'does not answer; try again',
  );
}

/**
 * True if an activity, or the workflow itself, said that no later attempt can succeed. A timeout never says that, whatever
 * its retry state: servers report one of schedule-to-close or schedule-to-start as not retryable, although all that is known
 * is that no answer came in time.
 */
export function isFinalRefusal(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.nonRetryable === true;
}

/** The placing stop that refused the creation, if that was the reason. */
export function placingStopOf(failure: ApplicationFailure): Partial<StoppedDetails> | undefined {
  return failure.type === 'PlacingStopped' ? detailsOf<StoppedDetails>(failure) : undefined;
}

/**
 * 401 or 403: the worker's key is wrong, or not for this user or account; the service does not say which. The same call
 * succeeds once a person has corrected that, and not before.
 */
export function isAccessRefused({ type }: ApplicationFailure): boolean {
  return type === 'Unauthorized';
}
