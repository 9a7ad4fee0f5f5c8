import { describe, expect, test } from 'vitest';
import { readReportSnapshot } from '../../../workflows/report/snapshot-reader.js';
import { counts, job, jobId, userId } from './cases.js';

describe('a snapshot that came by signal', () => {
  test('is taken as it is', () => {
    const whole = job('failed', {
      failureReason: 'low_quality',
      needsHumanReview: true,
      isReviewed: false,
      userId,
      counts,
    });
    expect(readReportSnapshot(whole)).toEqual(whole);
  });

  test('leaves behind what is not known and what is of another type', () => {
    const odd = { ...job('started'), data: { name: 'Testperson' }, userId: 7, isReviewed: 'yes', counts: [] };
    expect(readReportSnapshot(odd)).toEqual(job('started'));
  });

  test('counts nothing that is no count', () => {
    const odd = { ...counts, results: -1, aboveRange: 1.5, byInterpretation: { normal: '2' } };
    expect(readReportSnapshot({ jobId, counts: odd })?.counts).toEqual({
      ...counts,
      results: 0,
      aboveRange: 0,
      byInterpretation: { normal: 0, abnormal: 0, critical: 0, unknown: 0 },
    });
  });

  test.each([undefined, null, 'text', [], {}, { jobId: 1 }])('is none: %j', (value) => {
    expect(readReportSnapshot(value)).toBeUndefined();
  });
});
