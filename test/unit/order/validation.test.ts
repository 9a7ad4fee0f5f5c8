import { describe, expect, test } from 'vitest';
import { CommandQueue } from '../../../workflows/entity/commands.js';
import type { AttentionReason, Decision } from '../../../protocol/order/state.js';
import { currentOrder, lastEventId, type Chain } from '../../../workflows/order/chain.js';
import { acknowledge, validateAcknowledgement } from '../../../workflows/order/acknowledging.js';
import { raiseCriticalResults } from '../../../workflows/order/critical-results.js';
import { cancellation, replacement, requireAllowed, resolution } from '../../../workflows/order/commands.js';
import type { KitOrderRun } from '../../../workflows/order/run.js';
import { caseOf, kitOf, pathTo, start } from './histories.js';

/* What commands are refused for, before anything of them is in the history. */

const orderId = 'order-1';
const lost = () => caseOf([kitOf(orderId, [...pathTo('transit_customer'), 'lost'])], { identified: true });
const underWay = () => caseOf([kitOf(orderId, pathTo('with_customer'))], { identified: true });

type Send = (run: KitOrderRun) => void;
const acknowledgement = { orderId, by: 'nurse-17', outcome: 'confirmed' } as const;

const decide =
  (decision: Decision, more: object = {}): Send =>
  (run) =>
    requireAllowed(run, resolution(run, { orderId, decision, ...more }));

/** The type of the refusal and its reason or first field; undefined if the command is accepted. */
function refusal(send: Send, chain: Chain, more: Partial<KitOrderRun> = {}): string | undefined {
  try {
    send({ chain, commands: new CommandQueue(), hasNews: false, ...more } as unknown as KitOrderRun);
    return undefined;
  } catch (error) {
    const { type, details } = error as { type: string; details: { fields: { field: string }[]; reason?: string }[] };
    return [type, details[0]?.reason ?? details[0]?.fields[0]?.field].filter(Boolean).join(' ');
  }
}

test('a command is refused before an order was reported', () => {
  expect(refusal((run) => requireAllowed(run, cancellation(run)), caseOf([]))).toBe('OrderNotFound');
});

describe('a decision about a problem', () => {
  /** A person has decided so about the order as it stands. */
  const waiting = (more: Partial<Chain> = {}) => {
    const chain = lost();
    const eventId = lastEventId(currentOrder(chain));
    return { ...chain, resolutions: [{ orderId, eventId, decision: 'wait' as const }], ...more };
  };
  const asked = (reason: AttentionReason, of = orderId) => ({ key: reason, reason, orderId: of, since: '', time: 1 });

  test('that stands is not changed without saying so; the same one again is accepted', () => {
    expect(refusal(decide('wait'), waiting())).toBeUndefined();
    expect(refusal(decide('abandon'), waiting())).toBe('AlreadyResolved wait');
    expect(refusal(decide('abandon', { insteadOf: 'wait' }), waiting())).toBeUndefined();
  });

  test('that stands concerns no other command, and no other order', () => {
    expect(refusal((run) => requireAllowed(run, replacement(run, { orderId })), waiting())).toBeUndefined();
    const ofAnother = waiting({ resolutions: [{ orderId: 'order-2', eventId: 4, decision: 'wait' }] });
    expect(refusal(decide('abandon'), ofAnother)).toBeUndefined();
  });

  test('to replace the kit stands once there is another one, which no other decision undoes', () => {
    const replacements = [{ replaces: orderId, atEventId: 4, n: 2, claimedAt: '', orderId: 'order-2' }];
    const kits = [kitOf(orderId, [...pathTo('transit_customer'), 'lost']), kitOf('order-2', ['ordered'])];
    const followed = (more: Partial<Chain>) => caseOf(kits, { identified: true, ...more });
    expect(refusal(decide('wait', { insteadOf: 'wait' }), followed({ replacements }))).toBe('AlreadyResolved replace');
    expect(refusal(decide('abandon'), followed({}))).toBeUndefined();
    expect(refusal(decide('abandon'), { ...lost(), replacements })).toBeUndefined();
  });

  test('does not stand once the order asks again, or has moved on', () => {
    expect(refusal(decide('abandon'), waiting({ attention: [asked('decision_needed')] }))).toBeUndefined();
    const others = [asked('decision_needed', 'order-2'), asked('critical_result')];
    expect(refusal(decide('abandon'), waiting({ attention: others }))).toBe('AlreadyResolved wait');
    const eventId = lastEventId(currentOrder(lost())) - 1;
    const moved = waiting({ resolutions: [{ orderId, eventId, decision: 'wait' }] });
    expect(refusal(decide('abandon'), moved)).toBeUndefined();
  });
});

