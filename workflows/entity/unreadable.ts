import { defineSignal, setHandler } from '@temporalio/workflow';
import type { Wakeable } from './loop.js';

/** Takes the place of a signal that cannot be decrypted (workflows/input-refusal.ts). Nobody sends it. */
export const unreadableSignal = defineSignal('unreadable');

export function noticeUnreadable(run: Pick<Wakeable, 'hasUnreadable' | 'hasNews'>): void {
  const receive = () => {
    run.hasUnreadable = true;
    run.hasNews = true;
  };
  setHandler(unreadableSignal, receive, {
    description: 'A signal could not be decrypted with the keys of the worker, and was dropped.',
  });
}
