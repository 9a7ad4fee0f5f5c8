import type { OfActor } from '../../protocol/actor.js';
import { words } from './operators.js';
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
  /** The actor of the command that did it. */
  by?: string;
  /** Of a decision: the words of an order's timeline. */
  status?: string;
  detail?: string;
}

/** What a command of a person did to an order. */
export interface Decided extends OfActor {
  status: 'kit_registered' | 'order_cancelled' | 'kit_replaced' | 'problem_resolved' | 'policy_changed';
  detail?: string;
}

const mostEntries = 100;

export function note(of: Journal, what: string, now: number, orderId?: string, more?: OfActor | Decided): void {
  const entry = { at: iso(now), ...(orderId !== undefined && { orderId }), what, ...more };
  of.journal = [...of.journal, entry].slice(-mostEntries);
}

export function noteDecided(of: Journal, decided: Decided, now: number, orderId?: string): void {
  const { status, detail } = decided;
  note(of, detail === undefined ? words(status) : `${words(status)}: ${detail}`, now, orderId, decided);
}
