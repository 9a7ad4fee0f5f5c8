import type { AppointmentResult } from '../../protocol/appointment/messages.js';
import { upgradeGoverned, type PolicyVersions } from '../entity/policy.js';
import { upgrade, type Step } from '../entity/versions.js';
import type { Appointment } from './appointment.js';
import { day, hour, minute, second } from '../entity/spans.js';

const pauses = { least: second, most: 30 * day };

/** The settings of each version, with what a policy of an earlier version gets: never changed once released. */
export const appointmentPolicyVersions: PolicyVersions<'appointment'> = {
  of: 'appointment',
  added: [
    {
      choiceReminders: [day, 3 * day],
      choiceWait: 14 * day,
      confirmation: 'wait',
      confirmationWait: 2 * day,
      visitReminders: [day, 2 * hour],
      visitOverdue: day,
      giveUpAfter: 14 * day,
      firstPoll: hour,
      longestPoll: 12 * hour,
      bookingTimeout: 30 * second,
      notificationDeadline: 3 * day,
    },
    { walkInOverdue: 7 * day },
  ],
  bounds: {
    confirmation: ['wait', 'later'],
    confirmationWait: { least: minute, most: 2 * day },
    firstPoll: pauses,
    longestPoll: pauses,
    bookingTimeout: { least: second, most: 2 * minute },
  },
};

const appointmentSteps: readonly Step[] = [
  (appointment) => ({
    requested: false,
    identified: false,
    received: 0,
    unclear: false,
    missing: 0,
    silentReads: 0,
    unanswered: false,
    met: [],
    attention: [],
    raised: {},
    announced: [],
    outbox: [],
    journal: [],
    ...appointment,
  }),
];

export const appointmentVersion = appointmentSteps.length;

/** The state that the run before this one had. */
export function upgradeAppointment(carried: unknown): Appointment {
  const upgraded = upgrade<Appointment>('state of the appointment', appointmentSteps, carried);
  return upgradeGoverned(appointmentPolicyVersions, upgraded);
}

const resultSteps: readonly Step[] = [(result) => ({ timeline: [], announced: [], attention: [], ...result })];

export const appointmentResultVersion = resultSteps.length;

/** The result of an earlier run of the same order. */
export function upgradeAppointmentResult(result: unknown): AppointmentResult {
  const upgraded = upgrade<AppointmentResult>('result of the appointment', resultSteps, result);
  return upgradeGoverned(appointmentPolicyVersions, upgraded);
}
