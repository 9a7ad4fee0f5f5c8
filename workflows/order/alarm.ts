import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

/** One timer for the next moment that matters. It is armed anew only when that moment changes. */
export class Alarm {
  private scope?: CancellationScope;
  private at?: number;
  /** True from the moment it went off until it is set again. */
  rang = false;

  /** @param at milliseconds since the epoch; nothing disarms it */
  set(at: number | undefined): void {
    if (at === this.at && !this.rang) return;
    this.disarm();
    if (at === undefined) return;
    this.at = at;
    this.scope = new CancellationScope();
    void this.scope.run(() => this.ring(at)).catch(ignoreCancellation);
  }

  disarm(): void {
    this.scope?.cancel();
    delete this.scope;
    delete this.at;
    this.rang = false;
  }

  private async ring(at: number): Promise<void> {
    await sleep(Math.max(at - Date.now(), 1), { summary: 'next deadline' });
    this.rang = true;
  }
}

function ignoreCancellation(reason: unknown): void {
  if (!isCancellation(reason)) throw reason;
}
