/** Milliseconds since the epoch, in 2020 and later. */
const earliest = Date.parse('2020-01-01T00:00:00Z');

/** A JSON text with every time in it, ISO 8601 or milliseconds since the epoch, written as `past` or `future`. */
export function withoutTimes(now: number, json: string): string {
  return json
    .replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g, (text) => tense(Date.parse(text), now))
    .replaceAll(/\b\d{13}\b/g, (text) => (Number(text) < earliest ? text : tense(Number(text), now)));
}

function tense(time: number, now: number): string {
  return time > now ? '"future"' : '"past"';
}

export interface Upcoming {
  name: string;
  at: number;
}

/**
 * What is to come, in the order in which it will, and how far it is away, in whole units: between two moments there is room for
 * so many others.
 * @param unit milliseconds
 */
export function orderOf(moments: readonly (Upcoming | undefined)[], now: number, unit: number): string[] {
  return moments
    .filter((moment) => moment !== undefined)
    .toSorted((a, b) => a.at - b.at || a.name.localeCompare(b.name))
    .map(({ name, at }) => `${name} ${Math.max(Math.ceil((at - now) / unit), 0)}`);
}
