import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { PolicyInvalid } from '../../../workflows/policy-settings.js';
import { defaultReportPolicy, resolveReportPolicy } from '../../../workflows/report/policy.js';
import { uploadOutcomeOf } from '../../../workflows/report/upload-outcome.js';

function faultsOf(policy: object): string[] {
  try {
    resolveReportPolicy(policy);
  } catch (error) {
    if (error instanceof PolicyInvalid) return error.faults;
    throw error;
  }
  return [];
}

describe('a report policy', () => {
  test('has a default for everything', () => {
    expect(Object.keys(resolveReportPolicy())).toEqual(Object.keys(defaultReportPolicy));
    expect(resolveReportPolicy()).toMatchObject({ parsingDeadline: ms('1h'), reviewDeadline: ms('4d') });
  });

  test('takes durations as text and as milliseconds', () => {
    expect(resolveReportPolicy({ firstPoll: '5s', lostAnswerWait: 1_500 })).toMatchObject({
      firstPoll: 5_000,
      lostAnswerWait: 1_500,
    });
  });

  test('names every fault at once', () => {
    const faults = faultsOf({ uploadTimeout: '1s', creationTimeout: 'soon', firstPoll: 0, patience: '1d' });
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'uploadTimeout',
      'creationTimeout',
      'firstPoll',
      'patience',
    ]);
  });

  test('gives the answer less time than the whole upload', () => {
    expect(faultsOf({ uploadTimeout: '30s', creationTimeout: '30s' })).toEqual([
      'creationTimeout must be shorter than uploadTimeout',
    ]);
  });
});

describe('a failed upload', () => {
  test.each(['ServiceUnreachable', 'TooManyRequests', 'AttemptOutdated', 'ReportFileUnavailable'])(
    'by %s made nothing',
    (type) => {
      expect(uploadOutcomeOf(type)).toBe('nothing_created');
    },
  );

  test.each(['AnswerLost', 'ServiceUnavailable', 'Error', undefined])('by %s may have made a job', (type) => {
    expect(uploadOutcomeOf(type)).toBe('unknown');
  });

  test('with an answer that cannot be read made a job that nobody can name', () => {
    expect(uploadOutcomeOf('AnswerUnreadable')).toBe('created_unreadably');
  });
});
