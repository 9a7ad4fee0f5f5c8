import { describe, expect, test } from 'vitest';
import { clear, clearAnswered, raise } from '../../../workflows/order/announcements.js';
import { learn, openChain, type Chain } from '../../../workflows/order/chain.js';
import { shownOrderAttention } from '../../../workflows/order/view.js';
import { announcedBy, caseOf, daysAfterStart, eventsOf, happyPath, kitOf, pathTo, start } from './histories.js';

const notified = (chain: Chain) => announcedBy(chain).map(({ id }) => id);

describe('attention', () => {
  const key = 'order-1/9.results_overdue';
  const question = { key, reason: 'results_overdue', orderId: 'order-1' } as const;

  test('is raised once per question, and notified with an id that comes from the question', () => {
    const chain = caseOf([kitOf('order-1', pathTo('delivered_to_lab'))]);
    raise(chain, question, start);
    raise(chain, question, start + 1);
    const shown = { reason: 'results_overdue', orderId: 'order-1', since: daysAfterStart(0) };
    expect(chain.attention).toEqual([{ key, time: 1, ...shown }]);
    expect(shownOrderAttention(chain)).toEqual([shown]);
    expect(announcedBy(chain)).toHaveLength(1);
    expect(announcedBy(chain)).toMatchObject([
      { id: `${key}.results_overdue/attention_raised`, at: daysAfterStart(0), type: 'attention_raised' },
    ]);
    expect(announcedBy(chain)[0]?.data).toEqual(shown);
  });

  test('attention that was cleared and is raised again is another question: raised and cleared under ids of its own', () => {
    const chain = caseOf([kitOf('order-1', ['ordered'])]);
    const late = { key: 'order-1/late_arrival', reason: 'late_arrival', orderId: 'order-1' } as const;
    for (let time = 1; time <= 3; time++) {
      raise(chain, late, start + time);
      raise(chain, late, start + time);
      clear(chain, ({ reason }) => reason === 'late_arrival', start + time);
    }
    expect(notified(chain)).toEqual([
      'order-1/late_arrival.late_arrival/attention_raised',
      'order-1/late_arrival.late_arrival/attention_cleared',
      'order-1/late_arrival.late_arrival.2/attention_raised',
      'order-1/late_arrival.late_arrival.2/attention_cleared',
      'order-1/late_arrival.late_arrival.3/attention_raised',
      'order-1/late_arrival.late_arrival.3/attention_cleared',
    ]);
    expect(announcedBy(chain).at(-1)?.data).not.toHaveProperty('time');
    expect(chain.raised).toEqual({ 'order-1/late_arrival.late_arrival': 3 });
  });

  test('is counted by key and reason, and goes on counting after continue-as-new', () => {
    const chain = caseOf([kitOf('order-1', ['ordered'])]);
    raise(chain, { key: 'k', reason: 'problem_persists', orderId: 'order-1' }, start);
    raise(chain, { key: 'k', reason: 'replacement_failed', orderId: 'order-1' }, start);
    clear(chain, () => true, start);
    const carried = openChain({ rootOrderId: 'order-1', carried: JSON.parse(JSON.stringify(chain)) as unknown }, start);
    raise(carried, { key: 'k', reason: 'replacement_failed', orderId: 'order-1' }, start);
    raise(carried, { key: 'other', reason: 'replacement_failed', orderId: 'order-1' }, start);
    expect(notified(carried).filter((id) => id.endsWith('/attention_raised'))).toEqual([
      'k.problem_persists/attention_raised',
      'k.replacement_failed/attention_raised',
      'k.replacement_failed.2/attention_raised',
      'other.replacement_failed/attention_raised',
    ]);
  });

  test('stays while its deadline stands, and is cleared and notified when the order moves', () => {
    const chain = caseOf([kitOf('order-1', pathTo('delivered_to_lab'))]);
    raise(chain, question, start);
    clearAnswered(chain, start);
    expect(chain.attention).toHaveLength(1);
    learn(chain, kitOf('order-1', [...pathTo('delivered_to_lab'), 'sample_with_lab.testkit.partial_results']));
    clearAnswered(chain, start);
    expect(chain.attention).toHaveLength(1);
    learn(
      chain,
      kitOf('order-1', [...pathTo('delivered_to_lab'), 'sample_with_lab.testkit.partial_results', 'completed']),
    );
    clearAnswered(chain, start + 5);
    expect(chain.attention).toEqual([]);
    expect(announcedBy(chain).at(-1)).toMatchObject({
      type: 'attention_cleared',
      at: new Date(start + 5).toISOString(),
    });
  });

  test('attention for the time to return ends when the kit is sent back, and is raised again if it comes back', () => {
    const back = ['transit_lab', 'with_customer'];
    const chain = caseOf([kitOf('order-1', pathTo('testkit_registered'))]);
    const asked = (id: number) =>
      ({ key: `order-1/${id}.return_overdue`, reason: 'return_overdue', orderId: 'order-1' }) as const;
    raise(chain, asked(5), start);
    learn(chain, kitOf('order-1', [...pathTo('testkit_registered'), ...back]));
    clearAnswered(chain, start);
    expect(chain.attention).toEqual([]);
    raise(chain, asked(8), start);
    clearAnswered(chain, start);
    expect(chain.attention).toMatchObject([{ key: 'order-1/8.return_overdue', time: 1 }]);
  });

  test('is cleared when a person gives more time', () => {
    const chain = caseOf([kitOf('order-1', [...pathTo('transit_customer'), 'lost'])]);
    raise(chain, { key: 'order-1/4.decision', reason: 'decision_needed', orderId: 'order-1' }, start);
    clearAnswered(chain, start);
    expect(chain.attention).toHaveLength(1);
    chain.patience.push({ key: 'order-1/4.decision', since: daysAfterStart(5) });
    clearAnswered(chain, start);
    expect(chain.attention).toEqual([]);
  });

  test('attention that no event resolves stays until it is cleared by name', () => {
    const chain = caseOf([kitOf('order-1', ['ordered'])]);
    raise(chain, { key: 'order-1', reason: 'registered_another_order', orderId: 'order-1' }, start);
    learn(chain, kitOf('order-1', happyPath));
    clearAnswered(chain, start);
    expect(chain.attention).toHaveLength(1);
    clear(chain, ({ reason }) => reason === 'registered_another_order', start);
    expect(chain.attention).toEqual([]);
  });

  test('attention that was not raised is not cleared: nobody is notified', () => {
    const chain = caseOf([kitOf('order-1', ['ordered'])]);
    clear(chain, () => true, start);
    expect(announcedBy(chain)).toEqual([]);
    expect(chain.journal).toEqual([]);
  });

  test('is noted in the journal when it is raised and when it is cleared, once each', () => {
    const chain = caseOf([kitOf('order-1', pathTo('delivered_to_lab'))]);
    raise(chain, question, start);
    raise(chain, question, start + 1);
    clear(chain, () => true, start + 2);
    expect(chain.journal).toEqual([
      { at: new Date(start).toISOString(), orderId: 'order-1', what: 'attention raised: results overdue' },
      { at: new Date(start + 2).toISOString(), orderId: 'order-1', what: 'attention cleared: results overdue' },
    ]);
  });

  test('attention for an order that was never reported is notified about the current one', () => {
    const chain = caseOf([{ orderId: 'order-1', events: eventsOf('ordered'), userId: 'user-1' }]);
    raise(chain, { key: 'order-9', reason: 'reference_conflict', orderId: 'order-9' }, start);
    expect(announcedBy(chain)).toMatchObject([{ orderId: 'order-1', userId: 'user-1', data: { orderId: 'order-9' } }]);
  });
});
