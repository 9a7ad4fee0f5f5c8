import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { isOutdated } from '../../../../activities/link/connections.js';
import { connectionErrorNotification } from '../../../../protocol/link/messages.js';
import { answering, serviceAt, type Answer } from '../../service/recording-server.js';

const minute = 60_000;
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();
const old = { slug: 'invented_watch', status: 'connected', created_on: '2026-01-01T00:00:00Z' };
const whole = { ...old, status: 'Connected', created_on: ago(minute) };
const broken = { ...whole, status: 'error', error_details: { errored_at: ago(minute) } };
const other = { ...whole, slug: 'invented_ring' };

/** What comes of the news that a connection broke, if the service answers this. */
async function outcome(answer: Answer, brokenAt = ago(5 * minute)) {
  const { baseUrl, requests } = await answering(() => answer);
  const of = { userId: 'user-1', provider: 'Invented-Watch', errorType: undefined, messageId: 'msg-1' };
  const notification = connectionErrorNotification({ ...of, at: brokenAt });
  const service = serviceAt(baseUrl);
  const isOld = new MockActivityEnvironment().run(() => isOutdated(service, notification));
  return { isOld, requests };
}

const shown = (...providers: object[]): Answer => ({ body: { providers } });

test('the news of a connection that works again is outdated, and costs one read', async () => {
  const { isOld, requests } = await outcome(shown(other, whole));
  expect(await isOld).toBe(true);
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v2/user/providers/user-1']);
});

test.each([
  'You have scheduled this user for deletion.',
  'The user has been scheduled for deletion as per your previous request',
  'User not found',
])('the news is outdated if the user is deleted or gone (%s): nobody should ask them to link again', async (detail) => {
  expect(await (await outcome({ status: 404, body: { detail } })).isOld).toBe(true);
});

test.each([
  ['the connection is broken', shown(other, broken)],
  ['one of two connections is broken', shown(whole, broken)],
  ['the connection is older than the break', shown(old)],
  ['there is no such connection', shown(other)],
  ['its status is not known', shown({ ...whole, status: 'invented' })],
  ['the service does not answer', { status: 503, body: {} }],
  ['a proxy answers', { status: 404, body: { detail: 'Page not found' } }],
] satisfies [string, Answer][])('the news is sent if %s', async (_case, answer) => {
  expect(await (await outcome(answer)).isOld).toBe(false);
});

test('other notifications cost no read', async () => {
  const { baseUrl, requests } = await answering(() => shown(whole));
  const ended = { id: 'id-1', at: ago(minute), source: 'link', type: 'link.ended', subject: 'user-1' };
  const data = { userId: 'user-1', provider: 'invented_watch' };
  expect(await isOutdated(serviceAt(baseUrl), { ...ended, data })).toBe(false);
  expect(requests).toEqual([]);
});
