import type { ReconcileInput } from './messages.js';

/** What one pass looks at; ISO 8601 in UTC. */
export interface ReconcileRange {
  from: string;
  to: string;
}

const minute = 60_000;
const hour = 60 * minute;

/** What is fresher is the webhooks' work: it may be on its way. */
const settling = 10 * minute;
/** Clocks differ, and the service may list an update late. */
const overlap = hour;
/** How far a first pass looks back. Webhooks are tried again for two days; this is a long weekend more. */
const firstLook = 5 * 24 * hour;

/** @throws RangeError when a time is none, or the range is empty */
export function rangeOf(input: ReconcileInput, watermark: string | undefined, now: number): ReconcileRange {
  const settled = now - settling;
  const to = input.to === undefined ? settled : Math.min(timeOf('to', input.to), settled);
  const from = input.from === undefined ? sinceWatermark(watermark, to) - overlap : timeOf('from', input.from);
  if (from > settled) throw new RangeError('from is less than ten minutes ago: its webhooks may be on their way');
  if (from > to) throw new RangeError('from is later than to');
  return { from: iso(from), to: iso(to) };
}

/** What is wrong with a range that somebody asks for, by field. A caller in plain JavaScript is checked by no compiler. */
export function rangeFaults(range: unknown): { field: string; message: string }[] {
  const given = (typeof range === 'object' && range !== null ? range : {}) as Record<string, unknown>;
  const faults = (['from', 'to'] as const).filter((field) => !isTime(given[field]));
  if (faults.length > 0) return faults.map((field) => ({ field, message: mustBeTime }));
  const { from, to } = given as { from: string; to: string };
  return Date.parse(from) > Date.parse(to) ? [{ field: 'from', message: 'is later than to' }] : [];
}

/** A watermark of a clock that ran ahead is no reason to look at nothing. */
function sinceWatermark(watermark: string | undefined, to: number): number {
  return Math.min(watermark === undefined ? to - firstLook : Date.parse(watermark), to);
}

function timeOf(field: string, text: unknown): number {
  if (!isTime(text)) throw new RangeError(`${field} ${mustBeTime}`);
  return Date.parse(text);
}

const mustBeTime = 'must be a date, or a time with its zone, in ISO 8601';

function isTime(text: unknown): text is string {
  if (typeof text !== 'string' || !/^\d{4}-\d{2}-\d{2}(T.*(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return false;
  return !Number.isNaN(Date.parse(text));
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
