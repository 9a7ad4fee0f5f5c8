import { expect, test } from 'vitest';
import { deleteUser } from '../../../workflows/deletion/workflow.js';
import { Life } from '../life.js';
import { resolvePolicy } from '../../../protocol/policies.js';

const userId = '00000000-0000-4000-8000-000000000001';

/** When a deletion's notifications are tried, in minutes after the start. */
async function triesAt(details: object): Promise<number[]> {
  const start = Date.parse('2026-03-01T10:00:00.000Z');
  const tries: number[] = [];
  const notify = (now: number) => {
    tries.push((now - start) / 60_000);
    return { failure: { type: 'NotificationRefused', isFinal: false, details } };
  };
  const life = new Life(
    { workflow: deleteUser, type: 'deleteUser', workflowId: `delete-user/${userId}`, now: start },
    {
      findRunningWork: { work: [], notifies: true },
      ...{ readUser: { standing: 'present', connections: [] }, scheduleDeletion: 'accepted', notify },
    },
  );
  const input = { userId, policy: resolvePolicy('deletion') };
  await life.run.start(input, [], { name: 'request', argument: input });
  await life.settle();
  await life.until(2);
  return tries;
}

test.each([
  ['ten minutes', {}, [0, 10, 20, 30]],
  ['ten minutes if a shorter pause was asked for', { retryAfterMs: 60_000 }, [0, 10, 20, 30]],
  ['as long as the receiver asks for', { retryAfterMs: 2_400_000 }, [0, 40, 80, 120]],
])('a batch that was not delivered is tried again after %s', async (_how, details, tries) => {
  expect((await triesAt({ fields: [], ...details })).slice(0, 4)).toEqual(tries);
});
