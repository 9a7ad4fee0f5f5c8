import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, TerminatedFailure, RetryState } from '@temporalio/common';
import { expect, test } from 'vitest';
import { errors } from '../../../client/index.js';
import { answerToUndo } from '../../../client/users/deletion-handle.js';

const failed = (cause: Error) =>
  new WorkflowFailedError('The workflow failed', cause, RetryState.NON_RETRYABLE_FAILURE);

test.each(['Unauthorized', 'FeatureNotEnabled', 'PolicyInvalid', 'DeletionRefused', 'UserUnknown'])(
  'a deletion that failed with %s leaves nothing to undo, also once the reason is corrected',
  (type) => {
    const answer = answerToUndo(failed(ApplicationFailure.nonRetryable('invented', type)));
    expect(answer).toBeInstanceOf(errors.NothingToUndo);
  },
);

test('another end of a deletion says nothing about what there is to undo, and neither does a call that got no answer', () => {
  const unanswered = new errors.TimedOut('invented');
  expect(answerToUndo(unanswered)).toBe(unanswered);
  const terminated = failed(new TerminatedFailure('invented'));
  expect(answerToUndo(terminated)).toBe(terminated);
});
