import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client as TemporalClient } from '@temporalio/client';
import { Client } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { linkProviderId, placingStopId } from '../../protocol/ids.js';
import { stopPlacingName } from '../../protocol/placing-stop.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { migrateDatabase } from '../../store/schema-state.js';
import type { Answers } from '../../client/command-line/answers.js';
import { findPostgres, startPostgres } from '../rig/postgres.js';
import { as, newDatabase } from '../rig/stores.js';
import { labopsProcess, workerCommand } from './labops.js';
import { patience, stack } from './stack.js';

/* The audit trail of a deployment: worker, database and `labops audit`, each with its own role. */

const auditKeys = `audit:${Buffer.from('an-invented-audit-key---32-bytes').toString('base64')}`;
const postgres = await findPostgres();
const place = { databaseUrl: '' };
const worker: Record<string, string> = { AUDIT_KEYS: auditKeys };
beforeAll(async () => {
  if (postgres === undefined) return;
  const server = await startPostgres(postgres);
  Object.assign(place, await newDatabase(server.url));
  await query(await readFile(new URL('../../deploy/database-roles.sql', import.meta.url), 'utf8'));
  await migrateDatabase(place.databaseUrl);
  Object.assign(worker, { DATABASE_URL: as('lab_worker', place).databaseUrl, HEALTH_DATA: '' });
  return async () => {
    await lab.worker.stop();
    await server.stop();
  };
});
const lab = stack({ worker });

const auditEnv = () => ({
  ...lab.workerEnv,
  ...{ DATABASE_URL: as('lab_auditor', place).databaseUrl, AUDIT_KEYS: auditKeys },
});

const labopsAudit = (...args: string[]) => workerCommand(['audit', ...args], auditEnv());

async function rowsOf(subject: string): Promise<string[]> {
  const { code, stdout } = await labopsAudit('export', '--subject', subject);
  expect(code).toBe(0);
  const rows = stdout.split('\n').filter((line) => line !== '');
  return rows.map((line) => {
    const { actor, action, outcome } = JSON.parse(line) as { actor: string | null; action: string; outcome: string };
    return `${actor ?? '-'} ${action} ${outcome}`;
  });
}

/** As the owner. */
async function query(sql: string): Promise<unknown[]> {
  const client = new Client(place.databaseUrl);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe.skipIf(postgres === undefined)('the audit trail', () => {
  test('has each command once, though the worker was killed and another replays the history', async () => {
    const { orderId, userId } = await lab.place();
    const [nurse, doctor] = [lab.labs.as('nurse-7'), lab.labs.as('doctor-3')];
    await (await nurse.orders.getHandle({ orderId })).setPolicy({ shippingDeadline: '8d' });
    const first = ['- placeKitOrder started', 'nurse-7 kitOrder.setPolicy done'];
    await expect.poll(() => rowsOf(userId), patience).toEqual(first);
    await lab.worker.stop('SIGKILL');
    await lab.startWorker();
    await (await doctor.orders.getHandle({ orderId })).cancel();
    const last = 'doctor-3 kitOrder.cancel done';
    await expect.poll(() => rowsOf(userId), patience).toEqual([...first, last]);
    expect(await rowsOf(`kit-order/${orderId}`)).toEqual([...first.slice(1), last]);
    const { code, stdout } = await labopsProcess(lab, ['audit', 'verify'], { env: auditEnv() });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+ rows of 2 writers: intact\n$/)]);
  });

  test('outlives the final deletion of a person, and does not say who it was', async () => {
    const { orderId, userId, reference, handle } = await lab.place();
    await handle.cancel();
    await handle.result();
    const policy = { ...resolvePolicy('deletion'), grace: 1_000 };
    const deletion = await lab.labs.as('nurse-7').users.requestDeletion({ userId, policy });
    expect(await deletion.result()).toMatchObject({ outcome: 'deleted' });
    const all = [
      '- placeKitOrder started',
      '- kitOrder.cancel done',
      'nurse-7 deleteUser.request done',
      '- deleteUser deleted',
    ];
    await expect.poll(() => rowsOf(userId), patience).toEqual(all);
    const text = JSON.stringify(await query('select * from health_data.audit_trail'));
    for (const id of [orderId, userId, reference]) expect(text).not.toContain(id);
    const { stdout } = await labopsAudit('list', '--subject', userId);
    expect(stdout.split('\n')[3]).toMatch(/^\S+Z {2}nurse-7 {2}deleteUser\.request +done$/);
    const listed = await labopsAudit('list', '--subject', userId, '-o', 'json');
    const { rows } = JSON.parse(listed.stdout) as Answers['audit list'];
    expect(rows.map(({ actor, action, outcome }) => `${actor ?? '-'} ${action} ${outcome}`)).toEqual(all);
  });
});

