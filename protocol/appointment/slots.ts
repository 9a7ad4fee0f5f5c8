import { omitNullish } from '../../service/json-object.js';
/* Names slots: the product chooses by these ids, the worker reads them. Ids are built only here. */

/** The properties that distinguish slots. Times are ISO 8601 in UTC. */
interface SlotName {
  /** The day under which the service lists it, YYYY-MM-DD. */
  day: string;
  start: string;
  end: string;
  /** In the service's unit: a slot is chosen together with its price. */
  price?: number;
  /** The code of the service centre; without it, the slot is at home. */
  site?: string;
}

/**
 * The id by which a slot is chosen. It is not the service's booking key, which lets anybody book and which expires: a
 * key for the same slot is requested when it is booked.
 */
export function slotIdOf({ day, start, end, price, site }: SlotName): string {
  // A computed price has more digits than it means: 119.99000000000001.
  const name = [day, start, end, ...(price === undefined ? [] : [Number(price.toFixed(6))])].join('_');
  return site === undefined ? name : `${name}~${site}`;
}

const day = String.raw`(\d{4}-\d{2}-\d{2})`;
const instant = String.raw`(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)`;
const slotIdPattern = new RegExp(
  String.raw`^${day}_${instant}_${instant}(?:_(-?\d{1,9}(?:\.\d{1,6})?))?(?:~([!-~]{1,64}))?$`,
);

/** True if an appointment that was not cancelled is at the slot's time, and at its service centre, as far as that is known. */
export function isAtSlot(
  at: { status?: string; startAt?: string; siteCode?: string } | undefined,
  slotId: string,
): boolean {
  const { start, site } = slotOf(slotId) ?? {};
  return at !== undefined && at.status !== 'cancelled' && at.startAt === start && (at.siteCode ?? site) === site;
}

/** `undefined` if the text names no slot. */
export function slotOf(slotId: unknown): SlotName | undefined {
  const match = typeof slotId === 'string' ? slotIdPattern.exec(slotId) : null;
  if (!match) return undefined;
  const [, date = '', start = '', end = '', price, site] = match;
  if ([date, start, end].some((time) => Number.isNaN(Date.parse(time)))) return undefined;
  return omitNullish({ day: date, start, end, price: price === undefined ? price : Number(price), site });
}
