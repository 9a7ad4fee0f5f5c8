import { isCalendarDate } from '../../protocol/time.js';

/** How snapshots that came by signal, perhaps from a backend in another language, are read: field by field, never throwing. */

/** Those of the fields that are texts. */
export function textsOf<Name extends string>(value: Record<string, unknown>, names: readonly Name[]) {
  return fieldsOf(value, names, (text) => (typeof text === 'string' ? text : undefined));
}

/** Those of the fields that are times, as `readTime` reads them. */
export function timesOf<Name extends string>(value: Record<string, unknown>, names: readonly Name[]) {
  return fieldsOf(value, names, readTime);
}

function fieldsOf<Name extends string>(
  value: Record<string, unknown>,
  names: readonly Name[],
  read: (field: unknown) => string | undefined,
): { [N in Name]?: string } {
  const fields: { [N in Name]?: string } = {};
  for (const name of names) {
    const field = read(value[name]);
    if (field !== undefined) fields[name] = field;
  }
  return fields;
}

/** An existing calendar date, YYYY-MM-DD: any other text is another time on the next worker, whose machine has another zone. */
export function readDate(value: unknown): string | undefined {
  return isCalendarDate(value) ? value : undefined;
}

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/;

/** Times with a year of four digits: beyond, texts no longer compare as the instants they name. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The instant in UTC, so two times compare as texts. One without a zone is UTC, as the service writes it: read by
 * the zone of a worker's machine, it would be another time on the next worker.
 */
export function readTime(value: unknown): string | undefined {
  const match = typeof value === 'string' ? timePattern.exec(value) : null;
  if (!match) return undefined;
  const [text, zone] = match;
  const at = new Date(zone === undefined ? `${text}Z` : text);
  return at.getTime() >= earliest && at.getTime() <= latest ? at.toISOString() : undefined;
}
