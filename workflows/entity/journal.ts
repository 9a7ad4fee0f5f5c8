import type { OfActor } from '../../protocol/ids.js';
import { words } from './operators.js';
import { iso } from './spans.js';

/** The record of what was done and decided, for the case file. */
export interface Journal {
  journal: JournalEntry[];
}

interface JournalEntry {
  at: string;
  /** In our own words, and the service's statuses: nothing personal. */
  what: string;
  /** Which order it is about, if the workflow follows several. */
  orderId?: string;
  /** The actor of the command that did it. */
  by?: string;
  /** A decision's entry in an order's timeline. */
  status?: string;
  detail?: string;
}

/** The effect of a person's command on an order. */
export interface Decided extends OfActor {
  status: 'kit_registered' | 'order_cancelled' | 'kit_replaced' | 'problem_resolved' | 'policy_changed';
  detail?: string;
}

const mostEntries = 100;

/** Keeps the latest hundred of what people did, and of what happened by itself: reminders must not crowd out who decided. */
export function note(of: Journal, what: string, now: number, orderId?: string, more?: OfActor | Decided): void {
  const entry: JournalEntry = { at: iso(now), ...(orderId !== undefined && { orderId }), what, ...more };
  const journal = [...of.journal, entry];
  const alike = journal.filter(({ by }) => (by === undefined) === (entry.by === undefined));
  of.journal = alike.length > mostEntries ? journal.filter((each) => each !== alike[0]) : journal;
}

export function noteDecided(of: Journal, decided: Decided, now: number, orderId?: string): void {
  const { status, detail } = decided;
  note(of, detail === undefined ? words(status) : `${words(status)}: ${detail}`, now, orderId, decided);
}
