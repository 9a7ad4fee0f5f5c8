import { ApplicationFailure, heartbeat } from '@temporalio/activity';
import type { Availability } from '../service/appointments.js';
import type { CallOptions } from '../service/http.js';
import type { LabService } from '../service/lab-service.js';
import type { Order } from '../service/orders.js';
import { mostSites } from '../service/walk-in-requests.js';
import type { SlotQuestion, SlotSite } from '../protocol/appointment/messages.js';
import { addressOf } from './appointment-places.js';

/* Slots at service centres of the order's laboratory. */

/** The slots of the sites that are named, or of those near a zip code: that of the question, else that of the order's address. */
export async function walkInAvailability(
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
export function siteOf(location: DayLocation): SlotSite | undefined {
  const { code, name, distance, iana_timezone: timezone } = location;
  if (code == null || !/^[!-~]{1,64}$/.test(code)) return undefined;
  const { first_line, second_line, city, state, zip_code: zip } = location.address ?? {};
  const region = [state, zip].filter((part) => part != null && part !== '').join(' ');
  const address = [first_line, second_line, city, region].filter((part) => part != null && part !== '').join(', ');
  return {
    code,
    ...(name != null && { name }),
    ...(address !== '' && { address }),
    ...(distance != null && { distance }),
    ...(timezone != null && { timezone }),
  };
}