describe.skipIf(postgres === undefined)('what the trail has lost', () => {
  const added = async (since: Date) => {
    const { code, stdout } = await labopsAudit('verify', '--histories', since.toISOString());
    expect(code, stdout).toBe(0);
    return /^(\d+) of (\d+) commands were missing/.exec(stdout)?.slice(1);
  };
  const begun = new Date();

  test('is added from the histories, and nothing that it has is added again', async () => {
    const { orderId, userId } = await lab.place();
    const nurse = lab.labs.as('nurse-7');
    const startOthers = async (provider: string) => {
      await nurse.links.start({ userId, provider });
      // The second joins the first.
      for (const starter of [nurse, lab.labs.as('doctor-3')]) await starter.appointments.start({ orderId });
      await nurse.matchReviews.start({ rawResultId: `invented-${provider}` });
    };
    await startOthers('oura');
    await (await nurse.orders.getHandle({ orderId })).setPolicy({ shippingDeadline: '8d' });
    await nurse.placing.stop({ reason: 'invented' });
    await lab.labs.as('doctor-3').placing.resume();
    await expect(nurse.rejectedEvents.discard('17', { reason: 'invented' })).rejects.toThrow('no rejected event 17');
    await expect.poll(async () => (await added(begun))?.[0], patience).toBe('0');
    await lab.worker.stop();
    await lab.startWorker({ DATABASE_URL: '', HEALTH_DATA: 'off' });
    const before = new Date();
    await startOthers('fitbit');
    await (await nurse.orders.getHandle({ orderId })).setPolicy({ shippingDeadline: '9d' });
    const refusal = (await lab.labs.as('doctor-3').orders.getHandle({ orderId })).resolveProblem({
      orderId,
      decision: 'wait',
    });
    await expect(refusal).rejects.toThrow('has missed no deadline');
    await nurse.placing.stop({ reason: 'invented' });
    await lab.labs.as('doctor-3').placing.resume();
    await expect(nurse.rejectedEvents.discard('17', { reason: 'invented' })).rejects.toThrow('HEALTH_DATA');
    await expect.poll(async () => (await added(before))?.[1], patience).toBe('10');
    expect(await added(begun)).toMatchObject(['0', expect.anything()]);
    const elsewhere = { ...auditEnv(), TASK_QUEUE: 'an-invented-queue' };
    const { stdout } = await workerCommand(['audit', 'verify', '--histories', begun.toISOString()], elsewhere);
    expect(stdout).toMatch(/^0 of 0 commands were missing/);
    // An appointment learns whose it is.
    const ofUser = (await rowsOf(userId)).filter((row) => !row.includes('bookAppointment'));
    expect(ofUser.toSorted()).toEqual(
      [
        '- placeKitOrder started',
        'nurse-7 linkProvider started',
        'nurse-7 linkProvider started',
        'doctor-3 kitOrder.resolveProblem NothingToResolve',
        'nurse-7 kitOrder.setPolicy done',
        'nurse-7 kitOrder.setPolicy done',
      ].toSorted(),
    );
    const requests = ['nurse-7', 'doctor-3'].map((who) => `${who} bookAppointment.bookingRequested done`);
    expect(await rowsOf(`appointment/${orderId}`)).toEqual([...requests, ...requests]);
    expect(await rowsOf('match-review/invented-fitbit')).toEqual(['nurse-7 matchReview.reviewRequested done']);
    const stops = await rowsOf(placingStopId(lab.rig.taskQueue));
    expect(stops.slice(3)).toEqual(stops.slice(0, 3));
    expect(stops.slice(0, 3).toSorted()).toEqual([
      '- stopPlacing done',
      'doctor-3 stopPlacing.resume done',
      'nurse-7 stopPlacing started',
    ]);
  });

  test('is not what nobody with the keys has sent: it may name anyone as its sender', async () => {
    const { client, taskQueue } = lab.rig;
    const workflowId = placingStopId(taskQueue);
    const forger = new TemporalClient({ connection: client.connection }).workflow;
    const input = { reason: 'invented', by: 'forger-1' };
    const before = (await rowsOf(workflowId)).length;
    const startInClear = () => forger.start(stopPlacingName, { workflowId, taskQueue, args: [input] });
    await lab.worker.stop();
    await (await startInClear()).terminate();
    await lab.startWorker({ LABOPS_ENCRYPTION: 'required' });
    await expect((await startInClear()).result()).rejects.toThrow('binary/encrypted');
    await lab.labs.as('nurse-9').placing.stop({ reason: 'invented' });
    await forger.getHandle(workflowId).signal('resume', input);
    await lab.worker.waitFor(/a signal was dropped/);
    await lab.labs.as('nurse-9').placing.resume();
    const ended = async (status: string) =>
      (await client.workflow.count(`WorkflowId = '${workflowId}' AND ExecutionStatus = '${status}'`)).count;
    await expect.poll(() => ended('Failed'), patience).toBe(1);
    await expect.poll(() => ended('Terminated'), patience).toBe(1);
    await expect.poll(async () => (await added(begun))?.[0], patience).toBe('0');
    const stops = (await rowsOf(workflowId)).slice(before);
    expect(stops.toSorted()).toEqual([
      '- stopPlacing done',
      'nurse-9 stopPlacing started',
      'nurse-9 stopPlacing.resume done',
    ]);
  });

  test('is not the start that a reset has copied', async () => {
    const { client, namespace } = lab.rig;
    const userId = await lab.newUser();
    await lab.labs.as('nurse-7').links.start({ userId, provider: 'oura' });
    const workflowId = linkProviderId(userId, 'oura');
    const firstTask = async () => {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      return events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
    };
    await expect.poll(firstTask, patience).toBeDefined();
    const { runId } = await client.workflowService.resetWorkflowExecution({
      ...{ namespace, workflowExecution: { workflowId }, requestId: randomUUID(), reason: 'invented' },
      workflowTaskFinishEventId: (await firstTask()) ?? null,
    });
    expect((await client.workflow.getHandle(workflowId).describe()).runId).toBe(runId);
    await expect.poll(firstTask, patience).toBeDefined();
    const listed = async () => (await client.workflow.count(`WorkflowId = '${workflowId}'`)).count;
    await expect.poll(listed, patience).toBe(2);
    await expect.poll(async () => (await added(begun))?.[0], patience).toBe('0');
    expect(await rowsOf(userId)).toEqual(['nurse-7 linkProvider started']);
  });
});
