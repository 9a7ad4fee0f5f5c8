import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { LabOperations } from '../../client/index.js';
import { openStore } from '../../store/health-data-store.js';
import { workoutStreamId } from '../../protocol/ids.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { startBuilt } from '../rig/built.js';
import { emptyDatabase } from '../rig/empty-database.js';
import { findPostgres, startPostgres } from '../rig/postgres.js';
import type { StartedProcess } from '../rig/processes.js';
import { newDatabase } from '../rig/stores.js';
import { answer, labops } from './labops.js';
import { patience, stack } from './stack.js';

/*
 * Health data in both set-ups, with real processes: worker and ingress that share a PostgreSQL database, and both in one
 * process with a directory of its own.
 */

const resource = 'glucose';
const range = { from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
const january = { from: '2026-01-01', to: '2026-01-31' };

/** What a backend finds about one user. */
interface Found {
  days: (string | null | undefined)[];
  samples: number;
  moments?: number | undefined;
}

interface Deployment {
  taskQueue: string;
  programs: StartedProcess[];
  found(userId: string, workoutId: string): Promise<Found>;
  close(): Promise<void>;
}

const postgres = await findPostgres();
const worker: Record<string, string> = {};
beforeAll(async () => {
  if (postgres === undefined) return;
  const server = await startPostgres(postgres);
  Object.assign(worker, { DATABASE_URL: (await newDatabase(server.url)).databaseUrl, HEALTH_DATA: '' });
  return async () => {
    await lab.worker.stop();
    await server.stop();
  };
});
const lab = stack({ worker });
const ingressEnv = () => ({ ...lab.workerEnv, INGRESS_HOST: '127.0.0.1', INGRESS_PORT: '0' });

const momentsOf = (workout?: { stream?: unknown } | null) =>
  (workout?.stream as { time?: unknown[] } | null | undefined)?.time?.length;

async function onPostgres(): Promise<Deployment> {
  const ingress = await startBuilt('workers/ingress.ts', { env: ingressEnv(), ready: /ingress started/ });
  const store = await openStore({ databaseUrl: worker['DATABASE_URL'] ?? '' });
  return {
    taskQueue: lab.rig.taskQueue,
    programs: [ingress, lab.worker],
    found: async (userId, workoutId) => {
      let samples = 0;
      for await (const _ of store.samples({ userId, resource, ...range })) samples += 1;
      const days = (await store.summaries({ userId, ...january })).map(({ day }) => day);
      return { days, samples, moments: momentsOf(await store.workoutStream({ userId, workoutId })) };
    },
    close: async () => void (await Promise.all([ingress.stop(), store.close()])),
  };
}

async function inOneProcess(): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-e2e-'));
  const directory = await emptyDatabase(join(folder, 'data'));
  const taskQueue = 'single-process';
  const own = {
    HEALTH_DATA_DIRECTORY: directory,
    HEALTH_DATA_PORT: '0',
    HEALTH_DATA: undefined,
    DATABASE_URL: undefined,
  };
  const env = { ...ingressEnv(), ...own, TASK_QUEUE: taskQueue };
  const program = await startBuilt('workers/single-process.ts', { env, ready: /worker and ingress started/ });
  const [, readingUrl = ''] = await program.waitFor(/"healthDataUrl":"(http[^"]+)"/);
  const read = async <Body>(path: string, query: Record<string, string> = {}) =>
    (await (await fetch(`${readingUrl}/users/${path}?${String(new URLSearchParams(query))}`)).json()) as Body;
  return {
    taskQueue,
    programs: [program],
    found: async (userId, workoutId) => {
      const { summaries } = await read<{ summaries: { day: string }[] }>(`${userId}/summaries`, january);
      const { samples } = await read<{ samples: unknown[] }>(`${userId}/samples`, { resource, ...range });
      const workout = await read<{ stream?: unknown }>(`${userId}/workouts/${workoutId}/stream`);
      return { days: summaries.map(({ day }) => day), samples: samples.length, moments: momentsOf(workout) };
    },
    close: async () => {
      await program.stop();
      await rm(folder, { recursive: true });
    },
  };
}

