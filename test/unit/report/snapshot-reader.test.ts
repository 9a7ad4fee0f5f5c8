import { describe, expect, test } from 'vitest';
import { readReportSnapshot } from '../../../workflows/report/reports.js';
import { counts, snapshot, jobId, userId } from './jobs.js';

describe('a snapshot from a signal', () => {
  test('is taken unchanged', () => {
    const whole = snapshot('failed', {
      failureReason: 'low_quality',
      needsHumanReview: true,
      isReviewed: false,
      userId,
      counts,
    });
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
