import type { CodeAnswer, LinkState, ReportTimelineEntry } from '../../client/index.js';
import type { NotificationEvent } from '../../client/notifications/index.js';
import { lowLevel } from '../lab-service/lifecycle.js';
import type { EventOf } from './notifications.js';

/** What happens in the stories, in the words of a customer. */

/** The list of statuses is open: those that are not here keep their name. */
const statusWords: Readonly<Record<string, string>> = {
  ordered: 'kit ordered',
  awaiting_registration: 'not registered yet',
  requisition_created: 'requisition created',
  testkit_registered: 'kit registered',
  registered: 'kit registered',
  transit_customer: 'kit shipped',
  out_for_delivery: 'out for delivery',
  with_customer: 'kit delivered',
  problem_in_transit_customer: 'kit stuck in the post',
  lost: 'kit lost',
  transit_lab: 'sample posted back',
  delivered_to_lab: 'sample at the lab',
  sample_error: 'sample unusable',
  completed: 'results ready',
  corrected: 'results corrected by the lab',
  cancelled: 'order cancelled',
};

export function eventWords(status: string, detail?: string): string {
  const low = lowLevel(status);
  const words = statusWords[low] ?? spaced(low);
  return detail === undefined ? words : `${words} (${spaced(detail)})`;
}

export function phaseWords({ data }: Extract<EventOf<'order'>, { type: 'labops.order.phase_changed' }>): string {
  return `${spaced(data.phase)}${data.problem === undefined ? '' : ', with a problem'}`;
}

type Words = { readonly [Type in NotificationEvent['type']]?: (event: NotificationEvent & { type: Type }) => string };

/** The portal link is a credential: only that there is one is shown. */
const wordsOfType: Words = {
  'labops.order.phase_changed': phaseWords,
  'labops.order.registration_reminder': ({ data }) =>
    `registration reminder ${data.reminder}${data.portal_url == null ? '' : ' with a portal link for the customer'}`,
  'labops.order.return_reminder': ({ data }) => `return reminder ${data.reminder}`,
  'labops.order.attention_raised': ({ data }) => `needs a person: ${spaced(data.reason)}`,
  'labops.order.attention_cleared': ({ data }) => `no longer needs a person: ${spaced(data.reason)}`,
  'labops.order.replacement': () => 'a replacement kit was ordered',
  'labops.order.critical_result': ({ data }) => `a critical result (${data.status}): somebody must act now`,
  'labops.order.critical_result_reminder': ({ data }) =>
    `the critical result is not acknowledged yet, reminder ${data.reminder}`,
  'labops.order.partial_results': ({ data }) => `some results can be read${interpretation(data.interpretation)}`,
  'labops.order.result': ({ data }) => `results can be read${interpretation(data.interpretation)}`,
  'labops.order.correction': ({ data }) => `the results were corrected${interpretation(data.interpretation)}`,
  'labops.order.cancellation': () => 'the order is cancelled',
  'labops.user.deletion_scheduled': () => 'the deletion is scheduled; it can be undone until its grace period is over',
  'labops.user.deletion_reminder': () => 'a reminder: the deletion can still be undone',
  'labops.user.deletion_undone': ({ data: { lost_connections: lost = [] } }) =>
    `the deletion is undone${lost.length === 0 ? '' : `; to be linked again: ${lost.join(', ')}`}`,
  'labops.user.deleted': () => 'the user is deleted for good',
  'labops.appointment.phase_changed': ({ data }) => `the appointment is now ${spaced(data.phase)}`,
  'labops.appointment.ended': ({ data }) => `the appointment has ended: ${spaced(data.outcome)}`,
  'labops.report.phase_changed': ({ data }) => spaced(data.phase),
  'labops.report.completed': ({ data }) => `${data.results ?? 0} biomarkers can be read`,
  'labops.link.ended': ({ data }) => `the link has ended: ${data.outcome}`,
};

export function notificationWords(event: NotificationEvent): string {
  const words = wordsOfType[event.type] as ((event: NotificationEvent) => string) | undefined;
  return words?.(event) ?? spaced(event.type.split('.').at(-1) ?? event.type);
}

/** The list of statuses is open: those that are not here keep their name. */
const parsingStatusWords: Readonly<Record<string, string>> = {
  upload_pending: 'the lab service has the file',
  started: 'the lab service is reading the report',
  processing: 'the lab service is matching the values to LOINC codes',
  pending_review: 'a person at the lab service is checking the values',
  completed: 'the report is complete',
  failed: 'the report could not be read',
};

export function parsingWords({ status, isReviewed }: ReportTimelineEntry): string {
  const words = parsingStatusWords[status] ?? spaced(status);
  return isReviewed === true ? `${words}, and reviewed` : words;
}

/** The page's address without its query, which is a credential. */
export function shortened(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search === '' ? '' : '?…'} (the rest is a credential)`;
}

export function linkStateWords({ phase, mfa, errorType = phase }: LinkState): string {
  if (phase !== 'awaiting_code') return `the lab service answers: ${spaced(errorType)}`;
  const to = mfa?.hint === undefined ? '' : ` to ${mfa.hint}`;
  return `the provider asks for a code, and has sent one by ${mfa?.method ?? 'its own means'}${to}`;
}

export function linkWaits({ phase, until, codeAttemptsLeft }: LinkState): string {
  const end = until === undefined ? '' : `, until ${until.slice(0, 16).replace('T', ' ')} UTC at the latest`;
  if (phase === 'awaiting_password') return `the user to log in${end}`;
  if (phase === 'awaiting_code') return `the code${end}; ${attempts(codeAttemptsLeft)}`;
  return `${spaced(phase)}${end}`;
}

export function codeAnswerWords({ outcome, attemptsLeft, errorType, state }: CodeAnswer): string {
  const error = spaced(errorType ?? 'no reason given');
  const words: Readonly<Record<typeof outcome, string>> = {
    connected: 'the code is right, and the lab service shows the new connection: connected',
    confirming: 'the code is right, but the lab service does not show the connection yet',
    wrong_code: `the code is wrong: ${attempts(attemptsLeft)}`,
    asked_again: linkStateWords(state),
    unknown: `it is unknown whether the code arrived (${error}); the user is not connected, so another code is needed`,
    ask_credentials_again: `the user has to log in again (${error})`,
    start_over: `the link token is not valid any more (${error}): the user has to start over`,
  };
  return words[outcome];
}

function attempts(left: number): string {
  return left === 1 ? '1 attempt left' : `${left} attempts left`;
}

function interpretation(value: string | undefined): string {
  return value === undefined ? '' : `: ${value}`;
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}
