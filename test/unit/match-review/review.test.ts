import { describe, expect, test } from 'vitest';
import { isCarriedOut, openPhaseOf, outcomeOf } from '../../../protocol/match-review/lifecycle.js';
import { atOnce } from '../../../workflows/entity/loop-timer.js';
import { announceEnd, announceNews } from '../../../workflows/match-review/announcements.js';
import { deadlinesOf } from '../../../workflows/match-review/deadlines.js';
import {
  currentPhase,
  learnFromWebhook,
  mayContradict,
  openReview,
  recordAbsence,
  recordRead,
} from '../../../workflows/match-review/review.js';
import { caseFileOf, stateOf } from '../../../workflows/match-review/view.js';
import { day, hour, item, readCase, start } from './reviews.js';

const rawResultId = 'result-1';

test.each([
  [{ status: 'pending_customer_review', resolutionAction: 'accept' }, undefined],
  [{ status: 'pending_ops_review' }, undefined],
  [{ status: 'second_opinion' }, undefined],
  [{}, undefined],
  [{ status: 'resolved', resolutionAction: 'accept', resolvedOrderId: 'order-1' }, 'accepted'],
  [{ status: 'matched', resolutionAction: 'ACCEPTED' }, 'accepted'],
  [{ status: 'resolved', resolutionAction: 'rejected' }, 'rejected'],
  [{ status: 'resolved', resolutionAction: 'unsure', resolvedOrderId: 'order-1' }, 'matched'],
  [{ status: 'matched' }, 'matched'],
  [{ status: 'resolved' }, 'resolved'],
] as const)('a review is over only by its status, and says how if it can: %j is %s', (report, outcome) => {
  expect(outcomeOf({ rawResultId, ...report })).toBe(outcome);
});

test('a decision counts as carried out if the review is already in the state that it leads to', () => {
  expect(isCarriedOut({ action: 'accept' }, item({ status: 'resolved', resolvedOrderId: 'order-1' }))).toBe(true);
  expect(isCarriedOut({ action: 'accept' }, item({ status: 'resolved', resolutionAction: 'reject' }))).toBe(false);
  expect(isCarriedOut({ action: 'reject' }, item({ status: 'resolved' }))).toBe(true);
  expect(isCarriedOut({ action: 'reject' }, item({ status: 'resolved', resolutionAction: 'other' }))).toBe(false);
  expect(isCarriedOut({ action: 'unsure' }, item({ status: 'pending_ops_review' }))).toBe(true);
  expect(isCarriedOut({ action: 'unsure' }, item())).toBe(false);
});

test.each([
  [{ orderId: 'order-1' }, true],
  [{ orderId: 'order-0' }, true],
  [{ orderId: 'order-2' }, false],
  [{ userId: 'user-1' }, true],
  [{ orderId: 'order-1', userId: 'user-2' }, false],
])('an acceptance is carried out if it names the result’s order, or its parent, and the user: %j', (ids, isOurs) => {
  const shown = item({ status: 'resolved', resolvedOrderId: 'order-1', resolvedUserId: 'user-1' });
  expect(isCarriedOut({ action: 'accept', ...ids }, shown, { parentId: 'order-0' })).toBe(isOurs);
  expect(isCarriedOut({ action: 'accept', ...ids }, item({ status: 'matched' }))).toBe(true);
});

