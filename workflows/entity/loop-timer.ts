import { CancellationScope, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import { words } from './operators.js';

/** A moment at which something has to be done though nothing was received, and what: the timer's summary. */
export interface Moment {
  /** Milliseconds since the epoch. */
  at: number;
  name: string;
}

/** The moment of work that needs no timer: it is due as soon as the main loop comes to it. */
export const atOnce = 0;

/**
 * One timer for the next moment that matters. It is set again only when that moment changes.
 *
 * Nothing is due before its timer has fired, whatever the clock shows. A moment that counts from the handling of a message differs in a
 * replay that handles the message together with what followed it (docs/internals/decisions/0021-what-goes-on-when-in-a-step.md), but a timer fires
 * at the same place of the history.
 */
export class LoopTimer {
  private scope?: CancellationScope;
  private at?: number;
  /** True from the moment the timer fires until the next turn begins. */
  hasFired = false;
  /** Moments up to this one are due. */
  private passed = atOnce;
  /** Single moments that are due: a command has waited for them, or the timer fired for them after something had come in. */
  private readonly fired = new Set<number>();
  /** The last moment that a timer fired for. */
  private reached = atOnce;
  /** Something came in since the timer was set. */
  private isTouched = false;

  /** Sets the timer; `undefined` disarms it. */
  set(moment: Moment | undefined): void {
    if (moment?.at === this.at) return;
    this.disarm();
    if (moment === undefined) return;
    this.at = moment.at;
    this.scope = new CancellationScope();
    void this.scope
      .run(() => this.fire(moment))
      .catch((reason: unknown) => {
        if (!isCancellation(reason)) throw reason;
      });
  }

  /**
   * Begins a turn of the main loop. If the timer has fired, its moment is due, and so is everything up to now that was known when it was
   * set. Once something has come in, a moment up to now may count from it and differ in a replay: such a moment gets its own timer.
   */
  begin({ hasWork }: { hasWork: boolean }): void {
    this.isTouched ||= hasWork;
    const { at, hasFired, isTouched } = this;
    if (!hasFired || at === undefined) return;
    if (isTouched) this.fired.add(at);
    else this.passed = Math.max(Date.now(), at);
    this.reached = Math.max(this.reached, this.passed, at);
    this.disarm();
  }

  /** The time by which the main loop notes what it does: the moment of the timer passes when the timer fires, neither earlier nor later. */
  get now(): number {
    return Math.max(Math.min(Date.now(), (this.at ?? Infinity) - 1), this.reached);
  }

  isDue(at: number): boolean {
    return at <= this.passed || this.fired.has(at);
  }

  /** Waits in a command, with a timer of its own, until that moment is due. */
  async until(at: number, summary: string): Promise<void> {
    if (this.isDue(at)) return;
    await sleep(Math.max(at - Date.now(), 1), { summary });
    this.fired.add(at);
  }

  /** A moment that had passed when the run began is due: a run that continues another one does not wait for its timers again. */
  begun(at: number): void {
    this.passed = Math.max(this.passed, at);
  }

  disarm(): void {
    this.scope?.cancel();
    delete this.at;
    this.hasFired = false;
    this.isTouched = false;
  }

  private async fire({ at, name }: Moment): Promise<void> {
    await sleep(Math.max(at - Date.now(), 1), { summary: words(name) });
    this.hasFired = true;
  }
}

const timers = new WeakMap<object, LoopTimer>();

/** From now on the main loop's timer decides the time of this state (`timeOf`), and what is due in it. */
export function keepTimeBy(state: object, timer: LoopTimer): void {
  timers.set(state, timer);
  timer.begun(workflowInfo().runStartTime.getTime());
}

/** The time by which the main loop with this state notes what it does, in milliseconds since the epoch. */
export function timeOf(state: object): number {
  return timers.get(state)?.now ?? Date.now();
}

/** @param at milliseconds since the epoch; what has no moment is never due */
export function isDue(state: object, at = Infinity): boolean {
  return timers.get(state)?.isDue(at) ?? at <= Date.now();
}

/** Waits in a command until that moment is due. The main loop that carries the command out keeps the time of its state. */
export async function untilDue(state: object, at: number, summary: string): Promise<void> {
  await (timers.get(state) as LoopTimer).until(at, summary);
}
