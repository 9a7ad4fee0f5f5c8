/* Names slots: the product chooses by these ids, the worker reads them. Ids are built only here. */

/** The properties that distinguish slots. Times are ISO 8601 in UTC. */
export interface SlotName {
  /** The day under which the service lists it, YYYY-MM-DD. */
  day: string;
  start: string;
  end: string;
  /** In the service's unit: a slot is chosen together with its price. */
  price?: number;
}

/**
 * The id by which a slot is chosen. It is not the service's booking key, which lets anybody book and which expires: a
 * key for the same slot is requested when it is booked.
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
