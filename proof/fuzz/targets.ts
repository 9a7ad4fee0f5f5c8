import { ids } from '../../tools/service-check/ids.js';
import type * as workflows from '../../workflows/index.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { placings } from './input-seeds.js';

/** A workflow that is started, with a good input. */
export interface Target {
  workflow: keyof typeof workflows;
  id: string;
  input: object;
}

const at = '2026-01-05T10:00:00.000Z';
export const snapshot = {
  orderId: 'order-1',
  method: 'testkit',
  userId: 'user-1',
  status: 'failed',
  events: [{ id: 1, at, status: 'failed.testkit.lost', detail: 'invented' }],
  transaction: { id: 'transaction-1', status: 'active', orders: [{ id: 'order-1', origin: 'initial', createdAt: at }] },
  createdAt: at,
  updatedAt: at,
};
const notification = {
  id: 'notification-1',
  type: 'labops.order.phase_changed',
  at,
  subject: 'order-1',
  data: { reference: 'order-1001', phase: 'completed' },
};

/** One of each kind that takes commands or signals. */
export const targets: readonly Target[] = [
  { workflow: 'kitOrder', id: 'kit-order/order-1', input: { rootOrderId: 'order-1' } },
  {
    workflow: 'linkProvider',
    id: 'link-provider/user-1/invented_watch',
    input: { userId: 'user-1', provider: 'invented_watch' },
  },
  { workflow: 'bookAppointment', id: 'appointment/order-1', input: { orderId: 'order-1' } },
  { workflow: 'matchReview', id: 'match-review/result-1', input: { rawResultId: 'result-1' } },
  { workflow: 'parsingJob', id: 'parsing-job/job-1', input: { jobId: 'job-1' } },
  { workflow: 'deleteUser', id: 'delete-user/user-1', input: { userId: 'user-1', clientUserId: 'product-user-1' } },
  {
    workflow: 'deliverNotifications',
    id: 'deliver-notifications/kit-order/order-1',
    input: { source: 'kit-order/order-1', giveUpAfter: 86_400_000 },
  },
  { workflow: 'placeKitOrder', id: 'place-kit-order/order-1001', input: { ...placings[0], notifies: true } },
  {
    workflow: 'submitReport',
    id: 'submit-report/report-1',
    input: { reference: 'report-1', userId: ids.userId, file: { path: 'invented.pdf' } },
  },
  { workflow: 'fetchWorkoutStream', id: 'workout-stream/workout-1', input: { workoutId: 'workout-1' } },
];

/** A message to a running workflow. */
export interface Message {
  workflow: string;
  name: string;
  /** A good argument. */
  seed: unknown;
  /** The policy that our own workflows, the only senders, have resolved before. */
  policy?: object;
}

/** Signals with good arguments. */
export const signals: readonly Message[] = [
  { workflow: 'kitOrder', name: 'orderChanged', seed: snapshot },
  {
    workflow: 'kitOrder',
    name: 'orderPlaced',
    seed: { snapshot, reference: 'order-1001', labTestId: ids.labTestId, adopted: false, notifies: true },
    policy: resolvePolicy('order'),
  },
  {
    workflow: 'kitOrder',
    name: 'criticalResultReported',
    seed: {
      orderId: 'order-1',
      userId: 'user-1',
      sampleId: 'SAMPLE-1',
      status: 'final',
      interpretation: 'critical',
      order: snapshot,
    },
  },
  {
    workflow: 'kitOrder',
    name: 'replacementPlaced',
    seed: { rootOrderId: 'order-0', snapshot, reference: 'order-1001', n: 2 },
  },
  {
    workflow: 'bookAppointment',
    name: 'appointmentChanged',
    seed: {
      orderId: 'order-1',
      appointmentId: 'a-1',
      status: 'confirmed',
      startAt: at,
      endAt: at,
      events: [{ at, status: 'scheduled' }],
    },
  },
  { workflow: 'bookAppointment', name: 'bookingRequested', seed: { userId: 'user-1', policy: {}, notifies: true } },
  {
    workflow: 'matchReview',
    name: 'matchReviewReported',
    seed: { rawResultId: 'result-1', status: 'pending_customer_review' },
  },
  { workflow: 'matchReview', name: 'reviewRequested', seed: { policy: {}, notifies: true } },
  {
    workflow: 'parsingJob',
    name: 'jobChanged',
    seed: { jobId: 'job-1', status: 'completed', userId: 'user-1', counts: { results: 3 } },
  },
  {
    workflow: 'parsingJob',
    name: 'reportSubmitted',
    seed: {
      reference: 'report-1',
      userId: 'user-1',
      snapshot: { jobId: 'job-1', status: 'started' },
      notifies: true,
    },
    policy: resolvePolicy('report'),
  },
  {
    workflow: 'deliverNotifications',
    name: 'notificationsLeft',
    seed: {
      notifications: [notification],
      refused: [{ notification: { ...notification, id: 'notification-2' }, status: 410 }],
    },
  },
  { workflow: 'linkProvider', name: 'connectionReported', seed: {} },
  { workflow: 'fetchWorkoutStream', name: 'streamNoticed', seed: { userId: 'user-1' } },
];
