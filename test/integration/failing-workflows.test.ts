import { expect, test } from 'vitest';
import { LabOperations } from '../../client/index.js';
import { kitOrderId } from '../../protocol/ids.js';
import { kitOrderStart } from '../../protocol/starts.js';
import { failingWorkflows } from '../../workers/doctor/workers.js';
import { all } from '../rig/all.js';
import { devServer } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';

const after = 'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=1';
const rig = devServer({
  activities: { none: () => Promise.resolve() },
  serverArguments: ['--dynamic-config-value', after],
});
const rootOrderId = '00000000-0000-4000-8000-00000000000a';

/** State of a release that does not exist yet: the task fails, as one does whose history cannot be replayed. */
async function startFailing(): Promise<void> {
  const input = { rootOrderId, carried: { version: 999 } };
  const start = kitOrderStart({ orderId: rootOrderId, events: [] }, rootOrderId);
  await rig.client.workflow.start(start.name, { ...start, taskQueue: rig.taskQueue, args: [input] });
}

test('a workflow whose tasks fail is listed among those that need attention, and is a fault for the doctor', async () => {
  const { client, taskQueue } = rig;
  const { connection } = rig.env;
  const temporal = { connection, address: rig.address, namespace: rig.namespace };
  const lab = new LabOperations(client, { taskQueue });
  expect(await failingWorkflows(temporal, taskQueue)).toMatchObject({ status: 'ok' });
  await startFailing();
  await eventually(async () =>
    expect(await failingWorkflows(temporal, taskQueue)).toMatchObject({
      status: 'fault',
      found: `1 workflow cannot go on, because workflow tasks fail: ${kitOrderId(rootOrderId)}.`,
    }),
  );
  expect(await all(lab.orders.list({ attention: true }))).toMatchObject([
    { rootOrderId, attention: ['worker_failing'] },
  ]);
});
