// In your backend: '@lab-operations/client'.
import { isBookable, type Centre, type LabOperations, type Slots } from '../../client/index.js';
import type { Visit } from './appointments.js';
import { form, type Field } from './forms.js';
import type { Problem } from './problems.js';
import { html, moment, table, type Html, type Part } from './html.js';

/* The parts of the appointment's pages on which somebody chooses where and when. */

const radii = [10, 20, 25, 50, 100] as const;
type Radius = (typeof radii)[number];

/** The service centres near the patient's address, or near a zip code. */
export async function sitesPart(
  lab: LabOperations,
  { here, orderId }: Visit,
  { zipCode, radius }: Record<string, string>,
): Promise<Html> {
  const miles = radiusOf(radius);
  const near = await lab.appointments.sites({ orderId, radius: miles });
  const { labId } = near;
  const { centres } =
    zipCode === undefined || labId === undefined
      ? near
      : await lab.appointments.sites({ zipCode, labId, radius: miles });
  const rows = centres.map((centre): Part[] => [
    html`${centre.metadata?.name}<br />${addressOf(centre)}`,
    `${centre.distance ?? '?'} miles`,
    timesOf(here, centre),
  ]);
  return html`<h2>Near ${zipCode ?? 'your address'}</h2>
    ${table(['Service centre', 'Distance', 'Times'], rows, 'There is no service centre here: search farther away.')}`;
}

export function searchForm(here: string, entered: Record<string, string>, problem?: Problem): Html {
  const fields: Field[] = [
    { name: 'zipCode', label: 'Zip code', autocomplete: 'postal-code' },
    {
      name: 'radius',
      label: 'Miles around it',
      value: '25',
      options: radii.map((each) => ({ value: String(each), text: String(each) })),
    },
  ];
  return html`<h2>Somewhere else</h2>
    ${form(`${here}/times`, 'Search', {
      fields,
      entered,
      problem: problem && problem.fields.length > 0 ? problem : undefined,
    })}`;
}

function timesOf(here: string, centre: Centre): Part {
  const { site_code: site } = centre;
  if (site == null || !isBookable(centre)) return 'No appointments: just go there.';
  return form(`${here}/times`, `Times at ${centre.metadata?.name ?? site}`, { hidden: { site } });
}

function addressOf({ metadata }: Centre): string {
  const { first_line: street, city, state, zip_code: zip } = metadata ?? {};
  return [street, city, [state, zip].filter(Boolean).join(' ')].filter(Boolean).join(', ');
}

/** The hours that can be booked, by the clock of the place. */
export function slotForm({ here, isBooked }: Visit, { slots, sites, timezone }: Slots): Html {
  if (slots.length === 0) return html`<p>There are no times in the next two weeks.</p>`;
  const zones = new Map(sites?.map((site) => [site.code, site.timezone]));
  const options = slots.map(({ id, start, siteCode }) => ({
    value: id,
    // A booked appointment is shown in UTC: its state does not say the zone.
    text: `${moment(start, zones.get(siteCode ?? '') ?? timezone)} (${start.slice(11, 16)} UTC)`,
  }));
  const where = (sites ?? []).map(({ name, code, address }) => html`<p>${name ?? code}, ${address}</p>`);
  const fields: Field[] = [
    { name: 'slotId', label: 'Time', options },
    { name: 'notes', label: 'Note for the visit', type: 'area', required: false },
  ];
  return html`${where}
  ${form(here, isBooked ? 'Move the appointment' : 'Book', { fields, hidden: isBooked ? { instead: 'yes' } : {} })}`;
}

function radiusOf(text: string | undefined): Radius {
  return radii.find((each) => String(each) === text) ?? 25;
}
