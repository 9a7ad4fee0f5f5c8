import { canonicalId, isReference, actorRule, isActor } from '../../protocol/ids.js';
import type { AcknowledgeCriticalResultCommand } from '../../protocol/order/messages.js';
import {
  type Acknowledgement,
  type AcknowledgementOutcome,
  acknowledgementOutcomes,
  type CriticalResultRecord,
  type OrderState,
} from '../../protocol/order/state.js';
import { refuse } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import { words } from '../entity/operators.js';
import { iso } from '../entity/spans.js';
import { clear } from './announcements.js';
import type { Chain } from './chain.js';
import { alarmOf, alarmsOf, dropReminders, findCriticalResult } from './critical-results.js';
import { awaitIdentity, requireNoOtherRoot, type KitOrderRun } from './run.js';
import { stateOf } from './view.js';
import { omitNullish } from '../../protocol/json.js';

/* A person's acknowledgement of a critical result. */

/** It needs nothing from outside, and waits for no other command: the next reminder may be due. */
export async function acknowledgeNow(run: KitOrderRun, given: AcknowledgeCriticalResultCommand): Promise<OrderState> {
  await awaitIdentity(run);
  validateAcknowledgement(run, given);
  acknowledge(run.chain, withOwnId(given), Date.now());
  run.hasNews = true;
  return stateOf(run.chain);
}

function withOwnId(command: AcknowledgeCriticalResultCommand): AcknowledgeCriticalResultCommand {
  return { ...command, orderId: canonicalId(command.orderId) };
}

/** Enough to say who was reached and when; anything longer belongs in the product. */
const longestNote = 2000;

/**
 * An order that has ended takes it, too. The refusals repeat no value: somebody may have typed a name instead of an id.
 */
export function validateAcknowledgement(run: KitOrderRun, command: AcknowledgeCriticalResultCommand | undefined): void {
  const fields = faultsOf({ ...command });
  if (fields.length > 0) {
    const message = fields.map(({ field, message: rule }) => `${field} ${rule}`).join('; ');
    throw refuse('InvalidCommand', message, { fields });
  }
  requireNoOtherRoot(run.forwardsTo);
  if (run.chain.identified && command) requireAlarm(run.chain, withOwnId(command));
}

/** A late answer to an earlier alarm must not clear one that nobody has seen. */
function requireAlarm(chain: Chain, command: AcknowledgeCriticalResultCommand): void {
  const { orderId, alarm } = command;
  const result = findCriticalResult(chain, orderId);
  if (!result) {
    throw refuse('NothingToAcknowledge', 'No critical result of this order was reported; check the order id');
  }
  const alarms = alarmsOf(result);
  if (alarm === alarms.at(-1) || isRepeated(result, command)) return;
  // Without a name the latest one is meant, unless it may be an earlier answer that was sent again.
  if (alarm === undefined && !(result.isOpen && result.acknowledgements.length > 0)) return;
  if (alarm !== undefined && !alarms.includes(alarm)) {
    throw refuse('NothingToAcknowledge', 'No such alarm was raised for this order; check the id of the notification');
  }
  const message =
    'The critical result was raised again after this alarm; look at it, then acknowledge the latest alarm by its id';
  const latest = alarms.at(-1);
  throw refuse('AlarmOutdated', message, latest === undefined ? {} : { reason: latest });
}

function faultsOf({ orderId, alarm, by, outcome, note: text }: Record<string, unknown>) {
  const isNote = text === undefined || (typeof text === 'string' && text.length <= longestNote);
  const rules: [holds: boolean, field: string, message: string][] = [
    [isReference(orderId), 'orderId', 'must be the id of the order that has the critical result'],
    [alarm === undefined || typeof alarm === 'string', 'alarm', 'must be the id of a critical_result notification'],
    [isActor(by), 'by', actorRule],
    [
      acknowledgementOutcomes.includes(outcome as AcknowledgementOutcome),
      'outcome',
      `must be ${acknowledgementOutcomes.join(' or ')}`,
    ],
    [isNote, 'note', `must be a string of at most ${longestNote} characters`],
  ];
  return rules.flatMap(([holds, field, message]) => (holds ? [] : [{ field, message }]));
}

/** An acknowledgement whose answer was lost, and that was sent again. */
export function isRepeated(
  { isOpen, acknowledgements }: CriticalResultRecord,
  { alarm, by, outcome, note: text }: AcknowledgeCriticalResultCommand,
): boolean {
  const isSame = (given: Acknowledgement) => given.by === by && given.outcome === outcome && given.note === text;
  // The alarm that it names distinguishes it from an answer to a later one.
  if (alarm !== undefined) return acknowledgements.some((given) => given.alarm === alarm && isSame(given));
  const last = acknowledgements.at(-1);
  return !isOpen && last !== undefined && isSame(last);
}

/** An acknowledgement may be corrected or added to; more than this nobody reads. */
const mostAcknowledgements = 20;

/** Any outcome acknowledges the alarm: a person has taken it up. What that person does next is not tracked here; the outcome stays in the timeline. */
export function acknowledge(chain: Chain, command: AcknowledgeCriticalResultCommand, now: number): void {
  const { orderId, by, outcome, note: text } = command;
  const result = findCriticalResult(chain, orderId);
  if (!result || isRepeated(result, command)) return;
  const acknowledgement = omitNullish({ alarm: alarmOf(result), by, outcome, at: iso(now), note: text });
  result.acknowledgements = [...result.acknowledgements, acknowledgement].slice(-mostAcknowledgements);
  result.isOpen = false;
  // The note stays out: case files are read by more people than it is meant for.
  note(chain, `critical result acknowledged by ${by}: ${words(outcome)}`, now, orderId);
  dropReminders(chain, orderId);
  clear(chain, (attention) => attention.reason === 'critical_result' && attention.orderId === orderId, now);
}
