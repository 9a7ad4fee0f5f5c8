import { calendarDate, dayMs, timestamp } from './clock.js';
import { lowLevel, topLevel } from './lifecycle.js';
import { inventedLab, inventedTeamId, type LabTest, type Marker } from './seed.js';
import type { Settings } from './settings.js';
import type { CriticalResult } from './orders.js';
import type { LabState, Order, OrderEvent, Shipment } from './state.js';

/** Orders and transactions as the service writes them, with every switch applied. */

/** A body of the service, as JSON. */
export type Json = Record<string, unknown>;

/** Answers and webhooks may have different fields. */
export type Surface = 'answer' | 'webhook';

function lastEventOf(order: Order): OrderEvent | undefined {
  return order.events.at(-1);
}

/** The present low-level status. */
export function presentLow(order: Order): string {
  return lowLevel(lastEventOf(order)?.status ?? '');
}

/** The present top-level status. */
export function presentTop(order: Order): string {
  return topLevel(lastEventOf(order)?.status ?? 'received');
}

export function orderBody(order: Order, state: LabState, settings: Settings, surface: Surface) {
  const events = order.events.map((event) => eventBody(event));
  const withTransaction = surface === 'answer' || settings.transactionInWebhooks;
  return {
    id: order.id,
    team_id: inventedTeamId,
    user_id: order.userId,
    patient_details: order.patient_details,
    patient_address: order.patient_address,
    lab_test: labTestBody(order.labTest),
    details: detailsBody(order),
    sample_id: order.sampleId,
    notes: null,
    clinical_notes: order.clinical_notes,
    created_at: timestamp(order.createdAt),
    updated_at: timestamp(order.updatedAt),
    events,
    status: presentTop(order),
    last_event: events.at(-1) ?? null,
    physician: order.physician,
    health_insurance_id: order.healthInsuranceId,
    requisition_form_url: order.hasRequisition ? `https://files.example.com/requisitions/${order.id}.pdf` : null,
    priority: order.priority,
    shipping_details: order.shipping_details,
    activate_by: order.activate_by,
    ...(settings.echoPassthrough ? { passthrough: order.passthrough } : {}),
    ...(order.billing_type === null ? {} : { billing_type: order.billing_type }),
    icd_codes: order.icd_codes,
    has_abn: false,
    interpretation: order.interpretation,
    has_missing_results: order.hasMissingResults,
    ...expectedResults(order, settings),
    origin: order.origin,
    // Documented if the service made an order again; a redraw's parent is in its transaction.
    ...(order.origin === 'recreation' && { parent_id: order.parentId }),
    ...(withTransaction ? { order_transaction: transactionInOrder(order, state) } : {}),
    // Seen on reading only if the creator sent it.
    ...(order.lab_account_id === null ? {} : { lab_account_id: order.lab_account_id }),
  };
}

function eventBody(event: OrderEvent) {
  return {
    id: event.id,
    created_at: timestamp(event.createdAt),
    status: event.status,
    status_detail: event.statusDetail,
  };
}

function detailsBody(order: Order): Json {
  const common = {
    id: order.detailsId,
    created_at: timestamp(order.createdAt),
    updated_at: timestamp(order.updatedAt),
  };
  const { method } = order.labTest;
  if (method === 'testkit') {
    // A new kit order has no shipment key at all.
    const shipment = order.shipment === null ? {} : { shipment: shipmentBody(order.shipment, order) };
    return { type: method, data: { ...common, ...shipment } };
  }
  return {
    type: method,
    data: method === 'on_site_collection' ? common : { ...common, appointment_id: order.appointmentId },
  };
}

function shipmentBody(shipment: Shipment, order: Order): Json {
  const tracking = 'https://tracking.example.com/';
  return {
    id: shipment.id,
    outbound_tracking_number: shipment.outboundTrackingNumber,
    outbound_tracking_url: tracking + shipment.outboundTrackingNumber,
    inbound_tracking_number: shipment.inboundTrackingNumber,
    inbound_tracking_url: tracking + shipment.inboundTrackingNumber,
    outbound_courier: 'usps',
    inbound_courier: 'usps',
    notes: null,
    created_at: timestamp(shipment.createdAt),
    updated_at: timestamp(order.updatedAt),
  };
}

