import ms from 'ms';
import { expect, test } from 'vitest';
import { raise } from '../../../workflows/report/announcements.js';
import { learnFromRead, learnFromWebhook } from '../../../workflows/report/job.js';
import { deadlineOf, giveUpAt } from '../../../workflows/report/deadlines.js';
import { began, handedOver, snapshot } from './jobs.js';

test('the deadline of a review stands through an unknown status', () => {
  const job = handedOver();
  learnFromWebhook(job, snapshot('pending_review'), began + ms('30m'));
  learnFromWebhook(job, snapshot('a_status_of_tomorrow'), began + ms('2h'));
  expect(deadlineOf(job)).toEqual({ reason: 'review_overdue', at: began + ms('30m') + ms('4d') });
  learnFromRead(job, snapshot('processing'), job.reported, began + ms('3h'));
  expect(deadlineOf(job).reason).toBe('parsing_overdue');
});

test('the deadline of parsing leaves room for a review that the service may not report', () => {
  const job = handedOver();
  learnFromWebhook(job, snapshot('started', { needsHumanReview: true }), began);
  expect(deadlineOf(job)).toEqual({ reason: 'parsing_overdue', at: began + ms('1h') + ms('4d') });
  learnFromWebhook(job, snapshot('processing', { needsHumanReview: true, isReviewed: true }), began);
  expect(deadlineOf(job)).toEqual({ reason: 'parsing_overdue', at: began + ms('1h') });
});

test('the deadline, once missed, is the beginning of giving up', () => {
  const job = handedOver();
  expect(giveUpAt(job)).toBe(Infinity);
  raise(job, 'notifications_undelivered', began);
  expect(giveUpAt(job)).toBe(Infinity);
  raise(job, 'parsing_overdue', began);
  expect(giveUpAt(job)).toBe(began + ms('1h') + ms('14d'));
  learnFromWebhook(job, snapshot('processing'), began + ms('3d'));
  expect(giveUpAt(job)).toBe(began + ms('3d') + ms('14d'));
});
