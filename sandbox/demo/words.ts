import type { CodeAnswer, LinkState, NotificationEvent, ReportTimelineEntry } from '../../client/index.js';
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

/** The portal link is a credential: only that there is one is shown. */
export function notificationWords(event: NotificationEvent): string {
  switch (event.type) {
    case 'labops.order.phase_changed':
      return phaseWords(event);
    case 'labops.order.registration_reminder':
      return `registration reminder ${event.data.reminder}${event.data.portal_url == null ? '' : ' with a portal link for the customer'}`;
    case 'labops.order.return_reminder':
      return `return reminder ${event.data.reminder}`;
    case 'labops.order.attention_raised':
      return `needs a person: ${spaced(event.data.reason)}`;
    case 'labops.order.attention_cleared':
      return `no longer needs a person: ${spaced(event.data.reason)}`;
    case 'labops.order.replacement':
      return 'a replacement kit was ordered';
    case 'labops.order.critical_result':
      return `a critical result (${event.data.status}): somebody must act now`;
    case 'labops.order.critical_result_reminder':
      return `the critical result is not acknowledged yet, reminder ${event.data.reminder}`;
    case 'labops.order.partial_results':
      return `some results can be read${interpretation(event.data.interpretation)}`;
    case 'labops.order.result':
      return `results can be read${interpretation(event.data.interpretation)}`;
    case 'labops.order.correction':
      return `the results were corrected${interpretation(event.data.interpretation)}`;
    case 'labops.order.cancellation':
      return 'the order is cancelled';
    case 'labops.user.deletion_scheduled':
      return 'the deletion is scheduled; it can be undone until its grace period is over';
    case 'labops.user.deletion_reminder':
      return 'a reminder: the deletion can still be undone';
    case 'labops.user.deletion_undone': {
      const { lost_connections: lost = [] } = event.data;
      return `the deletion is undone${lost.length === 0 ? '' : `; to be linked again: ${lost.join(', ')}`}`;
    }
    case 'labops.user.deleted':
      return 'the user is deleted for good';
    case 'labops.appointment.phase_changed':
      return `the appointment is now ${spaced(event.data.phase)}`;
    case 'labops.appointment.ended':
      return `the appointment has ended: ${spaced(event.data.outcome)}`;
    case 'labops.report.phase_changed':
      return spaced(event.data.phase);
    case 'labops.report.completed':
      return `${event.data.results ?? 0} biomarkers can be read`;
    case 'labops.link.ended':
      return `the link has ended: ${event.data.outcome}`;
    default:
      return spaced(event.type.split('.').at(-1) ?? event.type);
  }
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
  switch (outcome) {
    case 'connected':
      return 'the code is right, and the lab service shows the new connection: connected';
    case 'confirming':
      return 'the code is right, but the lab service does not show the connection yet';
    case 'wrong_code':
      return `the code is wrong: ${attempts(attemptsLeft)}`;
    case 'asked_again':
      return linkStateWords(state);
    case 'unknown':
      return `it is unknown whether the code arrived (${error}); there is no connection, so another code is needed`;
    case 'ask_credentials_again':
      return `the user has to log in again (${error})`;
    case 'start_over':
      return `the link token is no longer valid (${error}): the user has to start over`;
    default:
      return outcome satisfies never;
  }
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
