import { ApplicationFailure, heartbeat, log } from '@temporalio/activity';
import type { Availability, TimeSlot } from '../../service/appointment/appointments.js';
import type { CallOptions } from '../../service/http/calls.js';
import type { LabService } from '../../service/lab-service.js';
import type { Order } from '../../service/order/orders.js';
import { isCalendarDate, utcInstant } from '../../service/timestamps.js';
import { slotIdOf, slotOf } from '../../protocol/appointment/slots.js';
import type { Slot, SlotQuestion, Slots, SlotSite } from '../../protocol/appointment/messages.js';
import { snapshotOf } from '../../service/order/projection.js';
import { addressOf, type Place, placeOf } from './places.js';
import { readForCommand } from '../order/orders.js';
import { mostSites } from '../../service/appointment/walk-ins.js';
import { omitNullish } from '../../service/json-object.js';

/* Available slots. The address and the booking keys stay in here: neither enters Temporal. */

/** More would make the history too large; `startDate` requests the days after them. */
const mostSlots = 2_000;

interface Offer extends Slot {
  bookingKey: string;
}

interface Offered {
  offers: Offer[];
  sites: SlotSite[];
}

/** Slots near the order's address, or at service centres, without their booking keys. */
export async function slotsFor(service: LabService, orderId: string, question: SlotQuestion): Promise<Slots> {
  const { offers, sites, timezone } = await offersFor(service, orderId, question, {});
  const slots = offers.slice(0, mostSlots).map(({ bookingKey: _bookingKey, ...slot }) => slot);
  const named = sites.filter(({ code }) => slots.some(({ siteCode }) => siteCode === code));
  return { slots, ...(timezone !== undefined && { timezone }), ...(named.length > 0 && { sites: named }) };
}

/** A fresh key for the chosen slot; `undefined` if the slot is no longer offered, or has another price. */
export async function bookingKeyFor(
  service: LabService,
  orderId: string,
  slotId: string,
  options: CallOptions,
): Promise<string | undefined> {
  const { day, site } = slotOf(slotId) ?? {};
  const question = { ...(day !== undefined && { startDate: day }), ...(site !== undefined && { siteCodes: [site] }) };
  const { offers } = await offersFor(service, orderId, question, options);
  return offers.find(({ id }) => id === slotId)?.bookingKey;
}

async function offersFor(
  service: LabService,
  orderId: string,
  question: SlotQuestion,
  options: CallOptions,
): Promise<Offered & { timezone?: string }> {
  const order = await readForCommand(service, orderId, options);
  heartbeat();
  const place = placeOf(snapshotOf(order, []));
  const availability = await availabilityFor(service, order, place, question, options);
  const { timezone } = availability;
  return { ...offersOf(availability, place), ...(timezone != null && { timezone }) };
}

async function availabilityFor(
  service: LabService,
  order: Order,
  place: Place,
  question: SlotQuestion,
  options: CallOptions,
): Promise<Availability> {
  if (place === 'centre') return walkInAvailability(service, order, question, options);
  const { startDate, ...ofWalkIns } = question;
  const [field] = Object.keys(ofWalkIns);
  if (field !== undefined) throw notAtHome(field);
  return service.appointments.availability(addressOf(order), startDate ? { startDate } : {}, options);
}

function notAtHome(field: string): ApplicationFailure {
  const message = 'is only for a service-centre visit: leave it out';
  return ApplicationFailure.nonRetryable(`${field} ${message}`, 'InvalidCommand', { fields: [{ field, message }] });
}

/**
 * Slots that cannot be booked, or have no time, are skipped. At a service centre also those without a site, because the
 * site in a slot's id decides which calls book it; at home a location means nothing.
 */
function offersOf({ slots }: Availability, place: Place): Offered {
  const sites = new Map<string, SlotSite>();
  const offers = (slots ?? []).flatMap(({ date, location, slots: ofDay }) => {
    const site = place === 'centre' && location ? siteOf(location) : undefined;
    if (place === 'centre' && !site) {
      log.warn('slots that name no site were left out', { slots: ofDay?.length ?? 0 });
      return [];
    }
    if (site) sites.set(site.code, site);
    return (ofDay ?? []).flatMap((slot) => offerOf(date ?? undefined, site?.code, slot) ?? []);
  });
  // Two people who could come at the same time for the same price are one choice.
  const choices = [...new Map(offers.map((offer) => [offer.id, offer])).values()];
  return { offers: choices, sites: [...sites.values()] };
}

function offerOf(date: string | undefined, siteCode: string | undefined, slot: TimeSlot): Offer | undefined {
  const { booking_key: bookingKey, price, is_priority: isPriority } = slot;
  const start = utcInstant(slot.start);
  const end = utcInstant(slot.end) ?? start;
  if (bookingKey == null || bookingKey === '' || start === undefined || end === undefined) return undefined;
  if (slot.num_appointments_available === 0) return undefined;
  const day = date !== undefined && isCalendarDate(date) ? date : start.slice(0, 10);
  const cost = price == null ? {} : { price };
  const id = slotIdOf({ day, start, end, ...cost, ...(siteCode !== undefined && { site: siteCode }) });
  // A price that cannot be written into an id could not be found again.
  if (slotOf(id) === undefined) return undefined;
  const more = omitNullish({ isPriority, siteCode });
  return { id, start, end, ...cost, ...more, bookingKey };
}

/* Slots at service centres of the order's laboratory. */

/** The slots of the sites that are named, or of those near a zip code: that of the question, else that of the order's address. */
async function walkInAvailability(
  service: LabService,
  order: Order,
  { startDate, siteCodes, zipCode, radius }: SlotQuestion,
  options: CallOptions,
): Promise<Availability> {
  const lab = await labOf(service, order, options);
  heartbeat();
  const place =
    siteCodes === undefined
      ? { zipCode: zipCode ?? addressOf(order).zip_code, ...(radius !== undefined && { radius }) }
      : { siteCodes: siteCodes.slice(0, mostSites) };
  return service.walkIns.availability({ lab, ...place, ...(startDate !== undefined && { startDate }) }, options);
}

/** An order that does not show its laboratory has sites that do. */
async function labOf(service: LabService, order: Order, options: CallOptions): Promise<string> {
  const lab = order.lab_test?.lab?.slug ?? (await service.centres.forOrder(order.id, {}, options)).lab;
  if (lab != null && lab !== '') return lab;
  const message =
    'The service names no laboratory for this order, so its service centres are not known: ask the lab service';
  throw ApplicationFailure.nonRetryable(message, 'AvailabilityRefused', { fields: [] });
}

type DayLocation = NonNullable<NonNullable<Availability['slots']>[number]['location']>;

/** A site as the product shows it to the person who goes there. */
function siteOf(location: DayLocation): SlotSite | undefined {
  const { code, name, distance, iana_timezone: timezone } = location;
  if (code == null || !/^[!-~]{1,64}$/.test(code)) return undefined;
  const { first_line, second_line, city, state, zip_code: zip } = location.address ?? {};
  const region = [state, zip].filter((part) => part != null && part !== '').join(' ');
  const address = [first_line, second_line, city, region].filter((part) => part != null && part !== '').join(', ');
  return {
    code,
    ...omitNullish({ name, distance, timezone }),
    ...(address !== '' && { address }),
  };
}
