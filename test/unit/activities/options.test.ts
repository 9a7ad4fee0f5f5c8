import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ActivityOptions } from '@temporalio/workflow';
import type { Duration } from '@temporalio/common';
import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { withoutTarget } from '../../../activities/notifications/notifications.js';
import { withStore } from '../../../activities/dependencies.js';
import { deletionRequestMs, defaultSettling } from '../../../protocol/settling.js';
import { readWorkerConfig } from '../../../workers/settings/config.js';
import { activityOptions, booking, creation, orderSearch, upload } from '../../../workflows/activity-options.js';
import { commandWait } from '../../../workflows/entity/commands.js';
import { projectFolder } from '../../rig/processes.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* The rules that the timeouts and retries of workflows/activity-options.ts must keep to, whatever their numbers are. */

type Name = keyof typeof activityOptions;

type Options = ActivityOptions & { queue?: string };

const day = 86_400_000;

/** They call no service: they resolve a policy, and find and notify our own workflows. */
const toOurWorkflows = [
  ...(['resolvePolicy', 'handOver', 'forwardOrder', 'forwardCriticalResult', 'forwardUnreadable'] as const),
  ...(['joinChain', 'handOverReport', 'handOverNotifications', 'findUnclaimedJob'] as const),
];

/** What a call adds: options that follow from a policy, or from who waits. */
const byCall: Partial<Record<Name, object>> = {
  createKitOrder: creation(resolvePolicy('order'), day),
  replaceKitOrder: creation(resolvePolicy('order'), day),
  findKitOrder: orderSearch(resolvePolicy('order')),
  bookSlot: booking(resolvePolicy('appointment').bookingTimeout),
  requestAppointment: booking(resolvePolicy('appointment').bookingTimeout),
  rescheduleAppointment: booking(resolvePolicy('appointment').bookingTimeout),
  uploadReport: upload(resolvePolicy('report'), day),
  readUser: { scheduleToCloseTimeout: '30 seconds' },
  scheduleDeletion: { scheduleToCloseTimeout: '30 seconds' },
  eraseHealthData: { scheduleToCloseTimeout: '1 hour' },
  findHistories: { scheduleToCloseTimeout: '1 hour' },
  eraseHistories: { scheduleToCloseTimeout: '1 hour' },
  writeReceipt: { scheduleToCloseTimeout: '1 hour' },
};

const rows = Object.entries(activityOptions).map(([name, row]): [Name, Options] => {
  const added = (byCall[name as Name] ?? {}) as Options;
  return [name as Name, { ...(row as Options), ...added, retry: { ...row.retry, ...added.retry } }];
});
const named = (...names: Name[]) => rows.filter(([name]) => names.includes(name));

test('what may pass a critical result on waits behind no mass reads', () => {
  const passing = named('forwardOrder', 'forwardCriticalResult', 'forwardUnreadable');
  expect(passing.map(([, { queue = 'main' }]) => queue)).toEqual(['main', 'main', 'main']);
});

function inMs(span: Duration | undefined): number {
  if (span === undefined) return Infinity;
  return typeof span === 'number' ? span : ms(span);
}

/** The longest that one call of the service may take, as the worker is set up if nothing is said. */
const { timeoutMs: oneCall = 0 } = readWorkerConfig({
  SERVICE_BASE_URL: 'http://127.0.0.1:1',
  SERVICE_API_KEY: 'key',
  NOTIFICATIONS: 'off',
  HEALTH_DATA: 'off',
}).service;

