import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { TimeoutFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { toClientError } from '../../../client/errors.js';
import * as errors from '../../../client/rejected-events/errors.js';
import * as client from '../../../client/index.js';
import { projectFolder } from '../../rig/processes.js';

const failed = (cause: Error) => new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE');

test.each([
  ['InvalidCommand', 'RejectedEventsInvalid'],
  ['RejectedEventNotFound', 'RejectedEventNotFound'],
  ['RejectedEventSettled', 'RejectedEventSettled'],
  ['StoreNotConfigured', 'StoreNotConfigured'],
  ['StoreUnavailable', 'StoreUnavailable'],
] as const)('%s is %s, documented, and can be imported', async (type, word) => {
  const failure = ApplicationFailure.nonRetryable(`a ${type}`, type, { fields: [] });
  const error = toClientError(failed(failure), errors.rejectedEventErrorMap);
  expect(error).toBeInstanceOf((client as Record<string, unknown>)[word]);
  expect(error).toMatchObject({ name: word, message: `a ${type}` });
  const page = await readFile(join(projectFolder, 'docs/messages.md'), 'utf8');
  expect(page.split('## Rejected events\n')[1]).toContain(`\`${type}\``);
});

test('a command that no worker accepted in time is interrupted', () => {
  const cause = new TimeoutFailure('too late', undefined, 'START_TO_CLOSE');
  expect(toClientError(failed(cause), errors.rejectedEventErrorMap)).toBeInstanceOf(client.RejectedEventsInterrupted);
});
