import { randomBytes, randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { keyUse } from '../../client/encryption/key-use.js';
import { labDataConverter, parseKeyRing } from '../../client/index.js';
import { encryptionKeys } from '../../workers/doctor/encryption.js';
import { runLabops } from '../e2e/labops.js';
import { devServer } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';

const rig = devServer({ activities: { none: () => Promise.resolve() } });

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const [old, fresh, unused] = [key('2020-01-ingress'), key('fresh'), key('unused')];
const ring = `${fresh},${old},${unused}`;

async function start(keys: string, taskQueue = 'no-worker') {
  const { connection } = rig.client;
  const client = new Client({ connection, dataConverter: labDataConverter(parseKeyRing(keys)) });
  return client.workflow.start('anything', { taskQueue, workflowId: randomUUID(), args: ['an invented word'] });
}

test('each key is shown with the runs that contain it and until when they do, and the doctor says which one may go', async () => {
  const temporal = {
    ...{ connection: rig.env.connection, address: rig.address, namespace: rig.namespace },
  };
  const settings = { keyRing: parseKeyRing(ring), encryptionKeyDays: 90 } as const;
  const checked = (changed: Partial<Parameters<typeof encryptionKeys>[1]> = {}) =>
    encryptionKeys(temporal, { ...settings, ...changed } as Parameters<typeof encryptionKeys>[1]);
  const env = { TEMPORAL_ADDRESS: rig.address, LABOPS_ENCRYPTION_KEYS: fresh };
  // A wrong namespace must not call a key unneeded.
  const nothing = await runLabops(['keys', 'status'], { env });
  expect(nothing).toMatchObject({ code: 2, stdout: '' });
  expect(nothing.stderr).toContain('has no history');
  const startedFresh = await start(fresh);
  // As before TASK_QUEUE was changed.
  const started = await start(old, 'no-worker-before');
  // A signal of the ingress is enough: the run was started with another key.
  const { connection } = rig.client;
  const ingress = new Client({ connection, dataConverter: labDataConverter(parseKeyRing(old)) });
  await ingress.workflow.getHandle(startedFresh.workflowId).signal('anything', 'an invented word');
  await eventually(async () =>
    expect(await keyUse(temporal, ['unused'])).toMatchObject({
      runs: 2,
      isComplete: true,
      keys: expect.arrayContaining([
        { keyId: 'unused', open: 0, ended: 0, openWorkflows: [] },
        expect.objectContaining({ keyId: 'fresh', open: 1, openWorkflows: [startedFresh.workflowId] }),
        expect.objectContaining({ keyId: '2020-01-ingress', open: 2, ended: 0, since: '2020-01-01T00:00:00.000Z' }),
      ]) as unknown,
    }),
  );
  expect(await checked()).toMatchObject({
    status: 'ok',
    found: expect.stringMatching(
      /^"fresh" has encrypted since 20.*2 open and 0 ended runs need "2020-01-ingress"\. Nothing in Temporal needs "unused": /,
    ) as string,
  });
  expect(await checked({ databaseUrl: 'postgres://invented' }), 'keys that serve twice').toMatchObject({
    found: expect.stringMatching(/audit trail and tombstones need every key\.$/) as string,
  });

  const shown = await runLabops(['keys', 'status'], { env });
  expect(shown.stdout).toMatch(/fresh +encrypts .*\n2020-01-ingress +missing /);
  expect(await checked({ keyRing: parseKeyRing(fresh) })).toMatchObject({
    status: 'warning',
    found: '2 open and 0 ended runs need the key "2020-01-ingress", which is not set.',
  });

  await Promise.all([started.terminate(), startedFresh.terminate()]);
  await eventually(async () => {
    const { keys } = await keyUse(temporal, []);
    expect(keys.map(({ open, ended }) => `${open} ${ended}`).toSorted()).toEqual(['0 1', '0 2']);
    // The dev server retains workflows for a day.
    for (const { neededUntil = '' } of keys) expect(Date.parse(neededUntil)).toBeGreaterThan(Date.now() + 3_600_000);
  });
  const first = parseKeyRing(`${old},${fresh}`);
  expect(await checked({ keyRing: first })).toMatchObject({
    status: 'warning',
    found: expect.stringMatching(
      /^The key "2020-01-ingress" has encrypted for \d+ days, and ENCRYPTION_KEY_DAYS is 90/,
    ) as string,
  });
});
