import { vi } from 'vitest';
import { patienceMs } from './patience.js';

/** Waits until an assertion holds: workflows and webhooks take a moment. */
export async function eventually<T>(claim: () => Promise<T> | T): Promise<T> {
  return vi.waitFor(claim, { timeout: patienceMs, interval: 20 });
}
