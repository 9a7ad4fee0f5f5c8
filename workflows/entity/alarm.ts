import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import { words } from './operators.js';

/** A moment at which something has to be done though nothing was received, and what: the timer's summary. */
export interface Moment {
  /** Milliseconds since the epoch. */
  at: number;
  name: string;
}

/** The moment of what is due without a timer, as soon as the main loop comes to it. */
export const atOnce = 0;

/** One timer for the next moment that matters. It is set again only when that moment changes. */
export class Alarm {
  private scope?: CancellationScope;
  private at?: number;
  /** True from the moment it went off until it is set again. */
  rang = false;
  private passed = atOnce;

  /** Sets the timer; `undefined` disarms it. */
  set(moment: Moment | undefined): void {
    if (moment?.at === this.at && !this.rang) return;
    this.disarm();
    if (moment === undefined) return;
    this.at = moment.at;
    this.scope = new CancellationScope();
    void this.scope.run(() => this.ring(moment)).catch(ignoreCancellation);
  }

  /**
   * The time by which the main loop notes what it does. The moment that the timer is set for passes when the timer fires, neither earlier
   * nor later.
   */
  get now(): number {
    const { at } = this;
    if (at === undefined) return Date.now();
    return this.rang ? Math.max(Date.now(), at) : Math.min(Date.now(), at - 1);
  }

  /**
   * Moments up to this one are due: those that a timer has fired for, whatever the clock shows. A moment that counts from the handling of a
   * message differs in a replay that handles the message together with what followed it
   * (docs/decisions/0021-what-goes-on-when-in-a-step.md), but the timer fires at the same place of the history.
   */
  get dueUntil(): number {
    return this.rang ? Math.max(this.now, this.passed) : this.passed;
  }

  /** Waits for a moment with a timer of its own; then it is due. */
  async until(at: number, summary: string): Promise<void> {
    if (at <= this.dueUntil) return;
    await sleep(Math.max(at - Date.now(), 1), { summary });
    this.passed = Math.max(this.passed, at);
  }

  disarm(): void {
    this.scope?.cancel();
    if (this.rang && this.at !== undefined) this.passed = Math.max(this.passed, this.at);
    delete this.at;
    this.rang = false;
  }

  private async ring({ at, name }: Moment): Promise<void> {
    await sleep(Math.max(at - Date.now(), 1), { summary: words(name) });
    this.rang = true;
  }
}

const alarms = new WeakMap<object, Alarm>();

/** From now on `timeOf` this state goes by the alarm of its main loop. */
export function keepTimeBy(state: object, alarm: Alarm): void {
  alarms.set(state, alarm);
}

/** The time by which the main loop with this state notes what it does, in milliseconds since the epoch. */
export function timeOf(state: object): number {
  return alarms.get(state)?.now ?? Date.now();
}

/** Until when what the main loop with this state has to do is due, in milliseconds since the epoch. */
export function dueUntil(state: object): number {
  return alarms.get(state)?.dueUntil ?? Date.now();
}

/** Waits in a command until that moment is due. */
export async function untilDue(state: object, at: number, summary: string): Promise<void> {
  await alarms.get(state)?.until(at, summary);
}

function ignoreCancellation(reason: unknown): void {
  if (!isCancellation(reason)) throw reason;
}
