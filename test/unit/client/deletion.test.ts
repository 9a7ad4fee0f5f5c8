import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ApplicationFailure,
  Client,
  Connection,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { projectFolder } from '../../rig/processes.js';
import * as client from '../../../client/index.js';
import { DeletionInvalid, LabOperations, ServiceNotConfigured, type DeleteUserInput } from '../../../client/index.js';
import { toClientError } from '../../../client/errors.js';
import { userErrorMap } from '../../../client/users/errors.js';

/** Nothing listens there: whatever is refused here is refused before anything is sent. */
const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
const { users } = new LabOperations(temporal);

async function faultsOf(input: object): Promise<string[]> {
  const refusal: unknown = await users.requestDeletion(input as DeleteUserInput).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(DeletionInvalid);
  return (refusal as DeletionInvalid).fields.map(({ field }) => field);
}

describe('a deletion is refused before anything is started', () => {
  test.each([undefined, null, 7, '', '..', 'a/b', "x' OR '1", 'x'.repeat(129)])(
    'a deletion is refused before anything is started with the user id %j',
    async (userId) => {
      expect(await faultsOf({ userId })).toEqual(['userId']);
      const lookedUp = users.deletion(userId as string);
      await expect(lookedUp).rejects.toBeInstanceOf(DeletionInvalid);
    },
  );

  test('a deletion is refused before anything is started with all its faults named at once', async () => {
    const policy = { onRunningWork: 'shrug', reminderBefore: 'soon', grace: '9d' };
    const faults = await faultsOf({ userId: 7, clientUserId: 8, policy });
    expect(faults).toEqual(['userId', 'clientUserId', 'policy', 'policy', 'policy']);
  });

  test('a deletion is refused if the request has fields that nobody reads, such as a part of the policy', async () => {
    expect(await faultsOf({ userId: 'user-1', onRunningWork: 'cancel' })).toEqual(['onRunningWork']);
  });
});

test('users are read from the service: without it every call says what is missing', async () => {
  const calls = [
    () => users.get('user-1'),
    () => users.resolve('client-1'),
    () => users.createOrGet({ client_user_id: 'client-1' }),
    () => users.update('user-1', {}),
    () => users.demographics('user-1'),
    () => users.portalLink('user-1', { context: 'launch' }),
    async () => users.list().next(),
  ];
  for (const call of calls) await expect(call).rejects.toBeInstanceOf(ServiceNotConfigured);
});

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
  expect(error).toBeInstanceOf(client.DeletionNotFound);
});

test('running work is named by the error', () => {
  const workflows = [{ workflowId: 'kit-order/1', name: 'kitOrder' }];
  const failure = ApplicationFailure.nonRetryable('no', 'UserHasRunningWork', { fields: [], workflows });
  expect(toClientError(new WorkflowUpdateFailedError('failed', failure), userErrorMap)).toMatchObject({ workflows });
});
