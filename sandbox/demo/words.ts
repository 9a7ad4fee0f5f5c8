import { lowLevel } from '../lab-service/lifecycle.js';
import type { OrderNotification, UserNotification } from './notification-receiver.js';

/** The lab service's statuses as a customer would say them. The list of statuses is open: the others keep their name. */
const happenings: Readonly<Record<string, string>> = {
  ordered: 'kit ordered',
  awaiting_registration: 'not registered yet',
  requisition_created: 'requisition made',
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

export function happening(status: string, detail?: string): string {
  const low = lowLevel(status);
  const words = happenings[low] ?? spaced(low);
  return detail === undefined ? words : `${words} (${spaced(detail)})`;
}

export function phaseWords({ data }: Pick<OrderNotification, 'data'>): string {
  return `${spaced(String(data.phase))}${data.problem === undefined ? '' : ', with a problem'}`;
}

/** What a notification tells the product. Its portal link is a credential: that there is one is told, and no more. */
export function toldWords({ type, data }: OrderNotification): string {
  const reason = spaced(String(data.reason ?? ''));
  switch (type) {
    case 'phase_changed':
      return phaseWords({ data });
    case 'registration_reminder':
      return `registration reminder ${data.reminder}${data.portal_url == null ? '' : ' with a portal link for the customer'}`;
    case 'return_reminder':
      return `return reminder ${data.reminder}`;
    case 'attention_raised':
      return `a person has to look: ${reason}`;
    case 'attention_cleared':
      return `no longer needs a person: ${reason}`;
    case 'replacement':
      return 'a replacement kit was ordered';
    case 'critical_result':
      return `a critical result (${data.status}): somebody must act now`;
    case 'critical_result_reminder':
      return `the critical result is not acknowledged yet, reminder ${data.reminder}`;
    case 'result':
      return `results can be read${interpretation(data.interpretation)}`;
    case 'correction':
      return `the results were corrected${interpretation(data.interpretation)}`;
    case 'cancellation':
      return 'the order is cancelled';
    default:
      return spaced(type);
  }
}

/** What the product is told of a user's deletion. */
export function deletionWords({ type, data }: UserNotification): string {
  switch (type) {
    case 'deletion_scheduled':
      return 'the deletion is scheduled, and can be undone until its grace is over';
    case 'deletion_reminder':
      return 'a reminder: it can still be undone';
    case 'deletion_undone':
      return `the deletion is undone${data.lost_connections?.length ? `, to be linked again: ${data.lost_connections.join(', ')}` : ''}`;
    case 'deleted':
      return 'the user is deleted for good';
    default:
      return spaced(type);
  }
}

function interpretation(value: unknown): string {
  return typeof value === 'string' ? `: ${value}` : '';
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}
