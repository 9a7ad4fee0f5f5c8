import { describe, expect, test } from 'vitest';
import { PolicyInvalid } from '../../../protocol/policy/resolution.js';
import { uploadOutcomeOf } from '../../../protocol/report/submission-messages.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

function faultsOf(policy: object): string[] {
  try {
    resolvePolicy('report', policy);
  } catch (error) {
    if (error instanceof PolicyInvalid) return error.faults;
    throw error;
  }
  return [];
}

describe('a report policy', () => {
  test('gives the answer less time than the whole upload', () => {
    expect(faultsOf({ uploadTimeout: '30s', creationTimeout: '30s' })).toEqual([
      'creationTimeout must be shorter than uploadTimeout',
    ]);
  });
});

describe('a failed upload', () => {
  test.each([
    'ServiceUnreachable',
    'TooManyRequests',
    'AttemptOutdated',
    'UploadNotStarted',
    'ReportFileUnavailable',
    'StateTooNew',
  ])('a failed upload by %s made nothing', (type) => {
    expect(uploadOutcomeOf(type)).toBe('nothing_created');
  });

  test.each(['AnswerLost', 'ServiceUnavailable', 'Error', undefined])(
    'a failed upload by %s may have made a job',
    (type) => {
      expect(uploadOutcomeOf(type)).toBe('unknown');
    },
  );

  test('a failed upload with an unreadable answer made a job that nobody can name', () => {
    expect(uploadOutcomeOf('AnswerUnreadable')).toBe('created_unreadably');
  });
});
