import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, TerminatedFailure, RetryState } from '@temporalio/common';
import { expect, test } from 'vitest';
import { projectFolder } from '../../rig/processes.js';
import { errors } from '../../../client/index.js';
import { toClientError } from '../../../client/errors.js';
import { answerToUndo } from '../../../client/user/deletion-handle.js';
import { userErrorMap } from '../../../client/user/errors.js';

test('every failure type that is documented for a deletion has a client error', async () => {
  const page = await readFile(join(projectFolder, 'docs/messages.md'), 'utf8');
  const [, section = ''] = /\n## User deletion\n(.+?)\n## /s.exec(page) ?? [];
  const named = [...new Set(section.match(/`[A-Z][A-Za-z]+`/g) ?? [])].map((type) => type.slice(1, -1));
  expect(named.length).toBeGreaterThan(10);
  for (const type of named) {
    const rejection = new WorkflowUpdateFailedError('failed', ApplicationFailure.nonRetryable('a failure', type));
    expect(toClientError(rejection, userErrorMap), type).not.toBe(rejection);
  }
});

test('an unknown deletion is not found', () => {
  const error = toClientError(new WorkflowNotFoundError('not found', 'delete-user/user-1', undefined), userErrorMap);
  expect(error).toBeInstanceOf(errors.DeletionNotFound);
});

test('running work is named by the error', () => {
  const workflows = [{ workflowId: 'kit-order/1', name: 'kitOrder' }];
  const failure = ApplicationFailure.nonRetryable('no', 'UserHasRunningWork', { fields: [], workflows });
  expect(toClientError(new WorkflowUpdateFailedError('failed', failure), userErrorMap)).toMatchObject({ workflows });
});

const failed = (cause: Error) => new WorkflowFailedError('It failed', cause, RetryState.NON_RETRYABLE_FAILURE);

test('a deletion that failed leaves nothing to undo, also once the reason is corrected', () => {
  for (const type of ['Unauthorized', 'FeatureNotEnabled', 'PolicyInvalid', 'DeletionRefused', 'UserUnknown']) {
    const answer = answerToUndo(failed(ApplicationFailure.nonRetryable('invented', type)));
    expect(answer, type).toBeInstanceOf(errors.NothingToUndo);
  }
});

test('another end of a deletion says nothing about what there is to undo, and neither does a call that got no answer', () => {
  const unanswered = new errors.TimedOut('invented');
  expect(answerToUndo(unanswered)).toBe(unanswered);
  const terminated = failed(new TerminatedFailure('invented'));
  expect(answerToUndo(terminated)).toBe(terminated);
});