describe.each(rows)('%s', (_name, { queue, retry = {}, cancellationType, ...limits }) => {
  const startToClose = inMs(limits.startToCloseTimeout);
  const heartbeat = inMs(limits.heartbeatTimeout);

  test('has an end for each attempt: one whose worker died is not waited for without end', () => {
    expect(startToClose).toBeLessThanOrEqual(ms('1h'));
  });

  test('is repeated after pauses that never shrink, or is not repeated at all', () => {
    if (retry.maximumAttempts === 1) return;
    expect(retry.backoffCoefficient).toBeGreaterThanOrEqual(1);
    expect(inMs(retry.initialInterval)).toBeGreaterThanOrEqual(1_000);
    expect(inMs(retry.maximumInterval)).toBeGreaterThanOrEqual(inMs(retry.initialInterval));
  });

  test('sends heartbeats several times before it is given up for their lack, and is given up sooner than by its time', () => {
    if (heartbeat === Infinity) return;
    expect(heartbeat).toBeGreaterThanOrEqual(4 * 5_000);
    expect(heartbeat).toBeLessThanOrEqual(startToClose);
  });

  test('learns of a cancellation whose outcome is waited for: only heartbeats bring it', () => {
    const isAwaited = cancellationType === 'WAIT_CANCELLATION_COMPLETED';
    expect(isAwaited && heartbeat === Infinity).toBe(false);
  });

  test('waits in no backlog of a side queue if an answer is expected within minutes', () => {
    const isExpectedSoon = inMs(limits.scheduleToCloseTimeout) <= ms('5m');
    expect(isExpectedSoon && queue !== undefined).toBe(false);
  });
});

test('an activity that sends heartbeats has a time after which their lack ends it, and no other has', () => {
  const sends = sendersOfHeartbeats();
  // It makes the same calls as a booking, and has half a minute for all of them.
  sends.delete('findSlots');
  const names = rows.map(([name]) => name);
  const missed = rows.filter(([, { heartbeatTimeout }]) => heartbeatTimeout !== undefined).map(([name]) => name);
  expect(missed).toEqual(names.filter((name) => sends.has(name)));
});

test('an attempt that calls the service has time for a call that takes as long as it may', () => {
  const ofStore = ['listRejectedEvents', 'discardRejectedEvent', 'replayRejectedEvents'] as const;
  // The last one gives its calls less time.
  const ours: Name[] = [...toOurWorkflows, 'findRunningWork', 'findEarlierDeletion', ...ofStore, 'findConnection'];
  expect(oneCall).toBeGreaterThanOrEqual(30_000);
  for (const [name, { startToCloseTimeout }] of rows.filter(([each]) => !ours.includes(each)))
    expect(inMs(startToCloseTimeout), name).toBeGreaterThan(oneCall);
  for (const [, { startToCloseTimeout }] of named('scheduleDeletion'))
    expect(inMs(startToCloseTimeout)).toBeGreaterThan(deletionRequestMs);
});

test('a command is given up when a caller would be, and another workflow waits for its command for longer than that', () => {
  const commands = named('registerKit', 'cancelOrder', 'undoDeletion', 'cancelAppointment', 'decideMatchReview');
  for (const [name, { scheduleToCloseTimeout }] of commands)
    expect(inMs(scheduleToCloseTimeout), name).toBeLessThanOrEqual(ms(commandWait));
  for (const [, { startToCloseTimeout }] of named('cancelWork'))
    expect(inMs(startToCloseTimeout)).toBeGreaterThan(ms(commandWait));
  const quick = named('createLinkToken', 'findSlots', 'listRejectedEvents', 'findConnection');
  for (const [name, { scheduleToCloseTimeout }] of quick)
    expect(inMs(scheduleToCloseTimeout), name).toBeLessThanOrEqual(30_000);
});

test('a change that is not idempotent at the service is tried again only when what was sent has settled, or not at all', () => {
  for (const [name, { retry, heartbeatTimeout }] of named(
    ...(['decideMatchReview', 'registerWebhook', 'rotateWebhookSecret', 'createKitOrder', 'replaceKitOrder'] as const),
    ...(['bookSlot', 'requestAppointment', 'rescheduleAppointment'] as const),
  )) {
    expect(inMs(retry?.initialInterval), name).toBeGreaterThanOrEqual(defaultSettling);
    expect(inMs(heartbeatTimeout), name).toBeGreaterThanOrEqual(defaultSettling);
  }
  for (const [name, { retry }] of named('completeMfa', 'uploadReport')) expect(retry?.maximumAttempts, name).toBe(1);
});

