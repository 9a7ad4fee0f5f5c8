import type { Info } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startAttempt, type Attempt } from '../../../activities/attempt.js';

const creationTimeout = 30_000;
const startToCloseTimeoutMs = 150_000;
const scheduleToCloseTimeoutMs = 3_600_000;
/** Of all attempts together, so long before their end a creation can just be answered. */
const lastMoment = scheduleToCloseTimeoutMs - creationTimeout;
const now = 1_000_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now });
});

afterEach(() => {
  vi.useRealTimers();
});

const outdated: unknown = expect.objectContaining({
  ...{ name: 'ApplicationFailure', type: 'AttemptOutdated', nonRetryable: false },
});

type Course = (attempt: Attempt, environment: MockActivityEnvironment) => void;

const nothing = () => undefined;
const later = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

/** Each is answered in its time, and no sooner. */
function fourCalls(attempt: Attempt): void {
  for (let count = 0; count < 4; count++) {
    later(creationTimeout);
    attempt.requireFresh();
    expect(attempt.call()).toEqual({ timeoutMs: creationTimeout });
  }
}

test.each<[what: string, course: Course, heartbeats: number, isFresh: boolean, info?: Partial<Info>]>([
  ['may be asked whether it is fresh without sending a heartbeat', nothing, 0, true],
  ['sends a heartbeat before each call, and goes on while a creation can still be answered', fourCalls, 4, true],
  [
    'is outdated once the server will have abandoned it before a creation can be answered',
    (attempt) => {
      fourCalls(attempt);
      later(1);
    },
    4,
    false,
  ],
  [
    'is outdated once it was held up for longer than a call may take',
    (attempt) => {
      attempt.call();
      later(creationTimeout + 1);
    },
    1,
    false,
  ],
  ['is outdated when it was held up before its first call', () => later(creationTimeout + 1), 0, false],
  ...(['TIMED_OUT', 'CANCELLED', 'NOT_FOUND', 'WORKER_SHUTDOWN'] as const).map(
    (reason): [string, Course, number, boolean] => [
      `is outdated once the server has abandoned it: ${reason}`,
      (attempt, environment) => {
        attempt.call();
        environment.cancel(reason);
      },
      1,
      false,
    ],
  ),
  ['is not outdated just before the end of all attempts', nothing, 0, true, { scheduledTimestampMs: now - lastMoment }],
  ['is outdated then', nothing, 0, false, { scheduledTimestampMs: now - lastMoment - 1 }],
  [
    'is outdated then, too, if the clock of its worker is behind',
    nothing,
    0,
    false,
    { scheduledTimestampMs: now + 120_000, currentAttemptScheduledTimestampMs: now + 120_000 + lastMoment + 1 },
  ],
])('an attempt to create %s', async (_what, course, heartbeats, isFresh, info) => {
  const times = { startToCloseTimeoutMs, scheduleToCloseTimeoutMs, scheduledTimestampMs: now };
  const environment = new MockActivityEnvironment({ ...times, ...info });
  let sent = 0;
  environment.on('heartbeat', () => (sent += 1));
  await environment.run(async () => {
    const attempt = startAttempt(creationTimeout);
    course(attempt, environment);
    for (const ask of [() => attempt.requireFresh(), () => attempt.call()]) {
      expect(sent).toBe(heartbeats);
      const refusal: unknown = await Promise.resolve()
        .then(ask)
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      expect(refusal).toEqual(isFresh ? undefined : outdated);
    }
    expect(sent).toBe(isFresh ? heartbeats + 1 : heartbeats);
  });
});
