import { orderStatuses, readStatus } from '../../protocol/order/lifecycle.js';
import { parsingFailureReasons, parsingStatuses } from '../../service/report/parsing-job.js';
import { readEvent } from '../../service/webhooks/events.js';
import { type Description, isPart, listIn, type Part, partIn } from './description.js';

/** The statuses that docs/internals/lab-service.md lists for orders, appointments, jobs, reviews and links. */
const statuses: ReadonlySet<string> = new Set([
  ...orderStatuses,
  ...['active', 'inactive', 'draw_scheduled'],
  ...[
    'confirmed',
    'scheduled',
    'pending',
    'reserved',
    'in_progress',
    'success',
    'error',
    'pending_provider_mfa',
    'connected',
  ],
  ...[
    'pending_customer_review',
    'pending_ops_review',
    'resolved',
    'matched',
    'pending_approval',
    'suspended',
    'final',
    'partial',
  ],
  ...parsingStatuses,
  ...parsingFailureReasons,
]);

/** Words of the description that the client treats as data without a meaning. */
export interface UnknownWords {
  statuses: string[];
  /** Event types that are not handled. */
  events: string[];
}

export function unknownWords({ document }: Description): UnknownWords {
  const found = { statuses: new Set<string>(), events: new Set<string>(webhookNames(document)) };
  collect(document, '', found);
  const isKnown = (status: string) => statuses.has(status) || statuses.has(readStatus(status).low);
  const isHandled = (event_type: string) => readEvent({ event_type, data: {} }).kind !== 'other';
  return {
    statuses: [...found.statuses].filter((status) => !isKnown(status)).toSorted(),
    events: [...found.events].filter((type) => !isHandled(type)).toSorted(),
  };
}

/** The webhooks of 3.1, named by their event types. */
function webhookNames(document: Part): string[] {
  const names = Object.keys({ ...partIn(document, 'webhooks'), ...partIn(document, 'x-webhooks') });
  return names.filter((name) => name.includes('.'));
}

function collect(part: unknown, name: string, found: { statuses: Set<string>; events: Set<string> }): void {
  if (Array.isArray(part)) {
    for (const each of part) collect(each, name, found);
    return;
  }
  if (!isPart(part)) return;
  const words = wordsOf(part);
  if (/(?:^|_)status$/.test(name)) for (const word of words) found.statuses.add(word);
  if (name === 'event_type') for (const word of words) found.events.add(word);
  for (const [key, each] of Object.entries(part)) collect(each, isKeyword(key) ? name : key, found);
}

/** Keywords that lead on to schemas of the same value. */
function isKeyword(key: string): boolean {
  return ['allOf', 'anyOf', 'oneOf', 'items'].includes(key);
}

function wordsOf(schema: Readonly<Record<string, unknown>>): string[] {
  return [...listIn(schema, 'enum'), schema['const']].filter((word): word is string => typeof word === 'string');
}
