import { refusalOf } from '../command-queue.js';
import { askingTheStore } from '../proxies.js';
import type { ListRejectedEventsInput, RejectedEventsPage } from './messages.js';

/** A page of the events that could not be handled, with what is wrong with each. */
export async function listRejectedEvents(input?: ListRejectedEventsInput): Promise<RejectedEventsPage> {
  try {
    return await askingTheStore.listRejected.executeWithOptions({ summary: 'list rejected events' }, [input ?? {}]);
  } catch (error) {
    throw refusalOf(error);
  }
}