export function labTestBody(test: LabTest): Json {
  return {
    id: test.id,
    slug: test.slug,
    name: test.name,
    description: test.description,
    sample_type: test.sampleType,
    method: test.method,
    price: test.price,
    is_active: true,
    status: 'active',
    fasting: false,
    lab: {
      ...inventedLab,
      first_line_address: '1 Invented Street',
      city: 'Springfield',
      zipcode: '62701',
      collection_methods: [test.method],
      sample_types: [test.sampleType],
    },
    markers: test.markers.map((marker) => ({
      ...{ id: marker.id, name: marker.name, slug: marker.slug, description: null },
      ...{ lab_id: inventedLab.id, provider_id: String(marker.id), type: 'biomarker', unit: marker.unit, price: null },
      aoe: questionsBody(marker),
    })),
    is_delegated: false,
    auto_generated: false,
    has_collection_instructions: test.method === 'testkit',
    common_tat_days: test.commonTatDays,
    worst_case_tat_days: test.worstCaseTatDays,
  };
}

/** `aoe`: what an order of the marker has to answer; null without a question. */
export function questionsBody({ questions }: Marker): Json | null {
  if (questions === undefined) return null;
  return {
    questions: questions.map(({ choices, ...question }, index) => ({
      ...question,
      sequence: index + 1,
      answers: choices,
      constraint: null,
      default: null,
    })),
  };
}

function expectedResults(order: Order, { resultDates }: Settings): Json {
  const arrival = order.events.find((event) => lowLevel(event.status) === 'delivered_to_lab');
  const due = (days: number): string | null =>
    arrival === undefined || resultDates === false ? null : calendarDate(arrival.createdAt + days * dayMs);
  return {
    expected_result_by_date: due(order.labTest.commonTatDays),
    worst_case_result_by_date: due(typeof resultDates === 'number' ? resultDates : order.labTest.worstCaseTatDays),
  };
}

/** Completed once one of its orders is, cancelled when all are; else active: a redraw may still come. */
function transactionStatus(orders: readonly Order[]): string {
  const tops = orders.map(presentTop);
  if (tops.includes('completed')) return 'completed';
  return tops.every((top) => top === 'cancelled') ? 'cancelled' : 'active';
}

function transactionInOrder(order: Order, state: LabState): Json {
  const orders = state.ordersOfTransaction(order.transactionId);
  return {
    id: order.transactionId,
    status: transactionStatus(orders),
    orders: orders.map((member) => ({
      id: member.id,
      low_level_status: presentLow(member),
      low_level_status_created_at: timestamp(lastEventOf(member)?.createdAt ?? member.createdAt),
      origin: member.origin,
      parent_id: member.parentId,
      created_at: timestamp(member.createdAt),
      updated_at: timestamp(member.updatedAt),
    })),
  };
}

/** The answer of the transaction endpoint, whose order summaries have their own key names. */
export function transactionBody(transactionId: string, orders: readonly Order[]): Json {
  return {
    id: transactionId,
    team_id: inventedTeamId,
    status: transactionStatus(orders),
    orders: orders.map((order) => ({
      id: order.id,
      origin: order.origin,
      parent_id: order.parentId,
      last_status: presentLow(order),
      last_status_created_at: timestamp(lastEventOf(order)?.createdAt ?? order.createdAt),
      updated_at: timestamp(order.updatedAt),
      created_at: timestamp(order.createdAt),
    })),
  };
}

/** A critical result as the documented webhook carries it: no id, no events, no values. */
export function criticalResultBody(order: Order, result: CriticalResult, now: number): Json {
  return {
    order_id: order.id,
    sample_id: order.sampleId ?? order.kitSampleId ?? '',
    status: result.status,
    ...(result.interpretation === null ? {} : { interpretation: result.interpretation }),
    team_id: inventedTeamId,
    user_id: order.userId,
    created_at: timestamp(order.resultsAt ?? now),
    updated_at: timestamp(now),
  };
}
