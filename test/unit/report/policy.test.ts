import { expect, test } from 'vitest';
import { uploadOutcomeOf } from '../../../protocol/report/submission-messages.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

test('a report policy gives the answer less time than the whole upload', () => {
  const faults = ['creationTimeout must be shorter than uploadTimeout'];
  const same = { uploadTimeout: '30s', creationTimeout: '30s' } as const;
  expect(() => resolvePolicy('report', same)).toThrow(expect.objectContaining({ faults }));
});

test.each([
  ['nothing_created', ['ServiceUnreachable', 'TooManyRequests', 'AttemptOutdated', 'UploadNotStarted']],
  ['nothing_created', ['ReportFileUnavailable', 'StateTooNew']],
  ['unknown', ['AnswerLost', 'ServiceUnavailable', 'Error', undefined]],
  ['created_unreadably', ['AnswerUnreadable']],
])('a failed upload comes to %s by %j', (outcome, types) => {
  for (const type of types) expect(uploadOutcomeOf(type), type).toBe(outcome);
});
