import { describe, expect, test } from 'vitest';
import { clear, clearAnswered, raise } from '../../../workflows/order/attention.js';
import { learn, openCase, type Case } from '../../../workflows/order/case.js';
import { attentionOf } from '../../../workflows/order/view.js';
import { caseOf, daysAfterStart, eventsOf, happyPath, kitOf, pathTo, start } from './histories.js';

const told = ({ outbox }: Case) => outbox.map(({ id }) => id);

describe('attention', () => {
  const key = 'order-1/9.results_overdue';
  const question = { key, reason: 'results_overdue', orderId: 'order-1' } as const;

  test('is raised once per question, told with an id that comes from the question', () => {
    const kase = caseOf([kitOf('order-1', pathTo('delivered_to_lab'))]);
    raise(kase, question, start);
    raise(kase, question, start + 1);
    const shown = { reason: 'results_overdue', orderId: 'order-1', since: daysAfterStart(0) };
    expect(kase.attention).toEqual([{ key, time: 1, ...shown }]);
    expect(attentionOf(kase)).toEqual([shown]);
    expect(kase.outbox).toHaveLength(1);
    expect(kase.outbox).toMatchObject([
      { id: `${key}.results_overdue/attention_raised`, at: daysAfterStart(0), type: 'attention_raised' },
    ]);
    expect(kase.outbox[0]?.data).toEqual(shown);
  });

  test('that was cleared and is raised again is another question: raised and cleared under ids of its own', () => {
    const kase = caseOf([kitOf('order-1', ['ordered'])]);
    const late = { key: 'order-1/late_arrival', reason: 'late_arrival', orderId: 'order-1' } as const;
    for (let time = 1; time <= 3; time++) {
      raise(kase, late, start + time);
      raise(kase, late, start + time);
      clear(kase, ({ reason }) => reason === 'late_arrival', start + time);
    }
    expect(told(kase)).toEqual([
      'order-1/late_arrival.late_arrival/attention_raised',
      'order-1/late_arrival.late_arrival/attention_cleared',
      'order-1/late_arrival.late_arrival.2/attention_raised',
      'order-1/late_arrival.late_arrival.2/attention_cleared',
      'order-1/late_arrival.late_arrival.3/attention_raised',
      'order-1/late_arrival.late_arrival.3/attention_cleared',
    ]);
    expect(kase.outbox.at(-1)?.data).not.toHaveProperty('time');
    expect(kase.raised).toEqual([{ key: 'order-1/late_arrival.late_arrival', times: 3 }]);
  });

  test('is counted by key and reason, and goes on counting after continue-as-new', () => {
    const kase = caseOf([kitOf('order-1', ['ordered'])]);
    raise(kase, { key: 'k', reason: 'problem_persists', orderId: 'order-1' }, start);
    raise(kase, { key: 'k', reason: 'replacement_failed', orderId: 'order-1' }, start);
    clear(kase, () => true, start);
    const carried = openCase('order-1', JSON.parse(JSON.stringify(kase)));
    raise(carried, { key: 'k', reason: 'replacement_failed', orderId: 'order-1' }, start);
    raise(carried, { key: 'other', reason: 'replacement_failed', orderId: 'order-1' }, start);
    expect(told(carried).filter((id) => id.endsWith('/attention_raised'))).toEqual([
      'k.problem_persists/attention_raised',
      'k.replacement_failed/attention_raised',
      'k.replacement_failed.2/attention_raised',
      'other.replacement_failed/attention_raised',
    ]);
  });

  test('stays while its deadline stands, and is cleared and told when the order moves', () => {
    const kase = caseOf([kitOf('order-1', pathTo('delivered_to_lab'))]);
    raise(kase, question, start);
    clearAnswered(kase, start);
    expect(kase.attention).toHaveLength(1);
    learn(kase, kitOf('order-1', [...pathTo('delivered_to_lab'), 'sample_with_lab.testkit.partial_results']));
    clearAnswered(kase, start);
    expect(kase.attention).toHaveLength(1);
    learn(
      kase,
      kitOf('order-1', [...pathTo('delivered_to_lab'), 'sample_with_lab.testkit.partial_results', 'completed']),
    );
    clearAnswered(kase, start + 5);
    expect(kase.attention).toEqual([]);
    expect(kase.outbox.at(-1)).toMatchObject({ type: 'attention_cleared', at: new Date(start + 5).toISOString() });
  });

  test('for the time to return is answered by sending back, and asked anew should the kit come back and wait again', () => {
    const back = ['transit_lab', 'with_customer'];
    const kase = caseOf([kitOf('order-1', pathTo('testkit_registered'))]);
    const asked = (id: number) =>
      ({ key: `order-1/${id}.return_overdue`, reason: 'return_overdue', orderId: 'order-1' }) as const;
    raise(kase, asked(5), start);
    learn(kase, kitOf('order-1', [...pathTo('testkit_registered'), ...back]));
    clearAnswered(kase, start);
    expect(kase.attention).toEqual([]);
    raise(kase, asked(8), start);
    clearAnswered(kase, start);
    expect(kase.attention).toMatchObject([{ key: 'order-1/8.return_overdue', time: 1 }]);
  });

  test('is cleared when a person gives more time', () => {
    const kase = caseOf([kitOf('order-1', [...pathTo('transit_customer'), 'lost'])]);
    raise(kase, { key: 'order-1/4.decision', reason: 'decision_needed', orderId: 'order-1' }, start);
    clearAnswered(kase, start);
    expect(kase.attention).toHaveLength(1);
    kase.patience.push({ key: 'order-1/4.decision', since: daysAfterStart(5) });
    clearAnswered(kase, start);
    expect(kase.attention).toEqual([]);
  });

  test('that no event answers stays until it is cleared by name', () => {
    const kase = caseOf([kitOf('order-1', ['ordered'])]);
    raise(kase, { key: 'order-1', reason: 'registered_another_order', orderId: 'order-1' }, start);
    learn(kase, kitOf('order-1', happyPath));
    clearAnswered(kase, start);
    expect(kase.attention).toHaveLength(1);
    clear(kase, ({ reason }) => reason === 'registered_another_order', start);
    expect(kase.attention).toEqual([]);
  });

  test('that was not raised is not cleared: nobody is told', () => {
    const kase = caseOf([kitOf('order-1', ['ordered'])]);
    clear(kase, () => true, start);
    expect(kase.outbox).toEqual([]);
    expect(kase.journal).toEqual([]);
  });

  test('is noted in the journal when it is raised and when it is cleared, once each', () => {
    const kase = caseOf([kitOf('order-1', pathTo('delivered_to_lab'))]);
    raise(kase, question, start);
    raise(kase, question, start + 1);
    clear(kase, () => true, start + 2);
    expect(kase.journal).toEqual([
      { at: new Date(start).toISOString(), orderId: 'order-1', what: 'attention: results overdue' },
      { at: new Date(start + 2).toISOString(), orderId: 'order-1', what: 'no more attention: results overdue' },
    ]);
  });

  test('for an order that was never reported is told of the current one', () => {
    const kase = caseOf([{ orderId: 'order-1', events: eventsOf('ordered'), userId: 'user-1' }]);
    raise(kase, { key: 'order-9', reason: 'reference_conflict', orderId: 'order-9' }, start);
    expect(kase.outbox).toMatchObject([{ orderId: 'order-1', userId: 'user-1', data: { orderId: 'order-9' } }]);
  });
});
