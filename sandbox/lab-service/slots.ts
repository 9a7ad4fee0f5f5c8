import { randomBytes } from 'node:crypto';
import { dayMs } from './clock.js';
import { Part } from './part.js';
import { refusal } from './validation.js';
import type { AppointmentAddress } from './appointment-routes.js';
import type { Json } from './order-body.js';

/** Specification: the answer always has 14 days. */
const offeredDays = 14;
const minuteMs = 60_000;

/** When the slots of a day begin, in minutes of a UTC day, and how long they are. */
interface Timetable {
  readonly starts: readonly number[];
  readonly lengthMs: number;
}

/** When somebody could come, in UTC: morning to late afternoon where the slots are. */
const timesAtHome: Timetable = { starts: [13, 15, 18, 20, 22].map((hour) => hour * 60), lengthMs: 60 * minuteMs };
/** A morning at a service centre, every 20 minutes. */
export const timesAtCentres: Timetable = {
  starts: Array.from({ length: 12 }, (_, n) => 13 * 60 + n * 20),
  lengthMs: 20 * minuteMs,
};
/** How long a booking key is good; `daySeconds` does not shorten it, because a person chooses. Not documented. */
const bookingKeyMs = 30 * 60_000;
export const slotZone = 'America/New_York';
/** Keys of the past are forgotten beyond so many. */
const mostKeys = 50_000;

/** An hour at a place; one person can have it. */
export interface Slot {
  readonly start: number;
  readonly end: number;
  /** A zip, or the code of a service centre. */
  readonly place: string;
}

interface OfferedSlot extends Slot {
  readonly bookingKey: string;
  readonly expiresAt: number;
  /** Early ones cost more. */
  readonly isPriority: boolean;
}

export interface DayOfSlots {
  readonly day: number;
  readonly slots: readonly OfferedSlot[];
}

/** The hours that can be booked, each under a key that is good for a while. */
export class Slots extends Part {
  readonly #offered = new Map<string, OfferedSlot>();
  /** Places and starts of hours that are gone. */
  readonly #taken = new Set<string>();

  /** The free hours of 14 days near a place, under new keys. Days of the past, and today's, have none. */
  offer(place: string, firstDay: number | null, timetable = timesAtHome): DayOfSlots[] {
    const now = this.lab.clock.now();
    const tomorrow = Math.floor(now / dayMs) * dayMs + dayMs;
    const from = firstDay ?? tomorrow;
    return Array.from({ length: offeredDays }, (_, n) => {
      const day = from + n * dayMs;
      const all = timetable.starts.map((minute) => ({ start: day + minute * minuteMs, place }));
      const free = day < tomorrow ? [] : all.filter((slot) => this.isFree(slot));
      return {
        day,
        slots: free.map(({ start }) => this.#offer({ start, end: start + timetable.lengthMs, place }, now)),
      };
    });
  }

  isFree(slot: Pick<Slot, 'start' | 'place'>): boolean {
    return !this.#taken.has(nameOf(slot));
  }

  /** The hour that a key stands for, which is taken with this; or a refusal. None of their words is documented. */
  take(bookingKey: string): Slot {
    const slot = this.#offered.get(bookingKey);
    if (slot === undefined) throw refusal(404, 'Booking key not found.');
    if (slot.expiresAt <= this.lab.clock.now()) throw refusal(400, 'The booking key has expired.');
    if (!this.isFree(slot)) throw this.conflict();
    this.#occupy(slot);
    return slot;
  }

  /** The slot is gone, or no provider comes. 404 is documented too. */
  conflict(): Error {
    return refusal(400, 'This time slot is no longer available.');
  }

  #occupy(slot: Slot): void {
    this.#taken.add(nameOf(slot));
  }

  free(slot: Slot): void {
    this.#taken.delete(nameOf(slot));
  }

  /** The slot that was offered under a key, even if the key has expired. */
  offeredAs(bookingKey: string): Slot | undefined {
    return this.#offered.get(bookingKey);
  }

  /** The first free slot from tomorrow on, which a provider proposes on request. */
  next(place: string): Slot {
    const offered = this.offer(place, null).flatMap(({ slots }) => slots);
    const [first] = offered;
    if (first === undefined) throw this.conflict();
    this.#occupy(first);
    return first;
  }

  #offer(free: Slot, now: number): OfferedSlot {
    const slot = {
      ...free,
      bookingKey: `bk_${randomBytes(12).toString('base64url')}`,
      expiresAt: now + bookingKeyMs,
      isPriority: new Date(free.start).getUTCHours() * 60 === timesAtHome.starts[0],
    };
    this.#offered.set(slot.bookingKey, slot);
    const [oldest] = this.#offered.keys();
    if (this.#offered.size > mostKeys && oldest !== undefined) this.#offered.delete(oldest);
    return slot;
  }
}

function nameOf({ place, start }: Pick<Slot, 'start' | 'place'>): string {
  return `${place}/${start}`;
}

/** The seed's patient service centres. They are as far away from everybody; nobody is near where a zip begins with 0. */

export interface Centre {
  readonly code: string;
  readonly name: string;
  /** Miles. */
  readonly distance: number;
  /** False: people walk in there, and nothing can be booked. */
  readonly isBookable: boolean;
  readonly address: AppointmentAddress;
}

function centre(code: string, street: string, distance: number, isBookable = true): Centre {
  const address = { first_line: street, second_line: null, city: 'Sampleton', state: 'IL', zip_code: '62704' };
  return {
    code,
    name: `Service centre ${code}`,
    distance,
    isBookable,
    address: { ...address, unit: null, access_notes: null },
  };
}

const centres: readonly Centre[] = [
  centre('PSC1', '1 Market Street', 2),
  centre('PSC2', '22 Harbour Road', 8),
  centre('PSC3', '303 Station Road', 18),
  centre('PSC4', '44 Hill Road', 19, false),
  centre('PSC5', '5 Far Lane', 40),
];

export const inventedLocation = { lng: -73.9, lat: 40.7 } as const;
const schedulingCapability = 'appointment_scheduling_via_service';

export function centresNear(zip: string, radius: string): Centre[] {
  return zip.startsWith('0') ? [] : centres.filter(({ distance }) => distance <= Number(radius));
}

export function centreWith(code: string): Centre | undefined {
  return centres.find((each) => each.code === code);
}

export function capabilitiesOf(each: Centre): string[] {
  return each.isBookable ? ['stat', schedulingCapability] : ['appointment_scheduling_with_lab'];
}

/** A site in the list of sites. */
export function siteBody(each: Centre): Json {
  const { first_line, second_line, city, state, zip_code } = each.address;
  return {
    metadata: {
      ...{ name: each.name, first_line, second_line, city, state, zip_code },
      ...{ phone_number: null, fax_number: null, hours: null, website: null },
    },
    distance: each.distance,
    site_code: each.code,
    supported_bill_types: ['client_bill'],
    location: inventedLocation,
    capabilities: capabilitiesOf(each),
  };
}

/** The location of a day of slots. */
export function locationBody(each: Centre): Json {
  const { code, name, distance, address } = each;
  return { location: inventedLocation, distance, address, code, name, iana_timezone: slotZone };
}
