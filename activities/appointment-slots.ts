import { ApplicationFailure, heartbeat } from '@temporalio/activity';
import type { AppointmentAddress, Availability, TimeSlot } from '../service/appointments.js';
import type { CallOptions } from '../service/http.js';
import type { LabService } from '../service/lab-service.js';
import type { Order } from '../service/orders.js';
import { isCalendarDate, utcInstant } from '../service/timestamps.js';
import { slotIdOf, slotOf } from '../protocol/appointment/slots.js';
import type { Slot, Slots } from '../protocol/appointment/messages.js';

/* Available slots. The address and the booking keys stay in here: neither enters Temporal. */

/** More would make the history too large; `startDate` requests the days after them. */
const mostSlots = 2_000;

interface Offer extends Slot {
  bookingKey: string;
}

/** Slots near the order's address, without their booking keys. */
export async function slotsFor(service: LabService, orderId: string, startDate: string | undefined): Promise<Slots> {
  const { offers, timezone } = await offersFor(service, orderId, startDate, {});
  const slots = offers.slice(0, mostSlots).map(({ bookingKey: _bookingKey, ...slot }) => slot);
  return { slots, ...(timezone !== undefined && { timezone }) };
}

/** A fresh key for the chosen slot; `undefined` if the slot is no longer offered, or has another price. */
export async function bookingKeyFor(
  service: LabService,
  orderId: string,
  slotId: string,
  options: CallOptions,
): Promise<string | undefined> {
  const { offers } = await offersFor(service, orderId, slotOf(slotId)?.day, options);
  return offers.find(({ id }) => id === slotId)?.bookingKey;
}

async function offersFor(
  service: LabService,
  orderId: string,
  startDate: string | undefined,
  options: CallOptions,
): Promise<{ offers: Offer[]; timezone?: string }> {
  const address = addressOf(await service.orders.get(orderId, options));
  heartbeat();
  const availability = await service.appointments.availability(address, startDate ? { startDate } : {}, options);
  const { timezone } = availability;
  return { offers: offersOf(availability), ...(timezone != null && { timezone }) };
}

/** Slots that cannot be booked, or have no time, are skipped. */
function offersOf({ slots }: Availability): Offer[] {
  const offers = (slots ?? []).flatMap(({ date, slots: ofDay }) =>
    (ofDay ?? []).flatMap((slot) => offerOf(date ?? undefined, slot) ?? []),
  );
  // Two people who could come at the same time for the same price are one choice.
  return [...new Map(offers.map((offer) => [offer.id, offer])).values()];
}

function offerOf(date: string | undefined, slot: TimeSlot): Offer | undefined {
  const { booking_key: bookingKey, price, is_priority: isPriority } = slot;
  const start = utcInstant(slot.start);
  const end = utcInstant(slot.end) ?? start;
  if (bookingKey == null || bookingKey === '' || start === undefined || end === undefined) return undefined;
  const day = date !== undefined && isCalendarDate(date) ? date : start.slice(0, 10);
  const cost = price == null ? {} : { price };
  const id = slotIdOf({ day, start, end, ...cost });
  // A price that cannot be written into an id could not be found again.
  if (slotOf(id) === undefined) return undefined;
  return { id, start, end, ...cost, ...(isPriority != null && { isPriority }), bookingKey };
}

/** The visit is at the order's own address, which is read when it is needed and not stored. */
export function addressOf(order: Order): AppointmentAddress {
  const { patient_address: home } = order;
  if (home == null) {
    const message = 'is not shown by the order; an appointment needs it';
    throw ApplicationFailure.nonRetryable(`patient_address ${message}`, 'AddressMissing', {
      fields: [{ field: 'patient_address', message }],
    });
  }
  return {
    first_line: home.first_line ?? '',
    ...(home.second_line != null && home.second_line !== '' && { second_line: home.second_line }),
    city: home.city ?? '',
    state: home.state ?? '',
    zip_code: home.zip ?? '',
    ...(home.access_notes != null && home.access_notes !== '' && { access_notes: home.access_notes }),
  };
}
