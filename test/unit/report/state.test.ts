import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReportSnapshot } from '../../../service/report-snapshot.js';
import { rankOf } from '../../../workflows/report/lifecycle.js';
import { hearOf, knownOf, readOf, type Reported } from '../../../workflows/report/state.js';
import { counts, job } from './cases.js';

const heard = (snapshots: readonly ReportSnapshot[], from: Reported = {}) => snapshots.reduce(hearOf, from);

describe('of webhooks', () => {
  test.each([
    ['upload_pending', 'started'],
    ['started', 'processing'],
    ['processing', 'pending_review'],
    ['pending_review', 'a_status_of_tomorrow'],
    ['a_status_of_tomorrow', 'failed'],
    ['failed', 'completed'],
    [undefined, 'upload_pending'],
  ])('%s comes before %s, in whichever order they arrive', (earlier, later) => {
    expect(rankOf(earlier)).toBeLessThan(rankOf(later));
    expect(knownOf(heard([job(earlier), job(later)]))?.status).toBe(later);
    expect(knownOf(heard([job(later), job(earlier)]))?.status).toBe(later);
  });

  test('any order and repetition ends in the same state', () => {
    const statuses = [
      'upload_pending',
      'started',
      'processing',
      'pending_review',
      'odd',
      'odder',
      'failed',
      'completed',
    ];
    const snapshot = fc.record({ status: fc.constantFrom(...statuses), isReviewed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(snapshot, { minLength: 1 }), fc.integer(), (sent, turn) => {
        const jobs = sent.map(({ status, isReviewed }) => job(status, { isReviewed }));
        const at = Math.abs(turn) % jobs.length;
        const other = [...jobs.slice(at), ...jobs.slice(0, at), ...jobs].toReversed();
        expect(knownOf(heard(other))).toEqual(knownOf(heard(jobs)));
      }),
    );
  });

  test('a result that was reviewed comes after the one before the review', () => {
    const before = job('completed', { isReviewed: false, counts });
    const after = job('completed', { isReviewed: true });
    expect(knownOf(heard([after, before]))).toEqual(after);
    expect(knownOf(heard([before, after]))).toEqual(after);
  });

  test('one that brings the counts comes after one that does not', () => {
    expect(knownOf(heard([job('completed', { counts }), job('completed')]))?.counts).toEqual(counts);
  });

  test('one that leaves fields out takes nothing away', () => {
    const whole = job('pending_review', { needsHumanReview: true, isReviewed: false });
    expect(knownOf(heard([whole, job('pending_review')]))).toEqual(whole);
    expect(knownOf(heard([job('pending_review'), whole]))).toEqual(whole);
  });

  test('one that says nothing new changes nothing', () => {
    const reported = heard([job('started')]);
    expect(hearOf(reported, job('started'))).toBe(reported);
    expect(hearOf(reported, job('upload_pending'))).toBe(reported);
  });
});

describe('a read', () => {
  test('counts whatever was heard before, also when it goes back', () => {
    const reported = readOf(heard([job('completed')]), job('started'));
    expect(knownOf(reported)?.status).toBe('started');
  });

  test('does not take back what a webhook told while it was under way', () => {
    const asked = heard([job('started')]);
    const meanwhile = hearOf(asked, job('completed'));
    expect(knownOf(readOf(meanwhile, job('started'), asked))?.status).toBe('completed');
    expect(knownOf(readOf(hearOf(asked, job('processing')), job('completed'), asked))?.status).toBe('completed');
  });

  test('is only left behind by webhooks that are further', () => {
    const read = readOf({}, job('processing'));
    expect(hearOf(read, job('started'))).toBe(read);
    expect(hearOf(read, job('processing'))).toBe(read);
    expect(knownOf(hearOf(read, job('completed')))?.status).toBe('completed');
  });

  test('of what is known already changes nothing the second time', () => {
    const read = readOf({}, job('processing'));
    expect(readOf(read, job('processing'))).toBe(read);
  });
});
