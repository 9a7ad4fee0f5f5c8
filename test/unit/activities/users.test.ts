import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { userActivities } from '../../../activities/users.js';
import { answering, rejection, serviceAt, type Answer, type RecordedRequest } from '../service/recording-server.js';

/** Activities with a service that answers as told, by method and path without the query. */
async function activitiesWith(answers: Record<string, Answer>) {
  const keyOf = ({ method, url }: RecordedRequest) => `${method} ${url?.split('?')[0]}`;
  const { baseUrl, requests } = await answering((request) => answers[keyOf(request)] ?? { status: 404, body: {} });
  return { activities: userActivities({ service: serviceAt(baseUrl) }), asked: () => requests.map(keyOf) };
}

const notFound = (detail: string): Answer => ({ status: 404, body: { detail } });
const scheduled = notFound('You have scheduled this user for deletion.');
const user: Answer = { body: { user_id: 'user-1' } };

describe('a user is read', () => {
  test('with the slugs of the connected sources, in either form and once each', async () => {
    const connected_sources = [
      { source: { slug: 'invented-watch', name: 'Invented Watch' } },
      { provider: { slug: 'invented-watch' } },
      { provider: { provider: 'invented_ring', type: 'ring' } },
      { source: { name: 'nameless' } },
      { source: null },
    ];
    const { activities } = await activitiesWith({
      'GET /v2/user/user-1': { body: { user_id: 'user-1', connected_sources } },
    });
    expect(await activities.readUser('user-1')).toEqual({
      standing: 'present',
      connections: ['invented-watch', 'invented_ring'],
    });
  });

  test.each([
    ['scheduled', 'Scheduled to be deleted soon'],
    ['unknown', 'Not found'],
  ])('as %s where the service says %s', async (standing, detail) => {
    const { activities } = await activitiesWith({ 'GET /v2/user/user-1': notFound(detail) });
    expect(await activities.readUser('user-1')).toEqual({ standing });
  });

  test('and nothing is concluded from any other refusal', async () => {
    const { activities } = await activitiesWith({
      'GET /v2/user/user-1': { status: 422, body: { detail: 'no UUID' } },
    });
    const failure = await rejection(activities.readUser('user-1'));
    expect(failure).toMatchObject({ type: 'DeletionRefused', nonRetryable: true });
  });
});

describe('a deletion is', () => {
  test.each([
    ['accepted', { body: { success: true } }],
    ['scheduled', notFound('The user has been scheduled for deletion as per your previous request')],
    ['unknown', notFound('The user does not or no longer exists in this team')],
    ['unknown', { status: 404, body: '' }],
  ] satisfies [string, Answer][])('%s', async (expected, answer) => {
    const { activities } = await activitiesWith({ 'DELETE /v2/user/user-1': answer });
    expect(await activities.scheduleDeletion('user-1')).toBe(expected);
  });
});

describe('an undo', () => {
  const undo = 'POST /v2/user/undo_delete';
  const read = 'GET /v2/user/user-1';
  const deleted = { userId: 'user-1', clientUserId: 'client-1' };
  const resolve = 'GET /v2/user/resolve/client-1';

  test('sends nothing where the user is there already', async () => {
    const { activities, asked } = await activitiesWith({ [read]: user });
    await activities.undoDeletion(deleted);
    expect(asked()).toEqual([read]);
  });

  test('sends nothing where a new user has the client_user_id', async () => {
    const { activities, asked } = await activitiesWith({
      [read]: scheduled,
      [resolve]: { body: { user_id: 'user-2' } },
    });
    expect(await rejection(activities.undoDeletion(deleted))).toMatchObject({
      type: 'UndoImpossible',
      nonRetryable: true,
    });
    expect(asked()).toEqual([read, resolve]);
  });

  test.each([{ body: { user_id: 'user-1' } }, scheduled])(
    'is sent where the client_user_id is nobody else’s',
    async (owner) => {
      const answers = { [read]: scheduled, [resolve]: owner, [undo]: { body: { success: true } } };
      const { activities, asked } = await activitiesWith(answers);
      await activities.undoDeletion(deleted);
      expect(asked()).toEqual([read, resolve, undo]);
    },
  );

  test('is sent where the client_user_id cannot be looked up', async () => {
    const { activities, asked } = await activitiesWith({ [read]: scheduled, [undo]: { body: { success: true } } });
    await activities.undoDeletion({ userId: 'user-1', clientUserId: '..' });
    expect(asked()).toEqual([read, undo]);
  });

  test.each([
    ['UndoImpossible', { status: 409, body: { detail: 'Conflict' } }],
    ['UndoImpossible', { status: 400, body: { detail: { error_message: 'Client user id already exists.' } } }],
    ['UndoImpossible', { status: 422, body: { detail: 'client_user_id is taken' } }],
    ['UndoRefused', { status: 404, body: { detail: 'Not found' } }],
    ['UndoRefused', { status: 410, body: '' }],
    ['Unauthorized', { status: 401, body: { detail: 'Invalid API key' } }],
    ['ServiceUnavailable', { status: 503, body: '' }],
  ] satisfies [string, Answer][])('is %s when the service answers %j', async (type, answer) => {
    const { activities } = await activitiesWith({ [read]: scheduled, [undo]: answer });
    const failure = await rejection(activities.undoDeletion({ userId: 'user-1' }));
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type, nonRetryable: type !== 'ServiceUnavailable' });
  });

  test('that fails does not repeat the client_user_id', async () => {
    const answers = { [read]: scheduled, [resolve]: { body: { user_id: 'user-2' } } };
    const { activities } = await activitiesWith(answers);
    const failure = (await rejection(activities.undoDeletion(deleted))) as ApplicationFailure;
    expect(JSON.stringify([failure.message, failure.details])).not.toContain('client-1');
  });
});
