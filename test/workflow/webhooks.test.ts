import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { EncryptionRequired, ManagementKeyMissing } from '../../client/index.js';
import { manageWebhooksId } from '../../protocol/ids.js';
import { manageWebhooksName } from '../../protocol/webhook-endpoints.js';
import { taskQueue } from '../rig/environments.js';
import { setStage } from './story.js';

/** Its worker has no management key, and its payloads are not encrypted. */
const stage = setStage();
const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };

/** The failure of a run that a backend in another language started. */
async function failureOf(input: object, workflowId = manageWebhooksId(place)): Promise<ApplicationFailure> {
  const { workflow } = stage.temporal;
  const failed: unknown = await workflow
    .execute(manageWebhooksName, { workflowId, taskQueue, args: [input] })
    .catch((error: unknown) => error);
  if (failed instanceof WorkflowFailedError && failed.cause instanceof ApplicationFailure) return failed.cause;
  throw new Error(`It did not fail as expected: ${String(failed)}`);
}

test('without a management key a command says so, once and at once', async () => {
  await expect(stage.product.webhooks.list(place)).rejects.toThrow(ManagementKeyMissing);
});

test('without encryption a rotation is refused: by the client, and by the worker for other clients', async () => {
  await expect(stage.product.webhooks.rotate(place, 'ep_1')).rejects.toThrow(EncryptionRequired);
  const command = { do: 'rotate', webhookId: 'ep_1' };
  expect(await failureOf({ ...place, command })).toMatchObject({ type: 'EncryptionRequired' });
});

describe('a command is not valid', () => {
  test.each([
    [undefined, 'command.do'],
    [{ do: 'invented' }, 'command.do'],
    [{ do: 'register' }, 'command.url'],
    [{ do: 'register', url: 'https://labs.example.com', eventTypes: 'all' }, 'command.eventTypes'],
    [{ do: 'update', webhookId: 'ep_1' }, 'command.change'],
    [{ do: 'update', webhookId: 'ep_1', change: { filter_types: [] } }, 'command.change'],
    [{ do: 'update', webhookId: 'ep_1', change: { url: 7 } }, 'command.change'],
    [{ do: 'setHeaders', webhookId: 'ep_1', headers: 'all' }, 'command.headers'],
    [{ do: 'rotate', webhookId: 'ep_1', secret: 'whsec_AA==' }, 'command.secret'],
    [{ do: 'rotate' }, 'webhookId'],
    [{ do: 'delete', webhookId: '../team' }, 'webhookId'],
  ])('a command is not valid if it is %j', async (command, field) => {
    const failure = await failureOf({ ...place, command });
    expect(failure).toMatchObject({ type: 'InvalidCommand', details: [{ fields: [{ field }] }] });
  });

  test('a command is not valid under an ID that commands for the same team would not wait for', async () => {
    const failure = await failureOf({ ...place, command: { do: 'list' } }, 'manage-webhooks/another');
    expect(failure).toMatchObject({ type: 'InvalidCommand', details: [{ fields: [{ field: 'workflowId' }] }] });
  });

  test('a command is not valid for a place that could identify a person', async () => {
    const personal = { ...place, teamId: 'somebody@example.com' };
    const failure = await failureOf({ ...personal, command: { do: 'list' } });
    expect(failure).toMatchObject({ type: 'InvalidCommand', details: [{ fields: [{ field: 'teamId' }] }] });
    expect(failure.message).not.toContain('somebody');
  });
});
