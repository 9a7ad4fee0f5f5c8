import { iso } from './spans.js';

/** The latest hundred things that were done and decided, for the case file. */
export interface Journal {
  journal: JournalEntry[];
}

interface JournalEntry {
  at: string;
  /** In our own words, and the service's statuses: nothing personal. */
  what: string;
  /** Which order it is about, if the workflow follows several. */
  orderId?: string;
}

const mostEntries = 100;

export function note(of: Journal, what: string, now: number, orderId?: string): void {
  const entry = { at: iso(now), ...(orderId !== undefined && { orderId }), what };
  of.journal = [...of.journal, entry].slice(-mostEntries);
}
