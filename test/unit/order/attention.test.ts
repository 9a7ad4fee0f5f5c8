import { describe, expect, test } from 'vitest';
import type { AttentionReason } from '../../../protocol/order/state.js';
import { raise } from '../../../workflows/order/announcements.js';
import { foldIn, type Chain } from '../../../workflows/order/chain.js';
import { clearAnswered } from '../../../workflows/order/questions.js';
import { stateOf } from '../../../workflows/order/view.js';
import { announcedBy, caseOf, daysAfterStart, eventsOf, happyPath, kitOf, pathTo, start } from './histories.js';

/* How a question is raised, counted and cleared, whatever it is about: test/unit/entity/attention.test.ts. */

const chainAt = (...statuses: string[]) => caseOf([kitOf('order-1', statuses)]);
const ask = (chain: Chain, reason: AttentionReason, key = 'order-1') =>
  raise(chain, { key, reason, orderId: 'order-1' }, start);

/** The questions that are left once the order has come so far. */
function leftAfter(chain: Chain, ...statuses: string[]): string[] {
  foldIn(chain, kitOf('order-1', statuses));
  clearAnswered(chain, start);
  return chain.attention.map(({ key }) => key);
}

describe('attention', () => {
  test('is raised once per question, shown without its key, and notified with an id that comes from the question', () => {
    const chain = chainAt(...pathTo('delivered_to_lab'));
    const key = 'order-1/9.results_overdue';
    for (let times = 0; times < 2; times += 1) ask(chain, 'results_overdue', key);
    const shown = { reason: 'results_overdue', orderId: 'order-1', since: daysAfterStart(0) };
    expect(stateOf(chain).attention).toEqual([shown]);
    const about = { at: daysAfterStart(0), type: 'attention_raised', orderId: 'order-1', rootOrderId: 'order-1' };
    const id = `${key}.results_overdue/attention_raised`;
    expect(announcedBy(chain)).toEqual([{ id, ...about, data: shown }]);
  });

  const atLab = pathTo('delivered_to_lab');
  const partial = [...atLab, 'sample_with_lab.testkit.partial_results'];
  const completed = [...partial, 'completed'];
  const registered = pathTo('testkit_registered');
  const back = [...registered, 'transit_lab', 'with_customer'];
  test.each<[what: string, key: string, reason: AttentionReason, at: string[], then: string[], stays: boolean]>([
    ['stays while its deadline stands', 'order-1/9.results_overdue', 'results_overdue', atLab, partial, true],
    ['is cleared when its order moves', 'order-1/9.results_overdue', 'results_overdue', partial, completed, false],
    ['ends when the kit is sent back', 'order-1/5.return_overdue', 'return_overdue', registered, back, false],
    ['stands again if it comes back', 'order-1/8.return_overdue', 'return_overdue', back, back, true],
    ['that no event resolves stays', 'order-1', 'registered_another_order', ['ordered'], happyPath, true],
  ])('%s', (_what, key, reason, at, then, stays) => {
    const chain = chainAt(...at);
    ask(chain, reason, key);
    expect(leftAfter(chain, ...at)).toEqual([key]);
    expect(leftAfter(chain, ...then)).toEqual(stays ? [key] : []);
  });

  test('for an order that was never reported is notified about the current one', () => {
    const chain = caseOf([{ orderId: 'order-1', events: eventsOf('ordered'), userId: 'user-1' }]);
    raise(chain, { key: 'order-9', reason: 'reference_conflict', orderId: 'order-9' }, start);
    expect(announcedBy(chain)).toMatchObject([{ orderId: 'order-1', userId: 'user-1', data: { orderId: 'order-9' } }]);
  });
});
