import { setTimeout as pause } from 'node:timers/promises';
import { patienceMs } from './patience.js';

const firstPauseMs = 10;
const longestPauseMs = 250;

/**
 * Waits until an assertion holds: workflows and webhooks take a moment. The pauses grow, because to ask costs the same two cores
 * that carry out what is awaited; the server that skips time plays a workflow task for each question.
 */
export async function eventually<T>(claim: () => Promise<T> | T): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    try {
      return await claim();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await pause(pauseMs);
  }
}