describe('an acknowledgement', () => {
  const acknowledging =
    (more: object = {}): Send =>
    (run) =>
      validateAcknowledgement(run, { ...acknowledgement, ...more });
  function report(chain: Chain, more: { status: string; updatedAt?: string }): void {
    chain.criticalReports = [{ orderId, ...more }];
    raiseCriticalResults({ chain } as unknown as KitOrderRun, start);
  }
  const alarmed = (...statuses: string[]) => {
    const chain = underWay();
    for (const status of statuses) report(chain, { status });
    return chain;
  };
  const [partial, final] = ['order-1/partial/critical_result', 'order-1/final/critical_result'];

  test.each([
    [{ orderId: 'not an id' }, 'orderId'],
    [{ orderId: undefined }, 'orderId'],
    [{ alarm: 7 }, 'alarm'],
    [{ by: 'Test Person' }, 'by'],
    [{ by: undefined }, 'by'],
    [{ outcome: 'ignored' }, 'outcome'],
    [{ note: 'x'.repeat(2001) }, 'note'],
    [{ note: 7 }, 'note'],
    [{ note: ['x'] }, 'note'],
  ])('with %j is refused, naming the field', (more, field) => {
    expect(refusal(acknowledging(more), alarmed('partial'))).toBe(`InvalidCommand ${field}`);
  });

  test('that is missing is refused with every field', () => {
    const none: Send = (run) => validateAcknowledgement(run, undefined);
    expect(() => none({ chain: alarmed('partial') } as never)).toThrow(
      /^orderId must be .*; by must be .*; outcome must/,
    );
    expect(refusal(none, alarmed('partial'))).toBe('InvalidCommand orderId');
  });

  test.each(['confirmed', 'reached_no_readback', 'unable_to_reach'])('with the outcome %s is accepted', (outcome) => {
    expect(refusal(acknowledging({ outcome, note: 'x'.repeat(2000) }), alarmed('partial'))).toBeUndefined();
  });

  test('needs an alarm of this order, once the run knows whose order it is', () => {
    expect(refusal(acknowledging(), underWay())).toBe('NothingToAcknowledge');
    expect(refusal(acknowledging({ alarm: 'order-1/other/critical_result' }), alarmed('partial'))).toBe(
      'NothingToAcknowledge',
    );
    expect(refusal(acknowledging(), { ...underWay(), identified: false })).toBeUndefined();
  });

  test('of an earlier alarm does not clear a later one, also of the second of three', () => {
    const chain = alarmed('partial');
    acknowledge(chain, { ...acknowledgement, by: 'nurse-1' }, start);
    report(chain, { status: 'final' });
    expect(refusal(acknowledging(), chain)).toBe(`AlarmOutdated ${final}`);
    expect(refusal(acknowledging({ alarm: partial }), chain)).toBe(`AlarmOutdated ${final}`);
    expect(refusal(acknowledging({ alarm: final }), chain)).toBeUndefined();
    expect(refusal(acknowledging({ alarm: partial, by: 'nurse-1' }), chain)).toBeUndefined();
    acknowledge(chain, { ...acknowledgement, by: 'nurse-1' }, start);
    report(chain, { status: 'final', updatedAt: '2024-04-01T10:00:00.000Z' });
    const third = 'order-1/final.2/critical_result';
    expect(refusal(acknowledging({ alarm: final }), chain)).toBe(`AlarmOutdated ${third}`);
    expect(refusal(acknowledging({ alarm: third }), chain)).toBeUndefined();
  });

  test('without a name means the only alarm that nobody has answered', () => {
    expect(refusal(acknowledging(), alarmed('partial', 'final'))).toBeUndefined();
  });
});
