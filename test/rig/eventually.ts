import { vi } from 'vitest';

/** Waits for what is about to be true: workflows and webhooks take their moments. */
export async function eventually<T>(claim: () => Promise<T> | T): Promise<T> {
  return vi.waitFor(claim, { timeout: 10_000, interval: 20 });
}
