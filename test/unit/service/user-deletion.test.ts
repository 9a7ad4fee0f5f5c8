import { describe, expect, test } from 'vitest';
import { NotFound, RequestInvalid, ServiceRefused } from '../../../service/errors.js';
import { isScheduledForDeletion, type DeletedUser } from '../../../service/users.js';
import { answering, rejection, serviceAt, type Answer } from './recording-server.js';

async function users(answer: Answer) {
  const { baseUrl, requests } = await answering(() => answer);
  return { users: serviceAt(baseUrl).users, requests };
}

const success = { body: { success: true } };

describe('a deletion', () => {
  test('is a DELETE of the user', async () => {
    const service = await users(success);
    await service.users.delete('user-1');
    expect(service.requests).toMatchObject([{ method: 'DELETE', url: '/v2/user/user-1', body: undefined }]);
  });

  test.each([{}, { success: null }, { success: true, more: 1 }])('has happened if it is answered %j', async (body) => {
    const service = await users({ body });
    await expect(service.users.delete('user-1')).resolves.toBeUndefined();
  });

  test.each([{ detail: 'Something went wrong' }, { error: 'Bad Request', message: 'no' }])(
    'may have happened or not if its answer shows the error %j with status 200, as an undo',
    async (body) => {
      const service = await users({ body });
      const unknown = { name: 'AnswerUnreadable', status: 200 };
      expect(await rejection(service.users.delete('user-1'))).toMatchObject(unknown);
      expect(await rejection(service.users.undoDelete({ userId: 'user-1' }))).toMatchObject(unknown);
    },
  );

  test('is refused by an answer that denies success, as an undo is', async () => {
    const service = await users({ body: { success: false } });
    const refused = { name: 'ServiceRefused', status: 200 };
    expect(await rejection(service.users.delete('user-1'))).toMatchObject(refused);
    expect(await rejection(service.users.undoDelete({ userId: 'user-1' }))).toMatchObject(refused);
  });
});

describe('an undo', () => {
  // proves 233
  test.each<[DeletedUser, string]>([
    [{ userId: 'user-1' }, '/v2/user/undo_delete?user_id=user-1'],
    [{ clientUserId: 'client 1/ä' }, '/v2/user/undo_delete?client_user_id=client+1%2F%C3%A4'],
  ])('an undo with %j names the user in the query', async (user, url) => {
    const service = await users(success);
    await service.users.undoDelete(user);
    expect(service.requests).toMatchObject([{ method: 'POST', url, body: undefined }]);
  });

  test.each([{}, { userId: 'user-1', clientUserId: 'client-1' }, { userId: null }])(
    'an undo with %j is not sent: exactly one of the two must name the user',
    async (user) => {
      const service = await users(success);
      expect(await rejection(service.users.undoDelete(user as unknown as DeletedUser))).toBeInstanceOf(RequestInvalid);
      expect(service.requests).toEqual([]);
    },
  );
});

describe('a change of a user', () => {
  test('sends the given fields, and accepts an answer without a body', async () => {
    const service = await users({ status: 204, body: '' });
    const changes = [{ fallback_time_zone: 'Europe/Paris' }, { client_user_id: null }];
    for (const body of changes) await service.users.update('user-1', body);
    const sent = { method: 'PATCH', url: '/v2/user/user-1' };
    expect(service.requests).toMatchObject(changes.map((body) => ({ ...sent, body })));
  });
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