describe('an end', () => {
  test('that does not say what happened is read again after a webhook, and gives way to what did', () => {
    const review = readCase();
    recordAbsence(review, true, 0, start + hour);
    learnFromWebhook(review, { rawResultId, status: 'matched', resolvedOrderId: 'order-1' });
    expect(mayContradict(review)).toBe(true);
    expect(deadlinesOf(review)[0]?.at).toBe(atOnce);
    recordAbsence(review, false, review.received, start + hour);
    expect(stateOf(review)).toMatchObject({ outcome: 'matched', resolvedOrderId: 'order-1' });
    learnFromWebhook(review, { rawResultId, status: 'resolved' });
    expect(mayContradict(review)).toBe(false);
    recordRead(review, item({ status: 'resolved' }), review.received, start + hour);
    expect(review.ending).toBe('matched');
  });

  test('that is not one is taken back, and the next one is announced, too', () => {
    const review = readCase();
    recordAbsence(review, true, 0, start + hour);
    announceEnd(review, start + hour);
    announceEnd(review, start + hour);
    learnFromWebhook(review, { rawResultId, status: 'pending_customer_review' });
    recordRead(review, item(), review.received, start + 2 * hour);
    expect(stateOf(review)).not.toHaveProperty('outcome');
    recordAbsence(review, true, review.received, start + 3 * hour);
    announceEnd(review, start + 3 * hour);
    expect(review.announced).toEqual(['result-1/gone/ended', 'result-1/gone.2/ended']);
  });

  test.each([
    ['is not shown', undefined],
    ['says nothing of who decided', { status: 'matched' }],
    ['says nothing of how', { status: 'resolved' }],
  ])('of an earlier run stands if the review %s', (_what, changes) => {
    const review = openReview({ rawResultId }, start);
    review.announced = ['result-1/accepted/ended'];
    review.before = { outcome: 'accepted', resolvedOrderId: 'order-1' };
    learnFromWebhook(review, { rawResultId, status: 'pending_customer_review' });
    if (changes) recordRead(review, item(changes), 1, start);
    else recordAbsence(review, false, 1, start);
    announceEnd(review, start);
    expect(stateOf(review)).toMatchObject({ outcome: 'accepted', resolvedOrderId: 'order-1' });
    expect(review).toMatchObject({ announced: ['result-1/accepted/ended'], outbox: [] });
    expect(review.order).toBeUndefined();
  });

  test('of an earlier run gives way to another order', () => {
    const review = openReview({ rawResultId }, start);
    review.before = { outcome: 'accepted', resolvedOrderId: 'order-1' };
    recordRead(review, item({ status: 'matched', resolvedOrderId: 'order-2' }), 0, start);
    expect(review).toMatchObject({ ending: 'matched', order: { orderId: 'order-2' } });
  });
});

const minute = 60_000;

test('a read that may be older than the end that an earlier run announced is read again after a minute, before anybody is asked', () => {
  const review = openReview({ rawResultId }, start);
  Object.assign(review, { identified: true, notifies: true, before: { outcome: 'rejected' } });
  learnFromWebhook(review, { rawResultId, status: 'resolved' });
  recordRead(review, item(), 1, start);
  announceNews(review, start);
  expect(review).toMatchObject({ stage: { phase: 'unknown' }, outbox: [] });
  expect(deadlinesOf(review)[0]?.at).toBe(start + minute);
  const late = structuredClone(review);
  recordRead(review, item({ status: 'resolved', resolutionAction: 'reject' }), 1, start + minute);
  expect(review.ending).toBe('rejected');
  recordRead(late, item(), 1, start + minute);
  expect(currentPhase(late)).toBe('awaiting_decision');
});

test('a status that is absent or unknown waits for a person if anything may be decided', () => {
  for (const status of [undefined, 'second_opinion']) {
    expect(openPhaseOf(status, ['reject'])).toBe('awaiting_decision');
    expect(openPhaseOf(status, [])).toBe('unknown');
  }
  expect(openPhaseOf('pending_ops_review', ['reject'])).toBe('with_service');
});

test('a person is reminded only while a person has to decide, and again when the review comes back', () => {
  const review = readCase();
  const names = () => deadlinesOf(review).map(({ name, at }) => `${name} ${(at - start) / day}`);
  expect(names().slice(1)).toEqual(['decision_reminder 1', 'decision_reminder 3']);
  recordRead(review, item({ status: 'pending_ops_review', allowedActions: [] }), 0, start + day);
  expect(names().slice(1)).toEqual(['service_review 8']);
  review.decision = { action: 'unsure' };
  recordRead(review, item(), 0, start + 2 * day - 60_000);
  recordRead(review, item(), 0, start + 2 * day);
  expect(names().slice(1)).toEqual(['decision_reminder 3', 'decision_reminder 5']);
  expect(review.decision).toBeUndefined();
});

test('the case file names the decision that is needed, and quotes nothing that could end a line', () => {
  const state = stateOf(readCase({ interpretation: 'critical', decisionCode: 'no_match' }));
  const text = caseFileOf(state);
  expect(text).toContain('### Awaiting decision');
  expect(text).toContain('**Reason** no match');
  expect(text).toContain('**Allowed** `accept`, `reject`, `unsure`');
  expect(caseFileOf({ ...state, decisionCode: 'a|b\n# c' })).not.toMatch(/\|b|\n# c/);
});
