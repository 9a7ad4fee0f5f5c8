import { code, moment, plain, sentence, words } from '../case-file-words.js';
import { whyNobodyComes } from './lifecycle.js';
import type { AppointmentState } from './messages.js';

/** The case file that the Web UI shows, in Markdown: where the appointment is, what it waits for, and what happened. */
export function caseFileOf(state: AppointmentState): string {
  const { orderId, phase, appointment, attention, timeline } = state;
  return [
    `### ${sentence(phase)}`,
    `Order ${code(orderId)}${appointment === undefined ? '' : `, appointment ${code(appointment.appointmentId)}`}`,
    state.outcome === undefined ? waitingLine(state) : outcomeLine(state),
    ...attention.map((reason) => `**Attention** ${words(reason)}`),
    [
      '| When (UTC) | What happened |',
      '| --- | --- |',
      ...timeline.map(({ at, what }) => `| ${moment(at)} | ${plain(sentence(readable(what)))} |`),
    ].join('\n'),
  ].join('\n\n');
}

/** With the times in it written as the first column writes them. */
function readable(what: string): string {
  return what.replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g, moment);
}

function waitingLine({ waiting, appointment }: AppointmentState): string {
  const end = waiting.until === undefined ? '' : ` until ${moment(waiting.until)}`;
  const at = appointment?.startAt === undefined ? '' : `, appointment at ${moment(appointment.startAt)}`;
  return `**Waits for** ${waiting.for}${end}${at}`;
}

function outcomeLine({ outcome, order }: AppointmentState): string {
  return `**Outcome** ${words(outcome ?? '')}${order === undefined ? '' : `: ${whyNobodyComes[order]}`}`;
}
