import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { isOutdated } from '../../../activities/broken-connections.js';
import { connectionErrorNotification } from '../../../protocol/link/connection-error.js';
import { answering, rejection, serviceAt, type Answer } from '../service/recording-server.js';

const minute = 60_000;
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();
const whole = { slug: 'invented_watch', status: 'connected', created_on: '2026-01-01T00:00:00Z' };
const broken = { ...whole, status: 'error', error_details: { errored_at: ago(minute) } };
const other = { ...whole, slug: 'invented_ring' };

/** What comes of the news that a connection broke, if the service answers this. */
async function outcome(answer: Answer, { brokenAt = ago(5 * minute), attempt = 1 } = {}) {
  const { baseUrl, requests } = await answering(() => answer);
  const of = { userId: 'user-1', provider: 'Invented-Watch', errorType: undefined, messageId: 'msg-1' };
  const notification = connectionErrorNotification({ ...of, at: brokenAt });
  const service = serviceAt(baseUrl);
  const isOld = new MockActivityEnvironment({ attempt }).run(() => isOutdated(service, notification));
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
])(
  'the news is outdated if the service ended the connection with its user (%s), whom nobody should ask to link again',
  async (detail) => {
    expect(await (await outcome({ status: 404, body: { detail } })).isOld).toBe(true);
  },
);

test.each([
  ['the connection is broken', shown(other, broken)],
  ['one of two connections is broken', shown(whole, broken)],
  ['there is no such connection', shown(other)],
  ['its status is not known', shown({ ...whole, status: 'invented' })],
  ['the service does not answer', { status: 503, body: {} }],
  ['the service does not know the user', { status: 404, body: { detail: 'User not found' } }],
] satisfies [string, Answer][])('the news is sent if %s', async (_case, answer) => {
  expect(await (await outcome(answer)).isOld).toBe(false);
});

test('just after the break, a connection without an error is read once more a minute later', async () => {
  const fresh = { brokenAt: ago(10_000) };
  const failure = await rejection((await outcome(shown(whole), fresh)).isOld);
  expect(failure).toMatchObject({ type: 'ConnectionUnsettled', nonRetryable: false });
  const { nextRetryDelay } = failure as { nextRetryDelay: number };
  expect(nextRetryDelay).toBeGreaterThan(minute / 2);
  expect(nextRetryDelay).toBeLessThan(minute);
  // Another reason may have failed the first attempt a moment ago.
  const again = await rejection((await outcome(shown(whole), { ...fresh, attempt: 2 })).isOld);
  expect(again).toMatchObject({ type: 'ConnectionUnsettled' });
  expect(await (await outcome(shown(whole), { brokenAt: ago(2 * minute), attempt: 2 })).isOld).toBe(true);
});

test('just after the break, a connection that is newer than the break needs no second read', async () => {
  const { isOld } = await outcome(shown({ ...whole, created_on: ago(1_000) }), { brokenAt: ago(10_000) });
  expect(await isOld).toBe(true);
});

test('other notifications cost no read', async () => {
  const { baseUrl, requests } = await answering(() => shown(whole));
  const ended = { id: 'id-1', at: ago(minute), source: 'link', type: 'link.ended', subject: 'user-1' };
  const data = { userId: 'user-1', provider: 'invented_watch' };
  expect(await isOutdated(serviceAt(baseUrl), { ...ended, data })).toBe(false);
  expect(requests).toEqual([]);
});
