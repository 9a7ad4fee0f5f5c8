import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { userActivities, type UndoDeletion } from '../../../../activities/deletion/users.js';
import { answering, rejection, serviceAt, type Answer, type RecordedRequest } from '../../service/recording-server.js';

/** Activities with a service that answers as the test says, by method and path without the query. */
async function activitiesWith(answers: Record<string, Answer>) {
  const keyOf = ({ method, url }: RecordedRequest) => `${method} ${url?.split('?')[0]}`;
  const { baseUrl, requests } = await answering((request) => answers[keyOf(request)] ?? { status: 404, body: {} });
  return { activities: activitiesAt(baseUrl), asked: () => requests.map(keyOf) };
}

/** By the server's clock, which may be far from that of this process. */
const scheduledAt = Date.parse('2031-05-04T03:02:01Z');

function activitiesAt(baseUrl: string) {
  const activities = userActivities({ service: serviceAt(baseUrl) });
  return {
    readUser: (userId: string) => activities.readUser(userId),
    scheduleDeletion: (userId: string, attempt = 1) =>
      new MockActivityEnvironment({ attempt }).run(() => activities.scheduleDeletion(userId)),
    undoDeletion: (deleted: UndoDeletion, attempt = 1, dueAt = scheduledAt) => {
      const times = { scheduledTimestampMs: scheduledAt, currentAttemptScheduledTimestampMs: dueAt };
      return new MockActivityEnvironment({ attempt, ...times }).run(() => activities.undoDeletion(deleted));
    },
  };
}

const notFound = (detail: string): Answer => ({ status: 404, body: { detail } });
const scheduled = notFound('You have scheduled this user for deletion.');
const user: Answer = { body: { user_id: 'user-1' } };

describe('a user is read', () => {
  const reading = async (answer: Answer) => {
    const { activities } = await activitiesWith({ 'GET /v2/user/user-1': answer });
    return activities.readUser('user-1');
  };

  test('a user is read with the slugs of the connected sources, in either form and once each', async () => {
    const connected_sources = [
      { source: { slug: 'invented-watch', name: 'Invented Watch' } },
      { provider: { slug: 'invented-watch' } },
      { provider: { provider: 'invented_ring', type: 'ring' } },
      { source: { name: 'nameless' } },
      { source: null },
    ];
    const shown = await reading({ body: { user_id: 'user-1', connected_sources } });
    expect(shown).toEqual({ standing: 'present', connections: ['invented-watch', 'invented_ring'] });
  });

  test.each([
    ['scheduled', 'Scheduled to be deleted soon'],
    ['unknown', 'Not found'],
    ['unknown', 'The user does not or no longer exists in this team'],
    ['unknown', "User doesn't exist"],
  ])('a user is read as %s if the service says %s', async (standing, detail) => {
    expect(await reading(notFound(detail))).toEqual({ standing });
  });

  test.each([
    { status: 404, body: '<html><h1>404 Not Found</h1></html>' },
    notFound('Not Found'),
    { status: 404, body: '' },
  ] satisfies Answer[])('a user is read as unknown, but not for certain, by %j', async (answer) => {
    expect(await reading(answer)).toEqual({ standing: 'unknown', unsure: true });
  });

  test('nothing is concluded from any other refusal to a read of a user', async () => {
    const failure = await rejection(reading({ status: 422, body: { detail: 'no UUID' } }));
    expect(failure).toMatchObject({ type: 'DeletionRefused', nonRetryable: true });
  });
});

describe('a deletion is', () => {
  test.each([
    ['accepted', { body: { success: true } }],
    ['scheduled', notFound('The user has been scheduled for deletion as per your previous request')],
    ['unknown', notFound('The user does not or no longer exists in this team')],
    ['unknown', { status: 404, body: '' }],
  ] satisfies [string, Answer][])('a deletion is %s', async (expected, answer) => {
    const { activities } = await activitiesWith({ 'DELETE /v2/user/user-1': answer });
    expect(await activities.scheduleDeletion('user-1')).toBe(expected);
  });

  test('accepted at last, if an attempt before may still take effect', async () => {
    const { activities } = await activitiesWith({ 'DELETE /v2/user/user-1': { body: { success: true } } });
    expect(await activities.scheduleDeletion('user-1', 2)).toEqual({ atLast: 'accepted' });
  });
});

describe('an undo', () => {
  const undo = 'POST /v2/user/undo_delete';
  const read = 'GET /v2/user/user-1';
  const deleted = { userId: 'user-1', clientUserId: 'client-1' };

  test('that is refused is success if the user is there, who may have been restored before', async () => {
    const { activities, asked } = await activitiesWith({ [read]: user, [undo]: notFound('Not found') });
    expect(await activities.undoDeletion(deleted)).toBe('present');
    expect(await activities.undoDeletion(deleted, 2)).toBe('undone');
    // No read comes before the undo: right after a deletion it may be older.
    expect(asked()).toEqual([undo, read, undo, read]);
  });

  test('that is refused is sent again when a read can show the deletion, if the user is read as present before', async () => {
    const conflict = { status: 409, body: { detail: 'Conflict' } };
    const { activities } = await activitiesWith({ [read]: user, [undo]: conflict });
    const readableAt = scheduledAt + 30_000;
    const failure = await rejection(activities.undoDeletion({ ...deleted, readableAt }));
    expect(failure).toMatchObject({ type: 'AnswerUnreadable', nonRetryable: false, nextRetryDelay: 30_000 });
    expect(await activities.undoDeletion({ ...deleted, readableAt: scheduledAt })).toBe('present');
  });

  test.each([
    ['ServiceUnavailable', { status: 503, body: '' }],
    ['AnswerUnreadable', { body: 'not JSON' }],
    ['AnswerUnreadable', { body: { user_id: 'user-2' } }],
  ] satisfies [string, Answer][])(
    'an undo that is refused is retried (%s) while it is open whether an earlier attempt has restored the user',
    async (type, answer) => {
      const { activities } = await activitiesWith({ [read]: answer, [undo]: notFound('Not found') });
      const failure = await rejection(activities.undoDeletion({ userId: 'user-1' }));
      expect(failure).toMatchObject({ type, nonRetryable: false });
    },
  );

  test.each([
    ['UndoRefused', { status: 409, body: { detail: 'Conflict' } }],
    ['UndoRefused', { status: 404, body: { detail: 'Not found' } }],
    ['UndoRefused', { status: 410, body: '' }],
    ['Unauthorized', { status: 401, body: { detail: 'Invalid API key' } }],
    ['ServiceUnavailable', { status: 503, body: '' }],
  ] satisfies [string, Answer][])(
    'is %s if the service answers %j, without the client_user_id',
    async (type, answer) => {
      const { activities } = await activitiesWith({ [read]: scheduled, [undo]: answer });
      const failure = (await rejection(activities.undoDeletion(deleted))) as ApplicationFailure;
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure).toMatchObject({ type, nonRetryable: type !== 'ServiceUnavailable' });
      expect(JSON.stringify([failure.message, failure.details])).not.toContain('client-1');
    },
  );
});
