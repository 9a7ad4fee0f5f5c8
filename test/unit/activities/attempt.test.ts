import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startAttempt, type Attempt } from '../../../activities/attempt.js';

const creationTimeout = 30_000;
const startToCloseTimeoutMs = 150_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

const later = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

/** Runs an attempt in an activity's context; returns how many heartbeats it sent. */
async function attempting(
  act: (attempt: Attempt, environment: MockActivityEnvironment) => void,
  { scheduleToCloseTimeoutMs = 3_600_000, startedAfterMs = 0 } = {},
): Promise<number> {
  const scheduledTimestampMs = Date.now() - startedAfterMs;
  const times = { startToCloseTimeoutMs, scheduleToCloseTimeoutMs, scheduledTimestampMs };
  const environment = new MockActivityEnvironment(times);
  let heartbeats = 0;
  environment.on('heartbeat', () => (heartbeats += 1));
  await environment.run(async () => act(startAttempt(creationTimeout), environment));
  return heartbeats;
}

function refusal(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

const outdated = { type: 'AttemptOutdated', nonRetryable: false };

describe('an attempt to create', () => {
  test('sends a heartbeat before each call, and limits the call to what a creation may take', async () => {
    const heartbeats = await attempting((attempt) => {
      for (let count = 0; count < 3; count++) expect(attempt.call()).toEqual({ timeoutMs: creationTimeout });
    });
    expect(heartbeats).toBe(3);
  });

  test('may be asked whether it is fresh without sending a heartbeat', async () => {
    expect(await attempting((attempt) => attempt.requireFresh())).toBe(0);
  });

  test('goes on as long as every call is answered in its time and a creation can still be answered', async () => {
    const heartbeats = await attempting((attempt) => {
      for (let passed = 0; passed < startToCloseTimeoutMs - creationTimeout; passed += creationTimeout) {
        later(creationTimeout);
        attempt.requireFresh();
        attempt.call();
      }
    });
    expect(heartbeats).toBe(4);
  });

  test('is outdated once the server will have abandoned it before a creation can be answered', async () => {
    await attempting((attempt) => {
      for (let count = 0; count < 4; count++) {
        later(creationTimeout);
        attempt.call();
      }
      later(1);
      expect(refusal(() => attempt.requireFresh())).toMatchObject(outdated);
      expect(refusal(() => attempt.call())).toMatchObject(outdated);
    });
  });

  test('is outdated once it was held up for longer than a call may take', async () => {
    const heartbeats = await attempting((attempt) => {
      attempt.call();
      later(creationTimeout + 1);
      expect(refusal(() => attempt.requireFresh())).toBeInstanceOf(ApplicationFailure);
      expect(refusal(() => attempt.call())).toMatchObject(outdated);
    });
    expect(heartbeats).toBe(1);
  });

  test('is outdated when it was held up before its first call', async () => {
    const heartbeats = await attempting((attempt) => {
      later(creationTimeout + 1);
      expect(refusal(() => attempt.call())).toMatchObject(outdated);
    });
    expect(heartbeats).toBe(0);
  });

  test.each(['TIMED_OUT', 'CANCELLED', 'NOT_FOUND', 'WORKER_SHUTDOWN'] as const)(
    'is outdated once the server has abandoned it: %s',
    async (reason) => {
      const heartbeats = await attempting((attempt, environment) => {
        attempt.call();
        environment.cancel(reason);
        expect(refusal(() => attempt.requireFresh())).toMatchObject(outdated);
        expect(refusal(() => attempt.call())).toMatchObject(outdated);
      });
      expect(heartbeats).toBe(1);
    },
  );

  test('is outdated if the time of all attempts together ends before a creation can be answered', async () => {
    const hour = 3_600_000;
    const act = (attempt: Attempt) => expect(refusal(() => attempt.requireFresh())).toMatchObject(outdated);
    await attempting(act, { startedAfterMs: hour - creationTimeout + 1 });
    await attempting((attempt) => attempt.requireFresh(), { startedAfterMs: hour - creationTimeout });
  });

  test('is outdated then, too, if the clock of its worker is behind', async () => {
    const scheduledTimestampMs = Date.now() + 120_000;
    const scheduleToCloseTimeoutMs = 3_600_000;
    const currentAttemptScheduledTimestampMs = scheduledTimestampMs + scheduleToCloseTimeoutMs - creationTimeout + 1;
    const times = { startToCloseTimeoutMs, scheduleToCloseTimeoutMs };
    const info = { ...times, scheduledTimestampMs, currentAttemptScheduledTimestampMs };
    await new MockActivityEnvironment(info).run(async () => {
      const attempt = startAttempt(creationTimeout);
      expect(refusal(() => attempt.requireFresh())).toMatchObject(outdated);
    });
  });
});
