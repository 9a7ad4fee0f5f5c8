import { compareText } from '../canonical-json.js';
import { code, moment, plain, sentence, words } from '../case-file-words.js';
import type { Case } from './case.js';
import { readStatus } from './lifecycle.js';
import type { ChainLink, OrderState } from './messages.js';
import { stateOf } from './view.js';

/** The case file that the Web UI shows, in Markdown: where the order is, what it waits for, and what happened. */
export function caseFileOf(kase: Case): string {
  const state = stateOf(kase);
  const reference = state.reference === undefined ? '' : `, reference ${code(state.reference)}`;
  return [
    `### ${sentence(state.phase)}`,
    `Order ${code(state.orderId)}${reference}`,
    state.outcome === undefined ? waitingLine(state) : outcomeLine(state),
    ...(state.problem ? [`**Problem** ${wordsFor(state.problem.status)} since ${moment(state.problem.since)}`] : []),
    ...state.attention.map(({ reason, since }) => `**Attention** ${words(reason)} since ${moment(since)}`),
    ...(state.chain.length > 1 ? [state.chain.map(kitLine).join('\n')] : []),
    ['| When (UTC) | Order | What happened |', '| --- | --- | --- |', ...rowsOf(kase, state)].join('\n'),
  ].join('\n\n');
}

function waitingLine({ waiting }: OrderState): string {
  return `**Waits for** ${waiting.for}${waiting.until === undefined ? '' : ` until ${moment(waiting.until)}`}`;
}

function outcomeLine({ outcome, interpretation }: OrderState): string {
  const results = interpretation === undefined ? '' : `, results ${plain(interpretation)}`;
  return `**Outcome** ${words(outcome ?? '')}${results}`;
}

function kitLine({ orderId, origin, phase, replacedBy }: ChainLink): string {
  const next = replacedBy === undefined ? '' : `, followed by ${shortened(replacedBy)}`;
  return `- ${shortened(orderId)} ${plain(words(origin))}: ${words(phase)}${next}`;
}

interface Row {
  at: string;
  orderId: string;
  what: string;
}

/** What the service reported and what was done about it, in the order of time. */
function rowsOf({ journal }: Case, { timeline }: OrderState): string[] {
  const reported = timeline.map(({ at, orderId, status, detail }): Row => {
    const more = detail === undefined ? '' : `, ${plain(words(detail))}`;
    return { at, orderId, what: `${wordsFor(status)}${more} (${code(status)})` };
  });
  const done = journal.map(({ at, orderId, what }): Row => ({ at, orderId, what: `**${what}**` }));
  return [...reported, ...done]
    .toSorted((a, b) => compareText(a.at, b.at))
    .map(({ at, orderId, what }) => `| ${moment(at)} | ${shortened(orderId)} | ${what} |`);
}

const statusWords: Readonly<Record<string, string>> = {
  ordered: 'Ordered',
  awaiting_registration: 'Waits to be registered',
  testkit_registered: 'Registered',
  transit_customer: 'On its way to the customer',
  with_customer: 'With the customer',
  problem_in_transit_customer: 'Problem on its way to the customer',
  transit_lab: 'On its way to the lab',
  problem_in_transit_lab: 'Problem on its way to the lab',
  delivered_to_lab: 'Delivered to the lab',
  lab_processing_blocked: 'Held up at the lab',
  failure_to_deliver_to_customer: 'Could not be delivered to the customer',
  failure_to_deliver_to_lab: 'Could not be delivered to the lab',
  sample_error: 'The sample cannot be used',
  corrected: 'Results corrected',
};

/** A status that is not known here is its own words. */
function wordsFor(status: string): string {
  const { low } = readStatus(status);
  return (Object.hasOwn(statusWords, low) ? statusWords[low] : undefined) ?? plain(sentence(low));
}

function shortened(orderId: string): string {
  return code(orderId.slice(0, 8));
}