describe.each([
  { setUp: 'worker and ingress with a PostgreSQL database', start: onPostgres, isThere: postgres !== undefined },
  { setUp: 'worker and ingress in one process with a directory', start: inOneProcess, isThere: true },
])('$setUp', ({ start, isThere }) => {
  let deployment: Deployment;
  let labs: LabOperations;
  beforeAll(async () => {
    if (!isThere) return;
    deployment = await start();
    labs = new LabOperations(lab.rig.client, { taskQueue: deployment.taskQueue, deadline: 'none' });
    const [, webhookUrl = ''] = (await deployment.programs[0]?.waitFor(/"url":"(http[^"]+)"/)) ?? [];
    await lab.sandbox.changeSettings({ webhookUrl });
    return () => Promise.all([labs.close(), deployment.close()]);
  });

  test.skipIf(!isThere)(
    'keeps what a watch sends, fetches its workout, and erases all at the end of a deletion',
    async () => {
      const { sandbox } = lab;
      const { user_id: userId, client_user_id: clientUserId } = (await sandbox.createUser()).user;
      const workoutId = randomUUID();
      await sandbox.sendHealthData(userId, { kind: 'summary', calendar_date: '2026-01-05' });
      await sandbox.addWebhookFault({ times: 1, action: { kind: 'duplicate', copies: 2 } });
      await sandbox.sendHealthData(userId, { kind: 'samples', resource, count: 100 });
      await sandbox.sendHealthData(userId, { kind: 'workout_stream', workout_id: workoutId });
      await sandbox.sendHealthData(userId, { kind: 'untidy', variant: 'without_id' });
      await sandbox.settleWebhooks();
      const all = { days: ['2026-01-05'], samples: 100, moments: 60 };
      await expect.poll(() => deployment.found(userId, workoutId), patience).toEqual(all);
      expect(await lab.rig.client.workflow.getHandle(workoutStreamId(workoutId)).result()).toMatchObject({
        outcome: 'stored',
      });

      // The worker, not the ingress, lists, replays and discards what cannot be handled.
      await expect.poll(() => labs.rejectedEvents.count(), patience).toBe(1);
      const events = [];
      for await (const event of labs.rejectedEvents.list()) events.push(event);
      expect(events).toMatchObject([{ eventType: 'daily.data.activity.created' }]);
      const env = { TASK_QUEUE: deployment.taskQueue };
      const operator = (...args: string[]) => labops(lab, ['rejected-events', ...args, '-o', 'json'], { env });
      expect(await answer(operator('list'))).toMatchObject({ waiting: 1, events: [{ id: events[0]?.id }] });
      expect(await answer(operator('replay', '--all', '--type', 'an.invented.type'))).toMatchObject({ left: {} });
      // It still has no key: it is put aside again.
      const again = { replayed: { health_data_set_aside: 1 }, left: {} };
      expect(await answer(operator('replay', events[0]?.id ?? ''))).toMatchObject(again);
      expect((await operator('discard', '999999', '--reason', 'invented', '--yes')).stderr).toMatch(
        /"RejectedEventNotFound"/,
      );

      const deletion = await labs.users.requestDeletion({
        userId,
        clientUserId,
        policy: { ...resolvePolicy('deletion'), grace: 2_000 },
      });
      expect(await deletion.result()).toMatchObject({ outcome: 'deleted' });
      expect(await deployment.found(userId, workoutId)).toEqual({ days: [], samples: 0, moments: undefined });
      expect(await labs.rejectedEvents.count()).toBe(0);

      const logs = deployment.programs.map((program) => program.output()).join('\n');
      expect(logs).toContain(workoutStreamId(workoutId));
      for (const secret of [clientUserId, 'calories', 'heartrate', lab.webhookSecret, lab.service.apiKey])
        expect(logs).not.toContain(secret);
    },
  );
});
