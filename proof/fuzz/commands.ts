import { slotIdOf } from '../../protocol/appointment/slots.js';
import { openAppointment, type AppointmentRun } from '../../workflows/appointment/appointment.js';
import * as appointments from '../../workflows/appointment/commands.js';
import { openRun as openEntityRun } from '../../workflows/entity/loop.js';
import * as links from '../../workflows/link/commands.js';
import { openLink, type LinkRun } from '../../workflows/link/link.js';
import { validate as validateReview } from '../../workflows/match-review/commands.js';
import { openReview, type MatchReviewRun } from '../../workflows/match-review/review.js';
import { foldIn, openChain } from '../../workflows/order/chain.js';
import { validateAcknowledgement } from '../../workflows/order/acknowledging.js';
import * as orders from '../../workflows/order/commands.js';
import { validatePolicyChange } from '../../workflows/order/policy-change.js';
import { openRun } from '../../workflows/order/run.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/** An update of a running workflow: its validator, and a good argument. */
export interface Command {
  name: string;
  workflow: 'kitOrder' | 'linkProvider' | 'bookAppointment' | 'matchReview' | 'deleteUser' | 'deliverNotifications';
  seed: unknown;
  validate?: (argument: never) => void;
}

function of(workflow: Command['workflow'], all: readonly Omit<Command, 'workflow'>[]): Command[] {
  return all.map((command) => ({ ...command, workflow }));
}

const at = '2026-01-05T10:00:00.000Z';
export const orderId = 'order-1';

const chain = openChain({ rootOrderId: orderId, policy: resolvePolicy('order') }, Date.parse(at));
foldIn(chain, {
  orderId,
  method: 'testkit',
  userId: 'user-1',
  events: [{ id: 1, at, status: 'failed.testkit.lost' }],
  createdAt: at,
});
const order = openRun(chain, undefined);

const link = {
  ...openEntityRun(),
  link: openLink({ userId: 'user-1', provider: 'invented_watch', policy: resolvePolicy('link') }, Date.parse(at)),
} as LinkRun;
const appointment = {
  ...openEntityRun(),
  appointment: openAppointment({ orderId, policy: resolvePolicy('appointment') }, Date.parse(at)),
} as AppointmentRun;
const review = {
  ...openEntityRun(),
  review: openReview({ rawResultId: 'result-1', policy: resolvePolicy('match review') }, Date.parse(at)),
} as MatchReviewRun;

const registration = {
  sample_id: 'INVENTED-1',
  patient_details: { first_name: 'Testpatient', last_name: 'Imaginary', dob: '1971-03-17', gender: 'female' },
  patient_address: {
    first_line: '77 Fictional Avenue',
    city: 'Nowhereville',
    state: 'IL',
    zip: '62701',
    country: 'US',
  },
};
const options = {
  redirectUrl: 'https://product.example.com/linked',
  filterOnProviders: ['invented_watch'],
  onError: 'redirect',
  onClose: 'redirect',
};
const slotId = slotIdOf({
  day: '2026-02-03',
  start: '2026-02-03T15:00:00.000Z',
  end: '2026-02-03T16:00:00.000Z',
  price: 49,
});

const ofOrders: Command[] = of('kitOrder', [
  {
    name: 'register',
    seed: { orderId, registration },
    validate: (given) => orders.requireAllowed(order, orders.registration(order, given)),
  },
  {
    name: 'cancel',
    seed: { orderId },
    validate: (given) => orders.requireAllowed(order, orders.cancellation(order, given)),
  },
  {
    name: 'replaceKit',
    seed: { orderId },
    validate: (given) => orders.requireAllowed(order, orders.replacement(order, given)),
  },
  {
    name: 'resolveProblem',
    seed: { orderId, decision: 'wait', insteadOf: 'wait' },
    validate: (given) => orders.requireAllowed(order, orders.resolution(order, given)),
  },
  {
    name: 'acknowledgeCriticalResult',
    seed: { orderId, alarm: 'alarm-1', by: 'nurse-1', outcome: 'confirmed', note: 'Invented' },
    validate: (given) => validateAcknowledgement(order, given),
  },
  {
    name: 'setPolicy',
    seed: { policy: { shippingDeadline: '3d', returnReminders: ['2d', '7d'] } },
    validate: (given) => validatePolicyChange(order, given),
  },
]);

const ofLinks: Command[] = of('linkProvider', [
  { name: 'requestLink', seed: { newLink: options }, validate: (given) => links.validateRequest(link, given) },
  {
    name: 'reportLinkResult',
    seed: {
      state: 'error',
      error_type: 'provider_credential_error',
      error: 'Invented',
      provider_mfa: { method: 'sms' },
    },
    validate: (given) => links.validateReport(link, given),
  },
  { name: 'submitMfaCode', seed: { code: '123456' }, validate: (given) => links.validateCode(link, given) },
]);

const ofAppointments: Command[] = of('bookAppointment', [
  {
    name: 'findSlots',
    seed: { startDate: '2026-02-01', siteCodes: ['INV'], zipCode: '62701', radius: 25 },
    validate: (given) => appointments.validateQuestion(appointment, given),
  },
  {
    name: 'chooseSlot',
    seed: { slotId, notes: 'Invented' },
    validate: (given) => appointments.validateChoice(appointment, given),
  },
  {
    name: 'requestAppointment',
    seed: { provider: 'invented_visits', notes: 'Invented' },
    validate: (given) => appointments.validateRequest(appointment, given),
  },
  {
    name: 'cancel',
    seed: { reasonId: 'reason-1', notes: 'Invented', rebook: true },
    validate: (given) => appointments.validateCancellation(appointment, given),
  },
]);

const ofReviews: Command[] = (['accept', 'reject', 'unsure'] as const).map((action) => ({
  name: action === 'unsure' ? 'markUnsure' : action,
  workflow: 'matchReview',
  seed: { orderId, userId: 'user-1', note: 'Invented' },
  validate: (given) => validateReview(review, action, given),
}));

/** Without a validator that stands alone: only a running workflow takes them. */
const ofOthers: Command[] = [
  { name: 'request', workflow: 'deleteUser', seed: { userId: 'user-1', policy: { grace: '7d' } } },
  { name: 'undo', workflow: 'deleteUser', seed: {} },
  { name: 'resend', workflow: 'deliverNotifications', seed: { ids: ['notification-1'] } },
  { name: 'discard', workflow: 'deliverNotifications', seed: { ids: ['notification-1'] } },
];

export const commands: readonly Command[] = [...ofOrders, ...ofLinks, ...ofAppointments, ...ofReviews, ...ofOthers];
