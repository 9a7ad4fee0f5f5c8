import { createHash } from 'node:crypto';
import { refusal } from './validation.js';
import { inventedLab, type Marker } from './seed.js';
import { presentLow, type Json } from './order-body.js';
import type { Order } from './state.js';
import { calendarDate } from './clock.js';

/**
 * Invented laboratory results. The values follow from the order's id, so reading twice gives the same, and from
 * its interpretation: the first marker is out of range when the results are not normal.
 */

/** Throws the 404 while there are no results; its wording is not documented. */
export function requireResults(order: Order): number {
  if (order.resultsAt === null) throw refusal(404, 'Results are not available for this order');
  return order.resultsAt;
}

export function resultMetadata(order: Order): Json {
  const reportedAt = requireResults(order);
  const patient = order.patient_details;
  const birth = patient?.dob ?? null;
  const low = presentLow(order);
  return {
    age: birth === null ? '' : String(ageAt(birth, reportedAt)),
    dob: birth ?? '',
    'clia_#': '99D0000000',
    patient: patient === null ? '' : `${patient.last_name}, ${patient.first_name}`,
    provider: order.physician === null ? null : `${order.physician.last_name}, ${order.physician.first_name}`,
    laboratory: inventedLab.name,
    date_reported: calendarDate(reportedAt),
    date_collected: dateOf(order, 'transit_lab') ?? calendarDate(reportedAt),
    date_received: dateOf(order, 'delivered_to_lab'),
    specimen_number: order.sampleId ?? order.kitSampleId ?? '',
    status: low === 'partial_results' ? 'partial' : low === 'corrected' ? 'corrected' : 'final',
    interpretation: order.interpretation,
    patient_id: order.userId,
    account_id: order.lab_account_id,
  };
}

/** `LabResultsRaw`; the caller adds the transaction. */
export function labResults(order: Order): Json {
  const metadata = resultMetadata(order);
  const { markers } = order.labTest;
  const missing = order.hasMissingResults === true ? markers.slice(-1) : [];
  return {
    metadata,
    results: markers
      .filter((marker) => !missing.includes(marker))
      .map((marker, index) => biomarkerResult(order, marker, index === 0 ? order.interpretation : 'normal')),
    missing_results: missing.length === 0 ? null : missing.map(missingResult),
    sample_information: null,
  };
}

function biomarkerResult(order: Order, marker: Marker, interpretation: Order['interpretation']): Json {
  const outside = interpretation === 'abnormal' || interpretation === 'critical';
  const excess = interpretation === 'critical' ? 3 : 1.3;
  const value = Number((outside ? marker.max * excess : withinRange(order, marker)).toFixed(1));
  return {
    name: marker.name,
    slug: marker.slug,
    value,
    result: String(value),
    type: 'numeric',
    unit: marker.unit,
    timestamp: new Date(requireResults(order)).toISOString(),
    notes: null,
    reference_range: `${marker.min}-${marker.max}`,
    min_range_value: marker.min,
    max_range_value: marker.max,
    is_above_max_range: value > marker.max,
    is_below_min_range: value < marker.min,
    interpretation: interpretation ?? 'normal',
    loinc: marker.loinc,
    loinc_slug: marker.slug,
    provider_id: String(marker.id),
    source_markers: null,
    performing_laboratory: inventedLab.name,
    source_sample_id: order.sampleId,
  };
}

function missingResult(marker: Marker): Json {
  return {
    name: marker.name,
    slug: marker.slug,
    inferred_failure_type: 'quantity_not_sufficient_failure',
    note: null,
    loinc: marker.loinc,
    loinc_slug: marker.slug,
    provider_id: String(marker.id),
    source_markers: null,
  };
}

/** A correction is a new value: the number of events goes into it. */
function withinRange(order: Order, marker: Marker): number {
  const corrections = order.events.filter(({ status }) => status.endsWith('.corrected')).length;
  const digest = createHash('sha256').update(`${order.id}/${marker.id}/${corrections}`).digest();
  const share = digest.readUInt16BE(0) / 0xffff;
  return marker.min + (marker.max - marker.min) * (0.2 + 0.6 * share);
}

function dateOf(order: Order, low: string): string | null {
  const event = order.events.find(({ status }) => status.endsWith(`.${low}`));
  return event === undefined ? null : calendarDate(event.createdAt);
}

function ageAt(birthDate: string, time: number): number {
  const today = calendarDate(time);
  const years = Number(today.slice(0, 4)) - Number(birthDate.slice(0, 4));
  return today.slice(5) < birthDate.slice(5) ? years - 1 : years;
}
