/* What names a slot: chosen by the product, read by the worker. Nobody else builds a slot's id. */

/** A slot as it is told from all others. Times are ISO 8601 in UTC. */
export interface SlotName {
  /** The day under which the service lists it, YYYY-MM-DD. */
  day: string;
  start: string;
  end: string;
  /** In the service's unit: whoever chose a slot chose its price too. */
  price?: number;
}

/**
 * What a slot is chosen by. It is not the service's booking key, which whoever holds it can book with and which expires:
 * a key for the same slot is asked for when it is booked.
 */
export function slotIdOf({ day, start, end, price }: SlotName): string {
  return [day, start, end, ...(price === undefined ? [] : [price])].join('_');
}

const day = String.raw`(\d{4}-\d{2}-\d{2})`;
const instant = String.raw`(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)`;
const slotIdPattern = new RegExp(String.raw`^${day}_${instant}_${instant}(?:_(-?\d{1,9}(?:\.\d{1,6})?))?$`);

/** `undefined` where the text names no slot. */
export function slotOf(slotId: unknown): SlotName | undefined {
  const match = typeof slotId === 'string' ? slotIdPattern.exec(slotId) : null;
  if (!match) return undefined;
  const [, date = '', start = '', end = '', price] = match;
  if ([date, start, end].some((time) => Number.isNaN(Date.parse(time)))) return undefined;
  return { day: date, start, end, ...(price !== undefined && { price: Number(price) }) };
}
