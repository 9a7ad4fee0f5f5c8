import { isOpen, refundableUntil, whyNobodyComes } from '../../protocol/appointment/lifecycle.js';
import type {
  AppointmentPhase,
  AppointmentResult,
  AppointmentShown,
  AppointmentState,
} from '../../protocol/appointment/messages.js';
import { labOrderIdKey, labPhaseKey, ofUser } from '../../protocol/search-attributes.js';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import { attentionAttributes, attentionLines, shownAttention } from '../entity/attention.js';
import {
  code,
  historyTable,
  moment,
  plain,
  sentence,
  showToOperators,
  waitingLine,
  words,
} from '../entity/operators.js';
import { isoOf } from '../entity/spans.js';
import { currentPhase, siteCodeOf, stands, type Appointment } from './appointment.js';
import { waitingUntil } from './deadlines.js';
import { firstVersion } from '../entity/versions.js';
import { omitNullish } from '../../protocol/json.js';

/** The answer of `state` and most updates. */
export function stateOf(appointment: Appointment): AppointmentState {
  const { orderId, userId, ending, order } = appointment;
  const phase = currentPhase(appointment);
  return {
    orderId,
    ...omitNullish({ userId, outcome: ending }),
    phase,
    ...shownOf(appointment),
    waiting: omitNullish({ for: waitedFor[phase] ?? 'nothing', until: isoOf(waitingUntil(appointment)) }),
    attention: shownAttention(appointment.attention.filter(({ reason }) => stands(appointment, reason))),
    timeline: appointment.journal,
    // Why no appointment can be arranged for the order any more.
    ...(ending === 'order_ended' && order !== undefined && { order }),
  };
}

export function resultOf(appointment: Appointment): AppointmentResult {
  const { ending = 'unresolved', policy, announced, attention, raised, doubtUntil, cancelled } = appointment;
  return {
    version: firstVersion,
    ...stateOf(appointment),
    outcome: ending,
    policy,
    announced,
    attention,
    ...(Object.keys(raised).length > 0 && { raised }),
    ...omitNullish({ doubtUntil: isoOf(doubtUntil), cancelled }),
  };
}

function shownOf(appointment: Appointment): { appointment?: AppointmentShown } {
  const { known } = appointment;
  if (!known) return {};
  const {
    appointmentId,
    status = 'unknown',
    type,
    startAt,
    endAt,
    timezone,
    provider,
    canReschedule,
    externalId,
  } = known;
  const siteCode = siteCodeOf(appointment, known);
  return {
    appointment: {
      appointmentId,
      status,
      ...omitNullish({ type, startAt, endAt, timezone, provider, canReschedule, externalId, siteCode }),
      ...refundOf(appointment, known),
    },
  };
}

/** A query has no clock, so the moment is shown, not whether it has passed. */
function refundOf(
  { refund }: Appointment,
  known: AppointmentSnapshot,
): Pick<AppointmentShown, 'refundable' | 'refundableUntil'> {
  if (refund?.appointmentId === known.appointmentId && !isOpen(known)) return { refundable: refund.refundable };
  const until = isOpen(known) ? refundableUntil(known) : undefined;
  return omitNullish({ refundableUntil: isoOf(until) });
}

const waitedFor: Partial<Readonly<Record<AppointmentPhase, string>>> = {
  awaiting_choice: 'a slot to be chosen',
  awaiting_confirmation: 'the provider to confirm',
  confirmed: 'the visit',
  in_progress: 'the blood draw to be finished',
};

/** The case file that the Web UI shows, in Markdown: where the appointment is, what it waits for, and what happened. */
export function caseFileOf(state: AppointmentState): string {
  const { orderId, phase, appointment, attention, timeline } = state;
  return [
    `### ${sentence(phase)}`,
    `Order ${code(orderId)}${appointment === undefined ? '' : `, appointment ${code(appointment.appointmentId)}`}`,
    state.outcome === undefined ? visitLine(state) : outcomeLine(state),
    ...attentionLines(attention),
    // With the times in it written as the first column writes them.
    historyTable(timeline, (what) => plain(what.replaceAll(writtenTime, moment))),
  ].join('\n\n');
}

const writtenTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;

function visitLine({ waiting, appointment }: AppointmentState): string {
  const at = appointment?.startAt === undefined ? '' : `, appointment at ${moment(appointment.startAt)}`;
  return `${waitingLine(waiting)}${at}`;
}

function outcomeLine({ outcome, order }: AppointmentState): string {
  return `**Outcome** ${words(outcome ?? '')}${order === undefined ? '' : `: ${whyNobodyComes[order]}`}`;
}

/** Shows the case file and the search attributes of the appointment as it is now. */
export function show(appointment: Appointment): void {
  const state = stateOf(appointment);
  showToOperators(
    () => caseFileOf(state),
    [
      { key: labPhaseKey, value: state.phase },
      ...attentionAttributes(state.attention),
      { key: labOrderIdKey, value: [state.orderId] },
      ...ofUser(state.userId),
    ],
  );
}
