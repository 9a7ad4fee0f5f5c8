import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import { words } from './operators.js';

/** A moment at which something has to be done though nothing was received, and what: the timer's summary. */
export interface Moment {
  /** Milliseconds since the epoch. */
  at: number;
  name: string;
}

/** One timer for the next moment that matters. It is set again only when that moment changes. */
export class Alarm {
  private scope?: CancellationScope;
  private at?: number;
  /** True from the moment it went off until it is set again. */
  rang = false;

  /** Sets the timer; `undefined` disarms it. */
  set(moment: Moment | undefined): void {
    if (moment?.at === this.at && !this.rang) return;
    this.disarm();
    if (moment === undefined) return;
    this.at = moment.at;
    this.scope = new CancellationScope();
    void this.scope.run(() => this.ring(moment)).catch(ignoreCancellation);
  }

  disarm(): void {
    this.scope?.cancel();
    delete this.at;
    this.rang = false;
  }

  private async ring({ at, name }: Moment): Promise<void> {
    await sleep(Math.max(at - Date.now(), 1), { summary: words(name) });
    this.rang = true;
  }
}

function ignoreCancellation(reason: unknown): void {
  if (!isCancellation(reason)) throw reason;
}
