import { refusalOf } from '../command-queue.js';
import { askingTheStore } from '../proxies.js';
import type { DiscardRejectedEventInput } from './messages.js';

/** Gives an event up: what it held is erased, its row stays with the reason. */
export async function discardRejectedEvent(input: DiscardRejectedEventInput): Promise<void> {
  try {
    await askingTheStore.discardRejected.executeWithOptions({ summary: 'discard a rejected event' }, [input]);
  } catch (error) {
    throw refusalOf(error);
  }
}
