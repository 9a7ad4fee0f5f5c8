import { currentPhase, type AppointmentCase } from './case.js';
import { waitingUntil } from './deadlines.js';
import type { AppointmentPhase, AppointmentResult, AppointmentShown, AppointmentState } from './messages.js';

/** What `state` and most updates answer with. */
export function appointmentStateOf(kase: AppointmentCase): AppointmentState {
  const { ending } = kase;
  return {
    ...identityOf(kase),
    phase: currentPhase(kase),
    ...shownOf(kase),
    waiting: waitingOf(kase),
    attention: kase.attention,
    timeline: kase.journal,
    ...(ending !== undefined && { outcome: ending }),
    ...orderOf(kase),
  };
}

export function appointmentResultOf(kase: AppointmentCase): AppointmentResult {
  const { ending = 'unresolved', policy, announced, journal } = kase;
  return {
    outcome: ending,
    ...identityOf(kase),
    ...shownOf(kase),
    ...orderOf(kase),
    timeline: journal,
    policy,
    announced,
  };
}

function identityOf({ orderId, userId }: AppointmentCase) {
  return { orderId, ...(userId !== undefined && { userId }) };
}

/** Why nothing is to be arranged for the order any more. */
function orderOf({ ending, order }: AppointmentCase): Pick<AppointmentState, 'order'> {
  return ending === 'order_ended' && order !== undefined ? { order } : {};
}

function shownOf({ known }: AppointmentCase): { appointment?: AppointmentShown } {
  if (!known) return {};
  const { appointmentId, status = 'unknown', startAt, endAt, provider, canReschedule } = known;
  return {
    appointment: {
      appointmentId,
      status,
      ...(startAt !== undefined && { startAt }),
      ...(endAt !== undefined && { endAt }),
      ...(provider !== undefined && { provider }),
      ...(canReschedule !== undefined && { canReschedule }),
    },
  };
}

const waitedFor: Partial<Readonly<Record<AppointmentPhase, string>>> = {
  awaiting_choice: 'a slot to be chosen',
  awaiting_confirmation: 'the provider to confirm',
  confirmed: 'the visit',
  in_progress: 'the blood to be drawn',
};

function waitingOf(kase: AppointmentCase): AppointmentState['waiting'] {
  const what = waitedFor[currentPhase(kase)] ?? 'nothing';
  const until = waitingUntil(kase);
  return { for: what, ...(until !== undefined && { until: new Date(until).toISOString() }) };
}
