import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LabOperations } from '../../client/index.js';
import { sandboxControl, type SandboxControl } from '../../sandbox/control.js';
import { openStore, type HealthDataStore } from '../../store/health-data-store.js';
import { workoutStreamId } from '../../protocol/ids.js';
import { devServer, type Rig } from '../rig/environments.js';
import { answer, runLabops } from './labops.js';
import { findPostgres, installCommand, startPostgres } from '../rig/postgres.js';
import { startBuilt } from '../rig/built.js';
import { emptyDatabase } from '../rig/empty-database.js';
import { patienceMs } from '../rig/patience.js';
import type { StartedProcess } from '../rig/processes.js';
import { newDatabase } from '../rig/stores.js';
import { resolvePolicy } from '../../protocol/policies.js';

/*
 * Health data in both set-ups, with real processes: worker and ingress that share a PostgreSQL database, and both in one
 * process with a directory of its own.
 */

const apiKey = 'sk_test_invented';
const webhookSecret = `whsec_${Buffer.from('an-invented-webhook-key-32-bytes').toString('base64')}`;
const patience = { timeout: patienceMs, interval: 100 };
const resource = 'glucose';

/** What a backend finds about one user. */
interface Found {
  days: string[];
  samples: number;
  moments?: number | undefined;
}

interface Deployment {
  programs: StartedProcess[];
  ingressUrl: string;
  found(userId: string, workoutId: string): Promise<Found>;
  close(): Promise<void>;
}

const rig = devServer();
let sandbox: StartedProcess;
let control: SandboxControl;
let labs: LabOperations;

beforeAll(async () => {
  const env = { SERVICE_API_KEY: apiKey, WEBHOOK_SECRETS: webhookSecret, SANDBOX_PORT: '0', SANDBOX_WEBHOOK_URL: '' };
  sandbox = await startBuilt('sandbox/main.ts', { env, ready: /sandbox: (http\S+?),/ });
  control = sandboxControl(sandboxUrl());
  labs = new LabOperations(rig.client, { taskQueue: rig.taskQueue, deadline: 'none' });
});
afterAll(async () => {
  await labs.close();
  await sandbox.stop();
});

function sandboxUrl(): string {
  return addressIn(sandbox, /sandbox: (http\S+?),/);
}

function addressIn(program: StartedProcess, pattern: RegExp): string {
  const [, address] = pattern.exec(program.output()) ?? [];
  if (address === undefined) throw new Error(`The process did not say where it listens:\n${program.output()}`);
  return address;
}

function settings(server: Rig): Record<string, string | undefined> {
  return {
    ...{ SERVICE_ENVIRONMENT: undefined, NOTIFY_URL: undefined, NOTIFY_SECRET: undefined, NOTIFICATIONS: 'off' },
    HEALTH_DATA: undefined,
    ...{ LABOPS_ENCRYPTION_KEYS: undefined, SHUTDOWN_GRACE_SECONDS: '2', RECONCILE_EVERY_MINUTES: '0' },
    TEMPORAL_ADDRESS: server.address,
    TASK_QUEUE: server.taskQueue,
    SERVICE_API_KEY: apiKey,
    SERVICE_BASE_URL: sandboxUrl(),
    WEBHOOK_SECRETS: webhookSecret,
    INGRESS_HOST: '127.0.0.1',
    INGRESS_DRAIN_SECONDS: '0',
    INGRESS_PORT: '0',
    LOG_LEVEL: 'debug',
  };
}

async function foundIn(store: HealthDataStore, userId: string, workoutId: string): Promise<Found> {
  const range = { from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
  let samples = 0;
  for await (const _ of store.samples({ userId, resource, ...range })) samples += 1;
  const workout = await store.workoutStream({ userId, workoutId });
  return {
    days: (await store.summaries({ userId, from: '2026-01-01', to: '2026-01-31' })).map(({ day }) => day ?? ''),
    samples,
    moments: (workout?.stream as { time?: unknown[] } | null | undefined)?.time?.length,
  };
}

async function onPostgres(): Promise<Deployment> {
  const programs = await findPostgres();
  if (!programs) throw new Error(installCommand);
  const server = await startPostgres(programs);
  const place = await newDatabase(server.url);
  const env = { ...settings(rig), DATABASE_URL: place.databaseUrl };
  const start = (file: string, ready: RegExp) => startBuilt(file, { env, ready });
  const [worker, ingress] = await Promise.all([
    start('workers/worker.ts', /worker started/),
    start('workers/ingress.ts', /ingress started/),
  ]);
  const store = await openStore(place);
  return {
    programs: [worker, ingress],
    ingressUrl: addressIn(ingress, /"url":"(http[^"]+)"/),
    found: (userId, workoutId) => foundIn(store, userId, workoutId),
    close: async () => {
      await Promise.all([worker.stop(), ingress.stop(), store.close()]);
      await server.stop();
    },
  };
}

