import { slotIdOf } from '../../protocol/appointment/slots.js';

/** An update of a running workflow, and a good argument. */
export interface Command {
  name: string;
  workflow: 'kitOrder' | 'linkProvider' | 'bookAppointment' | 'matchReview' | 'deleteUser' | 'deliverNotifications';
  seed: unknown;
}

function of(workflow: Command['workflow'], seeds: Readonly<Record<string, unknown>>): Command[] {
  return Object.entries(seeds).map(([name, seed]) => ({ name, workflow, seed }));
}

export const orderId = 'order-1';

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

const review = { orderId, userId: 'user-1', note: 'Invented' };

export const commands: readonly Command[] = [
  ...of('kitOrder', {
    register: { orderId, registration },
    cancel: { orderId },
    replaceKit: { orderId },
    resolveProblem: { orderId, decision: 'wait', insteadOf: 'wait' },
    acknowledgeCriticalResult: { orderId, alarm: 'alarm-1', by: 'nurse-1', outcome: 'confirmed', note: 'Invented' },
    setPolicy: { policy: { shippingDeadline: '3d', returnReminders: ['2d', '7d'] } },
  }),
  ...of('linkProvider', {
    requestLink: { newLink: options },
    reportLinkResult: {
      state: 'error',
      error_type: 'provider_credential_error',
      error: 'Invented',
      provider_mfa: { method: 'sms' },
    },
    submitMfaCode: { code: '123456' },
  }),
  ...of('bookAppointment', {
    findSlots: { startDate: '2026-02-01', siteCodes: ['INV'], zipCode: '62701', radius: 25 },
    chooseSlot: { slotId, notes: 'Invented' },
    requestAppointment: { provider: 'invented_visits', notes: 'Invented' },
    cancel: { reasonId: 'reason-1', notes: 'Invented', rebook: true },
  }),
  ...of('matchReview', { accept: review, reject: review, markUnsure: review }),
  ...of('deleteUser', { request: { userId: 'user-1', policy: { grace: '7d' } }, undo: {} }),
  ...of('deliverNotifications', { resend: { ids: ['notification-1'] }, discard: { ids: ['notification-1'] } }),
];
