import type { LabService } from '../../service/lab-service.js';
import { managementCalls } from './management-calls.js';
import { orderCalls } from './order-calls.js';
import { chosenWords, ids } from './ids.js';
import { patient, proxy, lines, visitAddress } from './persons.js';

/** One call of the client, with a request that it accepts. What it reads is its result; a list is read to its end. */
export interface SampleCall {
  /** The method of the client, as `orders.createTestkit`; after a colon what is special about this call. */
  name: string;
  run: (service: LabService) => Promise<unknown>;
}

/** Builds the table's rows: `{ 'orders.get': (service) => … }`. */
export type Calls = Readonly<Record<string, (service: LabService) => Promise<unknown> | AsyncIterable<unknown>>>;

const { userId, orderId, jobId, rawResultId, workoutId } = ids;
const { provider, lab, visits } = chosenWords;
const linkToken = 'invented-link-token';

const userCalls: Calls = {
  'users.list': ({ users }) => users.list({ pageSize: 50 }),
  'users.get': ({ users }) => users.get(userId),
  'users.create: with all fields': ({ users }) =>
    users.create({
      client_user_id: 'product-user-1',
      fallback_time_zone: 'America/Chicago',
      fallback_birth_date: '1971-03-17',
      ingestion_start: '2026-01-01',
      ingestion_end: '2026-12-31',
    }),
  'users.create': ({ users }) => users.create({ client_user_id: 'product-user-1' }),
  'users.resolve': ({ users }) => users.resolve('product user/1'),
  'users.getDemographics': ({ users }) => users.getDemographics(userId),
  'users.upsertDemographics': ({ users }) =>
    users.upsertDemographics(userId, { ...patient, address: { ...lines, access_notes: null }, medical_proxy: proxy }),
  'users.update': ({ users }) => users.update(userId, { fallback_time_zone: 'Europe/Berlin' }),
  'users.delete': ({ users }) => users.delete(userId),
  'users.undoDelete': ({ users }) => users.undoDelete({ userId }),
  'users.undoDelete: by client user id': ({ users }) => users.undoDelete({ clientUserId: 'product-user-1' }),
  'portal.createUrl': ({ portal }) => portal.createUrl(userId, { context: 'launch' }),
  'portal.createUrl: of an order': ({ portal }) => portal.createUrl(userId, { context: 'communications', orderId }),
};

const linkCalls: Calls = {
  'links.createToken': ({ links }) => links.createToken({ user_id: userId }),
  'links.createToken: with all fields': ({ links }) =>
    links.createToken({
      user_id: userId,
      provider,
      redirect_url: 'https://product.example.com/linked',
      filter_on_providers: [provider],
      on_error: 'redirect',
      on_close: 'redirect',
    }),
  'links.submitPassword': ({ links }) =>
    links.submitPassword(provider, linkToken, {
      username: 'sample-user-7',
      password: 'sample-password-7',
      region: 'eu',
    }),
  'links.completeMfa': ({ links }) => links.completeMfa(provider, linkToken, '123456'),
  'providers.list': ({ providers }) => providers.list({ sourceType: 'password' }),
  'providers.connectionsOf': ({ providers }) => providers.connectionsOf(userId),
  'providers.deregister': ({ providers }) => providers.deregister(userId, provider),
  'timeseries.workoutStream': ({ timeseries }) => timeseries.workoutStream(workoutId),
};

async function* pdf(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from('%PDF-1.7 invented'));
}

