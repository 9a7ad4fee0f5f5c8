import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import Long from 'long';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Connection } from '@temporalio/client';
import { createPlacingCheck } from '../../activities/placing-stop.js';
import { readPlacingStop } from '../../protocol/placing-stop.js';
import { placingStop } from '../../workers/doctor/workers.js';
import { stopPlacing } from '../../workflows/placing-stop.js';
import { clientAnsweredWith, type GrpcStatus } from '../rig/grpc-answers.js';
import { Life } from './life.js';
import { rejection } from './service/recording-server.js';

/* The stop of placing: its workflow, and how workers learn of it. What waits is shown beside what waits. */

const now = Date.parse('2026-03-01T10:00:00.000Z');
const since = '2026-03-01T10:00:00.000Z';

async function stopped(input: unknown, workflowId = 'placing-stop/lab'): Promise<Life> {
  return new Life({ workflow: stopPlacing, type: 'stopPlacing', workflowId, now }, {}).start(input);
}

test('a stop says since when and why, stands until it is resumed, and does nothing else', async () => {
  const stop = await stopped({ reason: 'recalled test' });
  expect(stop.run.shown.details).toBe('### Placing is stopped\n\nSince 2026-03-01 10:00:00 UTC: recalled test');
  await stop.until(24 * 30);
  expect(stop.run.end).toBeUndefined();
  await stop.signal('resume', undefined);
  expect(stop.run.end).toMatchObject({ kind: 'completed', result: { since, reason: 'recalled test' } });
  expect(stop.calls).toEqual([]);
});

test('a stop goes on in a new run within a day of a later release, since when it was and with its reason', async () => {
  const stop = await stopped({ reason: 'recalled test', by: 'nurse-1' });
  await stop.until(47);
  stop.run.suggestNewRun('targetWorkerDeploymentVersionChanged');
  await stop.until(48);
  const memo = { reason: 'recalled test', by: 'nurse-1', since };
  expect(stop.run.end).toMatchObject({ kind: 'continued', memo });
  const next = await stop.next();
  expect(next.run.shown.details).toBe(
    '### Placing is stopped\n\nSince 2026-03-01 10:00:00 UTC, by `nurse-1`: recalled test',
  );
  await next.signal('resume', { by: 'nurse-2' });
  expect(next.run.end).toMatchObject({ kind: 'completed', result: { ...memo, until: '2026-03-03T10:00:00.000Z' } });
});

test('a stop that is resumed when a new run is due ends', async () => {
  const stop = await stopped({ reason: 'recalled test' });
  stop.run.suggestNewRun();
  await stop.signal('resume');
  expect(stop.run.end).toMatchObject({ kind: 'completed', result: { since } });
});

test.each<[unknown, string | undefined, string]>([
  [undefined, undefined, 'reason'],
  [{ reason: ' ' }, undefined, 'reason'],
  [{ reason: 'x'.repeat(501) }, undefined, 'reason'],
  [{ reason: 'recalled', because: 'misspelt' }, undefined, 'because'],
  [{ reason: 'recalled' }, 'stop/lab', 'workflowId'],
])('a stop with the input %j and the ID %s fails for its %s', async (input, workflowId, field) => {
  const { run } = await stopped(input, workflowId);
  expect(run.end).toMatchObject({ kind: 'failed', type: 'InvalidCommand', details: { fields: [{ field }] } });
});

const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;
const running = (status: number, memo?: object, more: object = {}): Uint8Array =>
  DescribeWorkflowExecutionResponse.encode({
    workflowExecutionInfo: {
      ...{ status, execution: { workflowId: 'placing-stop/lab', runId: 'run-1' }, type: { name: 'stopPlacing' } },
      startTime: { seconds: Long.fromNumber(now / 1000) },
      ...(memo && { memo: { fields: { reason: memo, ...more } } }),
    },
  }).finish();
const reason = defaultPayloadConverter.toPayload('recalled test');
const recalled = running(1, reason);
const unreadable = running(1, { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('') });
const absent = { code: 5, details: 'workflow not found' };

/** A Temporal whose answer about the stop may change. */
async function temporalWith(first: GrpcStatus | Uint8Array) {
  const state = { answer: first, asked: 0 };
  const client = await clientAnsweredWith(() => ((state.asked += 1), state.answer));
  return { client, state };
}

test.each([
  ['there was none', absent],
  ['the last one was resumed', running(2)],
])('a creation is not stopped if %s', async (_what, answer) => {
  const { client } = await temporalWith(answer);
  expect(await createPlacingCheck(client, 'lab')()).toBeUndefined();
});

test.each([
  ['', recalled, 'recalled test'],
  [' whose reason cannot be read here', unreadable, 'its reason cannot be read'],
])('a creation is stopped while there is a stop%s, and the reason is said', async (_what, answer, stopReason) => {
  const { client } = await temporalWith(answer);
  expect(await rejection(createPlacingCheck(client, 'lab')({ nothingSent: true }))).toMatchObject({
    ...{ type: 'PlacingStopped', nonRetryable: true, message: `Placing is stopped: ${stopReason}` },
    details: [{ fields: [], stopReason, nothingSent: true }],
  });
});

test('a stop that goes on in a new run is shown since when it was', async () => {
  const before = '2026-02-01T10:00:00.000Z';
  const continued = running(1, reason, { since: defaultPayloadConverter.toPayload(before) });
  const { client } = await temporalWith(continued);
  expect(await readPlacingStop(client.workflow, 'lab')).toEqual({ since: before, reason: 'recalled test' });
});

test('Temporal is asked once in 15 seconds for all creations, again after that, and at once if it could not say', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now });
  onTestFinished(() => void vi.useRealTimers());
  const { client, state } = await temporalWith(absent);
  const requireNotStopped = createPlacingCheck(client, 'lab');
  await Promise.all([requireNotStopped(), requireNotStopped()]);
  state.answer = { code: 14, details: 'away' };
  vi.setSystemTime(now + 14_999);
  await requireNotStopped();
  expect(state.asked).toBe(1);
  vi.setSystemTime(now + 15_000);
  expect(await rejection(requireNotStopped())).not.toMatchObject({ type: 'PlacingStopped' });
  state.answer = recalled;
  expect(await rejection(requireNotStopped())).toMatchObject({ type: 'PlacingStopped' });
  // A clock that is set back makes no answer last longer.
  state.answer = running(2);
  vi.setSystemTime(now - 3_600_000);
  await requireNotStopped();
});

test('the doctor warns of a stop, with its time and reason', async () => {
  const { client, state } = await temporalWith(recalled);
  const temporal = { connection: client.connection as Connection, address: '', namespace: 'default' };
  const checked = () => placingStop(temporal, { taskQueue: 'lab', keyRing: undefined });
  const found = `Placing was stopped at ${since}: recalled test.`;
  expect(await checked()).toMatchObject({ status: 'warning', found });
  state.answer = absent;
  expect(await checked()).toMatchObject({ status: 'ok' });
});
