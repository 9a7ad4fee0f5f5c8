import { expect, test } from 'vitest';
import { matchReviewSnapshotOf } from '../../../../service/match-review/snapshot.js';
import { readEvent } from '../../../../service/webhooks/events.js';
import { all } from '../../../rig/all.js';
import { answering, readFrom, serviceAt } from '../recording-server.js';

const item = {
  id: 'result-1',
  status: 'pending_customer_review',
  decision_code: 'match_demo',
  sub_reason_codes: ['lab_account_mismatch', 7],
  reason: 'Testperson Invented has two orders',
  patient: { first_name: 'Testperson', last_name: 'Invented', dob: '1990-01-01T00:00:00', gender: null },
  lab: { id: 1, name: 'Invented Laboratory', slug: 'invented-lab' },
  markers: [{ provider_id: '11', name: 'Glucose' }],
  interpretation: 'critical',
  result_status: 'final',
  note: null,
  allowed_actions: ['accept', 'reject'],
  candidate_groups: [{ user_id: null, candidates: [{ order_id: 'order-1', reasons: ['same_lab'], extra: 1 }] }],
  extra: true,
};

test('the list is read by cursor, without what cannot be read, by the filters of the service', async () => {
  const { baseUrl, requests } = await answering(({ url }) =>
    url?.includes('next_cursor=c1')
      ? { body: { data: [{ ...item, id: 'result-2' }], next_cursor: null, total: 2 } }
      : { body: { data: [item, { id: '' }, 'nonsense'], next_cursor: 'c1' } },
  );
  const { matchReviews } = serviceAt(baseUrl);
  const found = await all(matchReviews.list({ decisionCode: 'match_demo', from: '2024-03-01' }));
  expect(found.map(({ id }) => id)).toEqual(['result-1', 'result-2']);
  expect(found[0]).toMatchObject({ candidate_groups: [{ candidates: [{ extra: 1 }] }], extra: true });
  const query = 'decision_code=match_demo&created_at_start=2024-03-01&limit=50';
  const asked = requests.map(({ url }) => url?.replace('/v3/unmatched_result?', ''));
  expect(asked).toEqual([query, `${query}&next_cursor=c1`]);
});

test('a decision is sent as the service takes it: an acceptance answers with an order, everything else with the result', async () => {
  const { baseUrl, requests } = await answering(({ url }) => ({
    body: url?.endsWith('/accept') ? { id: 'order-2', origin: 'recreation', parent_id: 'order-1' } : item,
  }));
  const { matchReviews } = serviceAt(baseUrl);
  const order = await matchReviews.accept('result-1', { order_id: 'order-1', note: 'called' });
  expect(order).toMatchObject({ id: 'order-2' });
  await matchReviews.accept('result-1');
  expect(await matchReviews.resolve('result-1', { action: 'unsure' })).toMatchObject({ id: 'result-1' });
  expect(requests.map(({ url, body }) => [url, body])).toEqual([
    ['/v3/unmatched_result/result-1/accept', { order_id: 'order-1', note: 'called' }],
    ['/v3/unmatched_result/result-1/accept', {}],
    ['/v3/unmatched_result/result-1/resolve', { action: 'unsure' }],
  ]);
});

test('what enters a history names nobody, has no sentence in the place of a word, and has UUIDs in lower case', async () => {
  const capitals = 'ABCDEF01-2345-4789-8ABC-DEF012345678';
  const given = { resolved_order_id: capitals, resolved_user_id: capitals };
  const body = { ...item, ...given, status: 'asked Testperson Invented' };
  expect(matchReviewSnapshotOf(await readFrom(body, ({ matchReviews }) => matchReviews.get('result-1')))).toEqual({
    rawResultId: 'result-1',
    status: 'other',
    decisionCode: 'match_demo',
    subReasonCodes: ['lab_account_mismatch'],
    allowedActions: ['accept', 'reject'],
    labSlug: 'invented-lab',
    interpretation: 'critical',
    resultStatus: 'final',
    resolvedOrderId: capitals.toLowerCase(),
    resolvedUserId: capitals.toLowerCase(),
  });
});

test.each([{}, { user_id: 'user-1', client_user_id: 'client-1' }])(
  'a webhook is a stub, with the user %j',
  (envelope) => {
    const { id, status } = item;
    const event = { event_type: 'labtest.match_review.created', team_id: 'team-1', data: { id, status }, ...envelope };
    expect(readEvent(event)).toEqual({
      ...{ kind: 'match_review', eventType: 'labtest.match_review.created', teamId: 'team-1' },
      report: { rawResultId: 'result-1', status: 'pending_customer_review' },
      ...('user_id' in envelope && { userId: 'user-1' }),
    });
    expect(readEvent({ ...event, data: { status } })).toMatchObject({ kind: 'unreadable' });
  },
);
