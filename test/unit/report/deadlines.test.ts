import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { raise } from '../../../workflows/report/attention.js';
import { learnFromRead, learnFromWebhook } from '../../../workflows/report/case.js';
import { deadlineOf, giveUpAt, nextMoment, pollAt } from '../../../workflows/report/deadlines.js';
import { began, handedOver, job } from './cases.js';

test('the first read comes after firstPoll, and each that says nothing new doubles the pause up to longestPoll', () => {
  const kase = handedOver();
  learnFromWebhook(kase, job('started'), began);
  const pauses = [];
  for (let now = began; pauses.length < 10;) {
    const next = pollAt(kase);
    pauses.push(ms(next - now));
    now = next;
    learnFromRead(kase, job('started'), kase.reported, now);
  }
  expect(pauses).toEqual(['2m', '4m', '8m', '16m', '32m', '1h', '2h', '4h', '6h', '6h']);
});

test('news shortens the pause again', () => {
  const kase = handedOver({ silentReads: 5 });
  learnFromWebhook(kase, job('processing'), began + 1_000);
  expect(pollAt(kase)).toBe(began + 1_000 + ms('2m'));
});

test('while a person reviews the job is read less often', () => {
  const kase = handedOver();
  learnFromWebhook(kase, job('pending_review'), began);
  expect(pollAt(kase)).toBe(began + ms('1h'));
});

describe('the deadline', () => {
  test('of parsing counts from the beginning, whatever is heard meanwhile', () => {
    const kase = handedOver();
    learnFromWebhook(kase, job('processing'), began + ms('30m'));
    expect(deadlineOf(kase)).toEqual({ reason: 'parsing_overdue', at: began + ms('1h') });
  });

  test('of a review holds on through a status that is not known yet', () => {
    const kase = handedOver();
    learnFromWebhook(kase, job('pending_review'), began + ms('30m'));
    learnFromWebhook(kase, job('a_status_of_tomorrow'), began + ms('2h'));
    expect(deadlineOf(kase)).toEqual({ reason: 'review_overdue', at: began + ms('30m') + ms('4d') });
    learnFromRead(kase, job('processing'), kase.reported, began + ms('3h'));
    expect(deadlineOf(kase).reason).toBe('parsing_overdue');
  });

  test('of a review counts from the beginning of the review', () => {
    const kase = handedOver();
    learnFromWebhook(kase, job('pending_review'), began + ms('30m'));
    expect(deadlineOf(kase)).toEqual({ reason: 'review_overdue', at: began + ms('30m') + ms('4d') });
  });

  test('of parsing leaves room for a review that the service may not tell of', () => {
    const kase = handedOver();
    learnFromWebhook(kase, job('started', { needsHumanReview: true }), began);
    expect(deadlineOf(kase)).toEqual({ reason: 'parsing_overdue', at: began + ms('1h') + ms('4d') });
    learnFromWebhook(kase, job('processing', { needsHumanReview: true, isReviewed: true }), began);
    expect(deadlineOf(kase)).toEqual({ reason: 'parsing_overdue', at: began + ms('1h') });
  });

  test('once missed is the beginning of giving up', () => {
    const kase = handedOver();
    expect(giveUpAt(kase)).toBe(Infinity);
    raise(kase, 'parsing_overdue', began);
    expect(giveUpAt(kase)).toBe(began + ms('1h') + ms('14d'));
    learnFromWebhook(kase, job('processing'), began + ms('3d'));
    expect(giveUpAt(kase)).toBe(began + ms('3d') + ms('14d'));
  });
});

test('the next moment is whatever comes first', () => {
  const kase = handedOver();
  expect(nextMoment(kase)).toEqual({ at: began + ms('2m'), name: 'read the job' });
  const late = handedOver({ lookedAt: began + ms('59m') });
  expect(nextMoment(late)).toEqual({ at: began + ms('1h'), name: 'parsing_overdue' });
  raise(late, 'parsing_overdue', began);
  expect(nextMoment(late)).toEqual({ at: began + ms('61m'), name: 'read the job' });
});
