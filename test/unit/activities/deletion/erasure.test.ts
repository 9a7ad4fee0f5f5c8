import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { erasureActivities } from '../../../../activities/deletion/erasure.js';
import type { UserToDelete } from '../../../../store/deleted-users.js';
import { answering, rejection, serviceAt, type Answer } from '../../service/recording-server.js';

const userId = '00000000-0000-4000-8000-000000000001';
const clientUserId = 'invented-1';
const scheduled: Answer = { status: 404, body: { detail: 'You have scheduled this user for deletion.' } };

/** Erases with a service that answers the read by reference so; answers with what the store was asked to delete by. */
async function erasing(owner: Answer, attempt = 1, user = scheduled): Promise<unknown> {
  const { baseUrl } = await answering(({ url }) => (url?.includes('/resolve/') ? owner : user));
  let erased: unknown;
  const store = {
    deleteUserData: async (id: string, ids: Omit<UserToDelete, 'userId'>) => void (erased = { userId: id, ...ids }),
  };
  const activities = erasureActivities({
    service: serviceAt(baseUrl),
    temporal: { workflow: { async *list() {} } } as never,
    workerStore: { store: { get: async () => store } } as never,
  });
  await new MockActivityEnvironment({ attempt }).run(() => activities.eraseHealthData({ userId, clientUserId }));
  return erased;
}

const byReference = { userId, clientUserId, workIds: [] };

test.each([
  ['nobody has it', { status: 404, body: { detail: 'The user no longer exists in this team' } }, byReference],
  ['its user is scheduled for deletion', scheduled, byReference],
  ['it is still the user’s', { body: { user_id: userId.toUpperCase() } }, byReference],
  ['it is another user’s by now', { body: { user_id: userId.replace('1', '2') } }, { userId, workIds: [] }],
] satisfies [string, Answer, object][])(
  'a deleted user is looked for by the reference only if that is not another user’s: %s',
  async (_who, owner, erased) => {
    expect(await erasing(owner)).toEqual(erased);
  },
);

test.each([
  ['404, perhaps a proxy’s,', { status: 404, body: '<html>404 page not found</html>' }],
  ['405 of a service without this read', { status: 405, body: { detail: 'Method Not Allowed' } }],
  [
    '422 of a service that takes it for another path',
    { status: 422, body: { detail: [{ loc: ['path', 'user_id'] }] } },
  ],
] satisfies [string, Answer][])(
  'the reference of a deleted user counts after a %s only if that is repeated',
  async (_what, answer) => {
    expect(await rejection(erasing(answer))).toMatchObject({ type: 'AnswerUnreadable', nonRetryable: false });
    expect(await erasing(answer, 2)).toEqual(byReference);
  },
);

test.each([
  [503, 'ServiceUnavailable'],
  [401, 'Unauthorized'],
  [403, 'Unauthorized'],
  [429, 'TooManyRequests'],
])('nothing is erased while the service does not say whose the reference is: %s', async (status, type) => {
  expect(await rejection(erasing({ status, body: '' }, 5))).toMatchObject({ type });
});

test('nothing is erased of a user who is there: somebody has restored them', async () => {
  const user: Answer = { body: { user_id: userId } };
  expect(await erasing(user, 1, user)).toBeUndefined();
});
