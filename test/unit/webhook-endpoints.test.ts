import { expect, test } from 'vitest';
import { manageWebhooksId } from '../../protocol/ids.js';
import { manageWebhooks } from '../../workflows/webhook-endpoints.js';
import { Life } from './life.js';

const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };

/** The run that a backend in another language starts for a command. */
async function run(input: object, workflowId = manageWebhooksId(place), answers = {}): Promise<Life> {
  return new Life({ workflow: manageWebhooks, type: 'manageWebhooks', workflowId, now: 0 }, answers).start(input);
}

const invalid = (field: string) => ({ kind: 'failed', type: 'InvalidCommand', details: { fields: [{ field }] } });

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
  const { run: ended, calls } = await run({ ...place, command });
  expect(ended.end).toMatchObject(invalid(field));
  expect(calls).toEqual([]);
});

test('a command is not valid under an ID that the team’s other commands do not wait for, or for a team whose id could identify a person', async () => {
  const command = { do: 'list' };
  expect((await run({ ...place, command }, 'manage-webhooks/another')).run.end).toMatchObject(invalid('workflowId'));
  const { end } = (await run({ ...place, teamId: 'somebody@example.com', command })).run;
  expect(end).toMatchObject(invalid('teamId'));
  expect(end).not.toMatchObject({ message: expect.stringContaining('somebody') as string });
});

test.each(['ManagementKeyMissing', 'EncryptionRequired'])(
  'a command that fails with %s says so, once',
  async (type) => {
    const listWebhooks = { failure: { type } };
    const { run: ended, calls } = await run({ ...place, command: { do: 'list' } }, undefined, { listWebhooks });
    expect(ended.end).toMatchObject({ kind: 'failed', type });
    expect(calls).toHaveLength(1);
  },
);
