import { randomUUID } from 'node:crypto';
import { TypedSearchAttributes } from '@temporalio/common';
import { expect, inject, test } from 'vitest';
import { errors, LabOperations, type ReadRecord } from '../../client/index.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { openStore } from '../../store/health-data-store.js';
import { registration } from '../rig/cast.js';
import { newDatabase } from '../rig/stores.js';
import { activity, receive } from '../store/received.js';
import { labops } from './labops.js';
import { patience, stack } from './stack.js';

const lab = stack();
const postgresUrl = inject('postgresUrl');

const linesIn = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('the export of a user has the work with what was sent to it, its timeline, and the rows of the database, each as a line', async () => {
  const { handle, orderId } = await lab.place();
  const { kit_sample_id: sampleId, order: placed } = await lab.sandbox.order(orderId);
  const userId = placed.user_id;
  await handle.register({ registration: registration(sampleId ?? '') });
  const env: Record<string, string | undefined> = { DATABASE_URL: undefined };
  if (postgresUrl !== undefined) {
    const place = await newDatabase(postgresUrl);
    const store = await openStore(place);
    await receive(store, activity(userId, 'summary-1'));
    await store.close();
    env['DATABASE_URL'] = place.databaseUrl;
  }
  await expect
    .poll(
      async () => linesIn((await labops(lab, ['users', 'export', userId], { env })).stdout).map(({ type }) => type),
      patience,
    )
    .toEqual(expect.arrayContaining(['kitOrder', 'placeKitOrder']));
  const { code, stdout, stderr } = await labops(lab, ['users', 'export', userId], { env });
  expect(code).toBe(0);
  const lines = linesIn(stdout);
  const order = lines.find(({ type }) => type === 'kitOrder');
  expect(order).toMatchObject({
    kind: 'work',
    status: 'RUNNING',
    state: { orderId, timeline: expect.anything() as unknown },
  });
  expect(order?.['received']).toEqual(
    expect.arrayContaining([expect.objectContaining({ what: 'register', content: expect.anything() as unknown })]),
  );
  expect(JSON.stringify(order), 'the patient').toContain(registration('').patient_details.last_name);
  const fromDatabase = lines.map(({ kind }) => kind).filter((kind) => kind !== 'work');
  expect(stderr).toBe('');
  expect(fromDatabase, 'an export without the database says so').toEqual(
    postgresUrl === undefined ? ['left_out'] : ['summaries'],
  );
});

test('a user of whom nothing is held, and an id that is not one, are said to be so, and the read is reported', async () => {
  const nobody = randomUUID();
  const place = postgresUrl === undefined ? undefined : await newDatabase(postgresUrl);
  if (place) await (await openStore(place)).close();
  const env = { DATABASE_URL: place?.databaseUrl };
  const empty = await labops(lab, ['users', 'export', nobody], { env });
  const held = place
    ? ''
    : '{"kind":"left_out","what":"health data and rejected events","why":"DATABASE_URL is not set"}\n';
  const stderr = place ? `Nothing is held of user ${nobody}.\n` : '';
  expect(empty).toMatchObject({ code: 0, stdout: held, stderr });
  const refused = await labops(lab, ['users', 'export', "o'x"], { env });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/^ReadInvalid: The export is not valid: userId /);

  const reads: ReadRecord[] = [];
  const reading = new LabOperations(lab.rig.client, {
    ...{ taskQueue: lab.rig.taskQueue, encryption: 'optional', actor: 'staff-1' },
    onRead: (record) => void reads.push(record),
  });
  for await (const work of reading.users.export(nobody)) expect(work).toBeUndefined();
  expect(reads).toMatchObject([{ actor: 'staff-1', what: 'users.export', subject: nobody }]);
  expect(() => reading.users.export('..')).toThrow(errors.ReadInvalid);
});

test('a run that is stuck does not end the export: its line says why its state could not be read, and the status that something is missing', async () => {
  const userId = randomUUID();
  const stuck = await lab.rig.client.workflow.start('invented', {
    ...{ workflowId: `invented/${userId}`, taskQueue: lab.rig.taskQueue, args: [{ note: 'sent' }] },
    typedSearchAttributes: new TypedSearchAttributes([{ key: labUserIdKey, value: userId }]),
  });
  const env = { DATABASE_URL: undefined };
  const exported = async () => labops(lab, ['users', 'export', userId], { env });
  await expect.poll(async () => (await exported()).stdout, patience).toContain(stuck.workflowId);
  const { code, stdout, stderr } = await exported();
  const [work, last] = linesIn(stdout);
  expect(work).toMatchObject({ type: 'invented', stateUnread: expect.stringMatching(/\w+: \w/) as unknown });
  expect(work).not.toHaveProperty('state');
  expect(last, 'it goes on').toMatchObject({ kind: 'left_out' });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/NotAllRead: The state of 1 workflows could not be read/)]);
  await stuck.terminate();
});
