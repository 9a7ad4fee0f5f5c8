import { vi } from 'vitest';

/** Waits until an assertion holds: workflows and webhooks take a moment. */
export async function eventually<T>(claim: () => Promise<T> | T): Promise<T> {
  return vi.waitFor(claim, { timeout: 30_000, interval: 20 });
}