const reportCalls: Calls = {
  'reports.createJob': ({ reports }) =>
    reports.createJob({ userId, needsHumanReview: false, file: { contentType: 'application/pdf', bytes: pdf() } }),
  'reports.getJob': ({ reports }) => reports.getJob(jobId),
  'matchReviews.list': ({ matchReviews }) =>
    matchReviews.list({
      status: 'pending_customer_review',
      decisionCode: 'no_match',
      labSlug: lab,
      from: '2026-01-01',
      to: '2026-02-01',
      searchInput: 'invented',
    }),
  'matchReviews.get': ({ matchReviews }) => matchReviews.get(rawResultId),
  'matchReviews.accept': ({ matchReviews }) => matchReviews.accept(rawResultId),
  'matchReviews.accept: of an order': ({ matchReviews }) =>
    matchReviews.accept(rawResultId, { order_id: orderId, note: 'Invented' }),
  'matchReviews.resolve': ({ matchReviews }) =>
    matchReviews.resolve(rawResultId, { action: 'reject', note: 'Invented' }),
};

const booking = { booking_key: 'invented-booking-key' };
const bookingInFull = {
  ...booking,
  appointment_notes: 'Invented',
  async_confirmation: true,
  sync_confirmation_timeout_millisecond: 5_000,
  async_confirmation_timeout_millisecond: 600_000,
};

const appointmentCalls: Calls = {
  'appointments.availability': ({ appointments }) =>
    appointments.availability(visitAddress, { startDate: '2026-02-01' }),
  'appointments.book': ({ appointments }) => appointments.book(orderId, booking),
  'appointments.book: with all fields': ({ appointments }) => appointments.book(orderId, bookingInFull),
  'appointments.request': ({ appointments }) =>
    appointments.request(orderId, {
      address: visitAddress,
      provider: visits,
      appointment_notes: 'Invented',
    }),
  'appointments.reschedule': ({ appointments }) => appointments.reschedule(orderId, booking),
  'appointments.cancel': ({ appointments }) =>
    appointments.cancel(orderId, { cancellation_reason_id: ids.reasonId, notes: 'Invented' }),
  'appointments.get': ({ appointments }) => appointments.get(orderId),
  'appointments.cancellationReasons': ({ appointments }) => appointments.cancellationReasons(),
  'walkIns.availability': ({ walkIns }) =>
    walkIns.availability({ lab, siteCodes: ['INV'], startDate: '2026-02-01', allowStale: true }),
  'walkIns.availability: near': ({ walkIns }) => walkIns.availability({ lab, zipCode: '62701-1234', radius: 50 }),
  'walkIns.book': ({ walkIns }) => walkIns.book(orderId, bookingInFull, { idempotencyKey: 'invented-key' }),
  'walkIns.reschedule': ({ walkIns }) => walkIns.reschedule(orderId, booking),
  'walkIns.cancel': ({ walkIns }) => walkIns.cancel(orderId, { cancellationReasonId: ids.reasonId, note: 'Invented' }),
  'walkIns.get': ({ walkIns }) => walkIns.get(orderId),
  'walkIns.cancellationReasons': ({ walkIns }) => walkIns.cancellationReasons(),
  'centres.coverage': ({ centres }) =>
    centres.coverage({
      zipCode: '62701',
      radius: 25,
      lab,
      labs: [lab],
      labAccountId: ids.accountId,
    }),
  'centres.near': ({ centres }) =>
    centres.near({ zipCode: '62701', labId: 7, capabilities: ['stat'], labAccountId: ids.accountId }),
  'centres.forOrder': ({ centres }) => centres.forOrder(orderId, { radius: 10, capabilities: ['stat'] }),
};

/** Every method of the client, most of them with the smallest and with the fullest request. */
export const sampleCalls: readonly SampleCall[] = Object.entries({
  ...userCalls,
  ...linkCalls,
  ...orderCalls,
  ...reportCalls,
  ...appointmentCalls,
  ...managementCalls,
}).map(([name, call]) => ({ name, run: async (service) => settled(call(service)) }));

/** More items than a list of the checked descriptions has; a list that does not end must not hold the check up. */
const mostItems = 1_000;

async function settled(result: Promise<unknown> | AsyncIterable<unknown>): Promise<unknown> {
  if (!(Symbol.asyncIterator in result)) return result;
  const items: unknown[] = [];
  for await (const item of result) {
    items.push(item);
    if (items.length === mostItems) break;
  }
  return items;
}
