import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReportSnapshot } from '../../../service/report/snapshot.js';
import { isUnknown, rankOf } from '../../../protocol/report/lifecycle.js';
import {
  foldRead,
  foldWebhook,
  knownOf,
  readReportSnapshot,
  type Reported,
} from '../../../workflows/report/reports.js';
import { counts, jobId, snapshot, userId } from './jobs.js';

const receivedAll = (snapshots: readonly ReportSnapshot[], from: Reported = {}) => snapshots.reduce(foldWebhook, from);

test.each([
  ['upload_pending', 'started'],
  ['started', 'processing'],
  ['processing', 'pending_review'],
  ['pending_review', 'a_status_of_tomorrow'],
  ['a_status_of_tomorrow', 'failed'],
  ['failed', 'completed'],
  [undefined, 'upload_pending'],
])('webhooks of %s come before those of %s, in whichever order they arrive', (earlier, later) => {
  expect(rankOf(earlier)).toBeLessThan(rankOf(later));
  expect(knownOf(receivedAll([snapshot(earlier), snapshot(later)]))?.status).toBe(later);
  expect(knownOf(receivedAll([snapshot(later), snapshot(earlier)]))?.status).toBe(later);
});

test('webhooks in any order and repetition end in the same state', () => {
  const early = ['upload_pending', 'started', 'processing', 'pending_review'];
  const statuses = [...early, 'odd', 'odder', 'failed', 'completed'];
  const report = fc.record({ status: fc.constantFrom(...statuses), isReviewed: fc.boolean() });
  fc.assert(
    fc.property(fc.array(report, { minLength: 1 }), fc.integer(), (sent, turn) => {
      const jobs = sent.map(({ status, isReviewed }) => snapshot(status, { isReviewed }));
      const at = Math.abs(turn) % jobs.length;
      const other = [...jobs.slice(at), ...jobs.slice(0, at), ...jobs].toReversed();
      expect(knownOf(receivedAll(other))).toEqual(knownOf(receivedAll(jobs)));
    }),
  );
});

test('webhooks with a reviewed result come after those from before the review', () => {
  const before = snapshot('completed', { isReviewed: false, counts });
  const after = snapshot('completed', { isReviewed: true });
  expect(knownOf(receivedAll([after, before]))).toEqual(after);
  expect(knownOf(receivedAll([before, after]))).toEqual(after);
});

test('webhooks that bring the counts come after those that say more of anything else', () => {
  const more = snapshot('completed', { needsHumanReview: true, failureReason: 'x', userId: 'user-1' });
  const counted = snapshot('completed', { counts });
  expect(knownOf(receivedAll([counted, more]))?.counts).toEqual(counts);
  expect(knownOf(receivedAll([more, counted]))?.counts).toEqual(counts);
});

describe('a read', () => {
  test('that lacks the review that a webhook reported is older: the review is not lost', () => {
    const reviewed = { ...snapshot('completed'), isReviewed: true };
    const reported = foldRead(foldWebhook({}, reviewed), { ...snapshot('completed'), isReviewed: false });
    expect(knownOf(reported)).toEqual(reviewed);
    expect(foldRead(reported, reviewed)).toEqual({ read: reviewed });
    const before = foldRead(foldWebhook({}, reviewed), snapshot('pending_review', { needsHumanReview: true }));
    expect(knownOf(before)).toEqual(reviewed);
  });

  test('that lacks the review and has the counts that the webhook left out adds them', () => {
    const received = foldWebhook({}, snapshot('completed', { isReviewed: true }));
    const reported = foldRead(received, snapshot('completed', { counts }));
    expect(knownOf(reported)).toMatchObject({ isReviewed: true, counts });
  });

  test('that has the review, or another status, is the later one', () => {
    const received = foldWebhook({}, snapshot('started', { isReviewed: true, counts }));
    const reviewed = snapshot('started', { isReviewed: true });
    expect(foldRead(received, reviewed)).toEqual({ read: reviewed });
    expect(foldRead(received, snapshot('completed'))).toEqual({ read: snapshot('completed') });
  });

  test('does not take back what a webhook reported while it was under way', () => {
    const asked = receivedAll([snapshot('started')]);
    const further = foldWebhook(asked, snapshot('completed'));
    expect(knownOf(foldRead(further, snapshot('started'), asked))?.status).toBe('completed');
    const meanwhile = foldWebhook(asked, snapshot('processing'));
    expect(knownOf(foldRead(meanwhile, snapshot('completed'), asked))?.status).toBe('completed');
  });

  test('says where the job is though a read before it said the same, and a webhook between them something else', () => {
    const received = foldWebhook(foldRead({}, snapshot('started')), snapshot('completed'));
    expect(knownOf(foldRead(received, snapshot('started'), received))?.status).toBe('started');
  });

  test('counts, too, if another read was answered meanwhile', () => {
    const asked = receivedAll([snapshot('started')]);
    const meanwhile = foldRead(asked, snapshot('processing'), asked);
    expect(knownOf(foldRead(meanwhile, snapshot('completed'), asked))?.status).toBe('completed');
  });

  test('is only overtaken by webhooks that are further', () => {
    const read = foldRead({}, snapshot('processing'));
    expect(foldWebhook(read, snapshot('started'))).toBe(read);
    expect(foldWebhook(read, snapshot('processing'))).toBe(read);
    expect(knownOf(foldWebhook(read, snapshot('completed')))?.status).toBe('completed');
  });

  test('a read of known facts changes nothing the second time', () => {
    const read = foldRead({}, snapshot('processing'));
    expect(foldRead(read, snapshot('processing'))).toBe(read);
  });
});

test.each([
  [undefined, false],
  ['started', false],
  ['completed', false],
  ['a_status_of_tomorrow', true],
])('a status is unknown only if it is there and none of the documented ones: %s', (status, expected) => {
  expect(isUnknown(status)).toBe(expected);
});

describe('a snapshot from a signal', () => {
  test('is taken unchanged', () => {
    const flags = { needsHumanReview: true, isReviewed: false };
    const whole = snapshot('failed', { failureReason: 'low_quality', ...flags, userId, counts });
    expect(readReportSnapshot(whole)).toEqual(whole);
  });

  test('loses unknown fields and those of another type', () => {
    const odd = { status: 5, failureReason: 2, userId: 7, needsHumanReview: 'no', isReviewed: 'yes', counts: [] };
    expect(readReportSnapshot({ jobId, data: { name: 'Testperson' }, ...odd })).toStrictEqual({ jobId });
  });

  test('loses invalid counts', () => {
    const odd = { ...counts, results: -1, aboveRange: 1.5, byInterpretation: { normal: '2' } };
    expect(readReportSnapshot({ jobId, counts: odd })?.counts).toEqual({
      ...counts,
      results: 0,
      aboveRange: 0,
      byInterpretation: { normal: 0, abnormal: 0, critical: 0, unknown: 0 },
    });
  });

  test.each([undefined, null, 'text', [], {}, { jobId: 1 }])('is refused: %j', (value) => {
    expect(readReportSnapshot(value)).toBeUndefined();
  });
});
