import { expect, test } from 'vitest';
import { uploadOutcomeOf } from '../../../protocol/report/submission-messages.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

test('a report policy gives the answer less time than the whole upload', () => {
  const faults = ['creationTimeout must be shorter than uploadTimeout'];
  const same = { uploadTimeout: '30s', creationTimeout: '30s' } as const;
  expect(() => resolvePolicy('report', same)).toThrow(expect.objectContaining({ faults }));
});

test.each<[string, (string | undefined)[], number?]>([
  ['nothing_created', ['ServiceUnreachable', 'TooManyRequests', 'AttemptOutdated', 'UploadNotStarted']],
  ['nothing_created', ['ReportFileUnavailable', 'StateTooNew']],
  ['unknown', ['AnswerLost', 'ServiceUnavailable', 'Error', undefined]],
  ['created_unreadably', ['AnswerUnreadable']],
  ['created_unreadably', ['AnswerUnreadable'], 200],
  ['nothing_created', ['AnswerUnreadable'], 302],
  ['nothing_created', ['AnswerUnreadable'], 404],
])('a failed upload comes to %s by %j, status %s', (outcome, types, status) => {
  for (const type of types) expect(uploadOutcomeOf({ type, details: [{ status }] }), type).toBe(outcome);
});