test('a creation has time for its search, is silent for longer than it takes, and is repeated when it must have settled', () => {
  for (const creationTimeout of [1_000, 30_000, 300_000]) {
    const policy = resolvePolicy('order', { creationTimeout: `${creationTimeout}ms` });
    const bookings = booking(creationTimeout);
    for (const { startToCloseTimeout, heartbeatTimeout, retry } of [creation(policy, day), bookings]) {
      expect(Number(startToCloseTimeout) - creationTimeout).toBeGreaterThanOrEqual(oneCall);
      expect(Number(heartbeatTimeout)).toBeGreaterThan(creationTimeout);
      expect(Number(retry?.initialInterval)).toBeGreaterThan(creationTimeout);
    }
    expect(creation(policy, 5_000).scheduleToCloseTimeout).toBe(5_000);
    const { heartbeatTimeout } = upload({ creationTimeout, uploadTimeout: 600_000 }, day);
    expect(Number(heartbeatTimeout)).toBeGreaterThan(creationTimeout);
  }
});

test('what must not get lost is tried without end: signals to our own workflows, and what identifies a run', () => {
  const endless = rows.filter(([name, { scheduleToCloseTimeout, retry }]) => {
    const isLimited = scheduleToCloseTimeout !== undefined || retry?.maximumAttempts !== undefined;
    return !isLimited && byCall[name] === undefined;
  });
  const identifying = ['identifyJob', 'identifyMatchReview', 'identifyAppointment'];
  // Callers limit these while somebody waits, and a notification by the policy's deadline.
  const limited = ['findRunningWork', 'findEarlierDeletion', 'notify'];
  const names = [...toOurWorkflows, ...identifying, ...limited];
  expect(endless.map(([name]) => name).toSorted()).toEqual(names.toSorted());
});

test('what a run needs to end, or to begin what comes next, does not wait behind deliveries', () => {
  const deliveries = named('notify').map(([, { queue }]) => queue);
  expect(deliveries).toEqual([expect.any(String)]);
  for (const [name, { queue }] of named('handOverNotifications', 'handOverReport'))
    expect(deliveries, name).not.toContain(queue);
});

test('an error that is named as final is one that is thrown', async () => {
  const thrown = await withStore('off', async () => undefined).catch((error: { type?: string }) => error.type);
  const final = rows.flatMap(([, { retry }]) => retry?.nonRetryableErrorTypes ?? []);
  expect(new Set(final)).toEqual(new Set([thrown, withoutTarget().type]));
});

/** The activities that send a heartbeat, themselves or through the functions of `activities/` that they mention. */
function sendersOfHeartbeats(): Set<string> {
  const folder = join(projectFolder, 'activities');
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((file) => file.endsWith('.ts'));
  // A function up to the next one, or an activity's method. Of other methods, some share their names.
  const activities = Object.keys(activityOptions).join('|');
  const beginning = new RegExp(`^(?=(?:export )?(?:async )?function\\b| {4}(?:async )?(?:${activities})\\b)`, 'm');
  const functions = files.flatMap((file) => {
    const code = readFileSync(join(folder, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');
    return code.split(beginning).map((text) => {
      const [, isPrivate, name = ''] = /^(?:(?:export | {4})|())(?:async )?(?:function\*? )?(\w+)/.exec(text) ?? [];
      const scoped = isPrivate === undefined ? name : `${file} ${name}`;
      return { file, name: scoped, mentions: text.match(/\w+/g) ?? [] };
    });
  });
  const senders = new Set(['heartbeat']);
  for (let known = 0; known < senders.size;) {
    known = senders.size;
    for (const { file, name, mentions } of functions)
      if (mentions.some((each) => senders.has(each) || senders.has(`${file} ${each}`))) senders.add(name);
  }
  return senders;
}
