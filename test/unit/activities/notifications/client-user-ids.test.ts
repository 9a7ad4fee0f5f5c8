import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { createClientUserIds } from '../../../../activities/notifications/cloud-event.js';
import { answering, rejection, serviceAt, type Answer } from '../../service/recording-server.js';

const user: Answer = { body: { user_id: 'user-1', client_user_id: 'invented-1' } };

/** Reads with a service that gives these answers, one after the other and then the last again. */
async function reading(...answers: Answer[]) {
  const { baseUrl, requests } = await answering((_, index) => answers[Math.min(index, answers.length - 1)] ?? user);
  const clock = { now: 1 };
  const clientUserIdOf = createClientUserIds(serviceAt(baseUrl).users, () => clock.now);
  const read = (attempt = 1) => new MockActivityEnvironment({ attempt }).run(() => clientUserIdOf('user-1'));
  return { read, requests, clock };
}

test('a burst about one user costs one read, and a user without a client_user_id is remembered, too', async () => {
  for (const [body, expected] of [
    [user.body, 'invented-1'],
    [{ user_id: 'user-1', client_user_id: null }, undefined],
  ] as const) {
    const { read, requests } = await reading({ body });
    expect(await Promise.all([read(), read()])).toEqual([expected, expected]);
    expect(await read()).toBe(expected);
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v2/user/user-1']);
  }
});

test('a client_user_id is read again after ten minutes', async () => {
  const { read, clock } = await reading(user, { body: { user_id: 'user-1', client_user_id: 'renamed-1' } });
  expect(await read()).toBe('invented-1');
  clock.now += 10 * 60_000;
  expect(await read()).toBe('invented-1');
  clock.now += 1;
  expect(await read()).toBe('renamed-1');
});

test('an outage fails the first two attempts of a delivery, whatever pause the service asks for, and is not remembered', async () => {
  const outage: Answer = { status: 503, headers: { 'retry-after': '3600' }, body: {} };
  const { read, requests } = await reading(outage, outage, outage, user);
  for (const attempt of [1, 2]) {
    const failure = await rejection(read(attempt));
    expect(failure).toMatchObject({ type: 'ServiceUnavailable', nonRetryable: false });
    expect(failure).not.toHaveProperty('nextRetryDelay', expect.anything());
  }
  expect(await read(3)).toBeUndefined();
  expect(await read()).toBe('invented-1');
  expect(requests).toHaveLength(4);
});

test.each([400, 401, 404])('a user whose read is refused with %i has none, at once', async (status) => {
  const { read } = await reading({ status, body: { detail: 'Not found' } }, user);
  expect(await read()).toBeUndefined();
  expect(await read(), 'a refusal is not remembered').toBe('invented-1');
});
