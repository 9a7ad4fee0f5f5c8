import { expect, test } from 'vitest';
import {
  attentionAttributes,
  attentionVerbsFor,
  afterDelivery,
  resumeQuestions,
  type Attentive,
} from '../../../workflows/entity/attention.js';
import type { RaisedAttention } from '../../../protocol/attention.js';
import { life as appointmentLife, reading } from '../appointment/appointments.js';
import { requested } from '../deletion/lives.js';
import type { Life } from '../life.js';
import { life as linkLife } from '../link/links.js';
import { life as reviewLife, item } from '../match-review/reviews.js';
import { awaited, life as orderLife } from '../order/lives.js';
import { snapshot, life as reportLife } from '../report/jobs.js';

const start = Date.parse('2026-03-01T10:00:00.000Z');

type Reason = 'overdue' | 'unreadable' | 'notifications_undelivered';

interface State extends Attentive<RaisedAttention<Reason>> {
  notified: string[];
}

const opened = (): State => ({ attention: [], raised: {}, journal: [], notified: [] });

const { raise, clear } = attentionVerbsFor<RaisedAttention<Reason>, State>({
  notify: (state, _raised, { id, type }) => state.notified.push(`${id}/${type}`),
});

test('attention is found by each reason once, and by the time since which the oldest stands', () => {
  const since = ['2026-03-03T10:00:00.000Z', '2026-03-02T10:00:00.000Z', '2026-03-04T10:00:00.000Z'];
  const attention = since.map((each, index) => ({ reason: index === 0 ? 'unreadable' : 'overdue', since: each }));
  const values = (of: typeof attention) => attentionAttributes(of).map(({ value }) => value);
  expect(values(attention)).toEqual([['overdue', 'unreadable'], new Date('2026-03-02T10:00:00.000Z')]);
  expect(values([])).toEqual([[], null]);
});

test('attention is raised once while it stands, and under an id of its own when it comes again', () => {
  const state = opened();
  raise(state, 'overdue', start);
  raise(state, 'overdue', start + 1);
  expect(clear(state, ['overdue'], start + 2)).toBe(true);
  expect(clear(state, ['overdue'], start + 3)).toBe(false);
  raise(state, 'overdue', start + 4);
  expect(state.notified).toEqual([
    'overdue/attention_raised',
    'overdue/attention_cleared',
    'overdue.2/attention_raised',
  ]);
  expect(state.attention).toEqual([{ reason: 'overdue', since: '2026-03-01T10:00:00.004Z', time: 2 }]);
  expect(state.journal.map(({ what }) => what)).toEqual([
    'attention raised: overdue',
    'attention cleared: overdue',
    'attention raised: overdue',
  ]);
});

test('attention with another key is another question, and clearing one leaves the other', () => {
  const state = opened();
  raise(state, { key: 'a', reason: 'overdue' }, start);
  raise(state, { key: 'b', reason: 'overdue' }, start);
  clear(state, ({ key }) => key === 'a', start);
  expect(state.attention).toMatchObject([{ key: 'b' }]);
  expect(state.notified.at(-1)).toBe('a.overdue/attention_cleared');
});

test('a question of an earlier run stands until it is answered, and its count goes on', () => {
  const since = '2026-02-01T10:00:00.000Z';
  const state = opened();
  raise(state, { key: 'a', reason: 'overdue' }, start);
  raise(state, { key: 'a', reason: 'unreadable' }, start);
  const earlier = { key: 'a', reason: 'overdue', since, time: 3 } as const;
  resumeQuestions(state, { attention: [earlier], raised: { 'a.overdue': 3, unreadable: 2 } });
  expect(state.attention).toMatchObject([earlier, { key: 'a', reason: 'unreadable', time: 1 }]);
  expect(state.raised).toEqual({ 'a.overdue': 3, 'a.unreadable': 1, unreadable: 2 });
  resumeQuestions(state, { raised: { 'a.overdue': 1 } });
  expect(state.raised).toMatchObject({ 'a.overdue': 3 });
  resumeQuestions(state, {});
  expect(state.attention).toHaveLength(2);
  clear(state, ['overdue'], start);
  expect(state.notified.at(-1)).toBe('a.overdue.3/attention_cleared');
});

test('notifications that cannot be delivered are attention until one is, and only changes are news', () => {
  const state = opened();
  let news = 0;
  const delivery = afterDelivery(state, { raise, clear }, () => (news += 1));
  delivery.delivered();
  expect(news).toBe(0);
  delivery.undelivered();
  expect(state.attention).toMatchObject([{ reason: 'notifications_undelivered' }]);
  delivery.delivered();
  expect(state.attention).toEqual([]);
  expect(news).toBe(2);
});

/* The worker hands over another signal in place of one that it cannot decrypt (workflows/input-refusal.ts). */

const begun: Record<string, () => Promise<Life>> = {
  kitOrder: () => orderLife(awaited),
  bookAppointment: () => appointmentLife(reading()),
  deleteUser: () => requested(),
  linkProvider: () => linkLife(),
  matchReview: () => reviewLife(item()),
  parsingJob: () => reportLife(snapshot('started')),
};

test.each(Object.entries(begun))('%s asks a person, once, what an undecryptable signal said', async (_name, begin) => {
  const life = await begin();
  for (let times = 0; times < 2; times += 1) await life.signal('unreadable');
  const { attention } = (await life.run.query('state')) as { attention: { reason: string }[] };
  expect(attention.filter(({ reason }) => reason === 'unreadable_signal')).toHaveLength(1);
  expect(life.run.shown.attributes['LabAttention']).toContain('unreadable_signal');
});
