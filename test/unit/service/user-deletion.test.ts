import { describe, expect, test } from 'vitest';
import { NotFound, ServiceRefused } from '../../../service/errors.js';
import { isScheduledForDeletion } from '../../../service/users.js';
import { rejection, serviceWith } from './recording-server.js';

test.each([{}, { success: null }, { success: true, more: 1 }])(
  'a deletion has happened if it is answered %j',
  async (body) => {
    const { users } = await serviceWith({ body });
    await expect(users.delete('user-1')).resolves.toBeUndefined();
  },
);

test.each([
  [{ detail: 'Something went wrong' }, 'AnswerUnreadable'],
  [{ error: 'Bad Request', message: 'no' }, 'AnswerUnreadable'],
  [{ success: false }, 'ServiceRefused'],
])(
  'a deletion, or an undo, that is answered %j with status 200 may have happened unless success is denied: %s',
  async (body, name) => {
    const { users } = await serviceWith({ body });
    for (const call of [users.delete('user-1'), users.undoDelete({ userId: 'user-1' })])
      expect(await rejection(call)).toMatchObject({ name, status: 200 });
  },
);

test('a change of a user accepts an answer without a body', async () => {
  const { users } = await serviceWith({ status: 204, body: '' });
  await expect(users.update('user-1', { client_user_id: null })).resolves.toBeUndefined();
});

describe('a 404', () => {
  const call = { method: 'DELETE', path: '/v2/user/{user_id}', status: 404 };
  const said = (sentence: string) => new NotFound(call, { sentence, fields: [] });

  test.each([
    'You have scheduled this user for deletion.',
    'The user has been scheduled for deletion as per your previous request',
    'Deletion of this user is already SCHEDULED',
    'User is scheduled to be deleted',
  ])('says that the user is scheduled for deletion: %s', (reason) => {
    expect(isScheduledForDeletion(said(reason))).toBe(true);
  });

  test('says so also in the list of faults', () => {
    const fields = [{ field: 'user_id', message: 'scheduled for deletion' }];
    expect(isScheduledForDeletion(new NotFound(call, { fields }))).toBe(true);
  });

  test.each(['Not found', 'The user does not or no longer exists in this team', 'deleted', 'scheduled', ''])(
    'says nothing of the kind: %s',
    (reason) => expect(isScheduledForDeletion(said(reason))).toBe(false),
  );

  test('is the only status that does: a refusal with another status says nothing of the kind', () => {
    const refusal = { sentence: 'scheduled for deletion', fields: [] };
    expect(isScheduledForDeletion(new ServiceRefused({ ...call, status: 400 }, refusal))).toBe(false);
    expect(isScheduledForDeletion(new Error('scheduled for deletion'))).toBe(false);
  });
});
