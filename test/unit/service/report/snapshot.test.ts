import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsingJobSchema } from '../../../../service/report/reports.js';
import { reportSnapshotOf } from '../../../../service/report/snapshot.js';

const snapshot = (job: object) => reportSnapshotOf(parsingJobSchema.parse({ id: 'job-1', ...job }));

test('a job is projected to ids, states and counts, and nothing of a person', () => {
  const secret = 'Testperson';
  const projected = snapshot({
    user_id: 'user-1',
    team_id: 'team-1',
    status: 'completed',
    failure_reason: null,
    needs_human_review: true,
    is_reviewed: true,
    note: secret,
    data: {
      metadata: { patient_first_name: secret, patient_last_name: secret, dob: '1980-02-29', specimen_number: secret },
      results: [
        { test_name: secret, value: secret, loinc_match_status: 'auto_match', interpretation: 'normal' },
        { value: '97531', loinc_match_status: 'auto_match', interpretation: 'abnormal', is_above_max_range: true },
        { loinc_match_status: 'needs_review', interpretation: 'critical', is_below_min_range: true },
        { loinc_match_status: 'no_match', interpretation: 'unknown', is_above_max_range: false },
        { loinc_match_status: 'next_year', interpretation: 'next_year' },
        { loinc_match_status: 'constructor', interpretation: '__proto__' },
        {},
        secret,
      ],
    },
  });
  expect(projected).toEqual({
    jobId: 'job-1',
    userId: 'user-1',
    status: 'completed',
    needsHumanReview: true,
    isReviewed: true,
    counts: {
      results: 7,
      unreadable: 1,
      byLoincMatchStatus: { auto_match: 2, needs_review: 1, no_match: 1, unknown: 3 },
      byInterpretation: { normal: 1, abnormal: 1, critical: 1, unknown: 4 },
      aboveRange: 1,
      belowRange: 1,
    },
  });
  expect(JSON.stringify(projected)).not.toMatch(/Testperson|97531|1980/);
});

test('absent and null fields are left out', () => {
  const nothing = { status: null, failure_reason: null, needs_human_review: null, is_reviewed: null, data: null };
  expect([snapshot(nothing), snapshot({})]).toEqual([{ jobId: 'job-1' }, { jobId: 'job-1' }]);
});

test('pending review is the status that the specification writes as two words', () => {
  for (const status of ['pending review', 'Pending-Review']) {
    expect(snapshot({ status })).toMatchObject({ status: 'pending_review' });
  }
  expect(snapshot({ status: 'a review of Testperson is pending' })).toMatchObject({ status: 'other' });
});

const sentence = 'The report of Testperson cannot be read';
test.each([...['low_quality', 'next_year', 'too-many.pages'].map((word) => [word, word]), [sentence, 'other']])(
  'a failure reason is passed on, and a sentence, which may quote the report, becomes other: %s',
  (failure_reason, failureReason) => {
    expect(snapshot({ status: 'failed', failure_reason })).toMatchObject({ failureReason });
  },
);

test('every job that can be read has a snapshot, which survives JSON', () => {
  const result = fc.record({ loinc_match_status: fc.anything(), interpretation: fc.anything(), value: fc.anything() });
  const results = fc.array(fc.oneof(result, fc.anything()));
  const job = fc.record({
    status: fc.anything(),
    failure_reason: fc.anything(),
    data: fc.oneof(fc.anything(), fc.record({ metadata: fc.anything(), results })),
  });
  fc.assert(
    fc.property(job, (sent) => {
      const projected = snapshot(sent);
      expect(JSON.parse(JSON.stringify(projected))).toEqual(projected);
    }),
  );
});

test('statuses, failure reasons and interpretations are read in any letter case', () => {
  const data = { results: [{ interpretation: 'CRITICAL', loinc_match_status: 'Auto_Match' }] };
  expect(snapshot({ status: 'COMPLETED', failure_reason: 'Low_Quality', data })).toMatchObject({
    status: 'completed',
    failureReason: 'low_quality',
    counts: { byInterpretation: { critical: 1 }, byLoincMatchStatus: { auto_match: 1 } },
  });
});
