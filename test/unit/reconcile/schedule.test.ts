import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { ensureReconcileSchedule } from '../../../workers/worker/reconcile-schedule.js';
import { clientAnsweredWith, type GrpcStatus } from '../../rig/grpc-answers.js';

const settings = { taskQueue: 'invented-queue', reconcileEveryMinutes: 60 };
const pauses = { first: 10, longest: 20 };

/** A worker that starts while Temporal answers the making of its schedule so, once each. */
async function startWhile(answers: readonly GrpcStatus[]) {
  let asked = 0;
  const client = await clientAnsweredWith((method) => (method === 'CreateSchedule' ? answers[asked++] : undefined));
  const lines: { level: number; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const schedule = await ensureReconcileSchedule(client, settings, log, pauses);
  onTestFinished(() => schedule.stop());
  return { asked: () => asked, levels: () => lines.map(({ level }) => level), schedule };
}

const unavailable = { code: 14, details: 'starting' };
const [warn, error] = [40, 50];

test('a schedule that could not be created while Temporal was away is created in the background', async () => {
  const start = await startWhile([unavailable, { code: 4, details: 'too late' }, unavailable]);
  await expect.poll(start.asked).toBe(4);
  expect(start.levels()).toEqual([warn, warn, warn]);
  await start.schedule.stop();
  expect(start.asked()).toBe(4);
});

test('a schedule is not tried again once the worker stops', async () => {
  const start = await startWhile(Array.from({ length: 1000 }, () => unavailable));
  await start.schedule.stop();
  const asked = start.asked();
  await new Promise((resolve) => setTimeout(resolve, 10 * pauses.longest));
  expect(start.asked()).toBe(asked);
});

test('a schedule that the namespace forbids is not tried again: the log says what is missing', async () => {
  const start = await startWhile([{ code: 7, details: 'no' }]);
  await expect.poll(() => start.levels().at(-1)).toBe(error);
  await new Promise((resolve) => setTimeout(resolve, 10 * pauses.longest));
  expect(start.asked()).toBe(1);
});