async function inOneProcess(): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-e2e-'));
  const directory = await emptyDatabase(join(folder, 'data'));
  const place = { HEALTH_DATA_DIRECTORY: directory, HEALTH_DATA_PORT: '0', DATABASE_URL: undefined };
  const env = { ...settings(rig), ...place };
  const ready = /worker and ingress started/;
  const program = await startBuilt('workers/single-process.ts', { env, ready });
  const readingUrl = addressIn(program, /"healthDataUrl":"(http[^"]+)"/);
  const read = async <Body>(path: string) => (await (await fetch(`${readingUrl}/users/${path}`)).json()) as Body;
  return {
    programs: [program],
    ingressUrl: addressIn(program, /"url":"(http[^"]+)"/),
    found: async (userId, workoutId) => {
      const days = await read<{ summaries: { day: string }[] }>(`${userId}/summaries?from=2026-01-01&to=2026-01-31`);
      const range = `resource=${resource}&from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z`;
      const { samples } = await read<{ samples: unknown[] }>(`${userId}/samples?${range}`);
      const workout = await read<{ stream?: { time?: unknown[] } | null }>(`${userId}/workouts/${workoutId}/stream`);
      return {
        days: days.summaries.map(({ day }) => day),
        samples: samples.length,
        moments: workout.stream?.time?.length,
      };
    },
    close: async () => {
      await program.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const hasPostgres = (await findPostgres()) !== undefined;

describe.each([
  { setUp: 'worker and ingress with a PostgreSQL database', start: onPostgres, isThere: hasPostgres },
  { setUp: 'worker and ingress in one process with a directory', start: inOneProcess, isThere: true },
])('$setUp', ({ start, isThere }) => {
  let deployment: Deployment;
  beforeAll(async () => {
    if (!isThere) return;
    deployment = await start();
    await control.changeSettings({ webhookUrl: deployment.ingressUrl, daySeconds: 86_400 });
    return () => deployment.close();
  });

  test.skipIf(!isThere)(
    'keeps what a watch sends, fetches its workout, and erases all at the end of a deletion',
    async () => {
      const { user_id: userId, client_user_id: clientUserId } = (await control.createUser()).user;
      const workoutId = randomUUID();
      await control.sendHealthData(userId, { kind: 'summary', calendar_date: '2026-01-05' });
      await control.addWebhookFault({ times: 1, action: { kind: 'duplicate', copies: 2 } });
      await control.sendHealthData(userId, { kind: 'samples', resource, count: 100 });
      await control.sendHealthData(userId, { kind: 'workout_stream', workout_id: workoutId });
      await control.sendHealthData(userId, { kind: 'untidy', variant: 'without_id' });
      await control.settleWebhooks();
      const all = { days: ['2026-01-05'], samples: 100, moments: 60 };
      await expect.poll(() => deployment.found(userId, workoutId), patience).toEqual(all);
      expect(await rig.client.workflow.getHandle(workoutStreamId(workoutId)).result()).toMatchObject({
        outcome: 'stored',
      });

      // The worker, not the ingress, lists, replays and discards what cannot be handled.
      await expect.poll(() => labs.rejectedEvents.count(), patience).toBe(1);
      const { events, waiting } = await labs.rejectedEvents.list();
      expect(waiting).toBe(1);
      expect(events).toMatchObject([{ eventType: 'daily.data.activity.created' }]);
      const ofWorker = settings(rig);
      const env = {
        TEMPORAL_ADDRESS: ofWorker.TEMPORAL_ADDRESS,
        TASK_QUEUE: ofWorker.TASK_QUEUE,
        LABOPS_ENCRYPTION_KEYS: ofWorker.LABOPS_ENCRYPTION_KEYS,
      };
      const operator = (...args: string[]) => runLabops(['rejected', ...args, '--json'], { env });
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
      for (const secret of [clientUserId, 'calories', 'heartrate', webhookSecret, apiKey])
        expect(logs).not.toContain(secret);
    },
  );
});
