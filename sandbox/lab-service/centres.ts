import type { AppointmentAddress } from './appointment-routes.js';
import type { Json } from './order-body.js';
import { slotZone } from './slots.js';

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

export const centres: readonly Centre[] = [
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
