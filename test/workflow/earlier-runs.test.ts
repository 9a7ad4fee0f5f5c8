import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { lastResultOf, runsOf } from '../../activities/earlier-runs.js';
import { kitOrderId } from '../../workflows/order/address.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/* The full server: it lists workflows. */
const stage = setStage({ eventsPerRun: 10_000 });

/** As a server whose visibility has not heard yet that anything ended. */
function lagging({ workflow }: Client): Client {
  const list = async function* (options: { query?: string }) {
    for await (const { closeTime: _closeTime, ...run } of workflow.list(options)) {
      yield { ...run, status: { name: 'RUNNING', code: 1 } };
    }
  };
  return { workflow: { list, getHandle: workflow.getHandle.bind(workflow) } } as unknown as Client;
}

test('a run that ended a moment ago is known to have ended, though it is still listed as running', async () => {
  const kit = await stage.place();
  const workflowId = kitOrderId(kit.rootOrderId);
  await kit.handle.cancel();
  const result = await kit.ends();
  const found = () => lastResultOf(lagging(stage.temporal), workflowId);
  // That it was started is listed within a moment.
  await expect.poll(found, { timeout: 10_000 }).toEqual(result);
});

test('a run that goes on has no result, and is not waited for', async () => {
  const kit = await stage.place();
  const workflowId = kitOrderId(kit.rootOrderId);
  await eventually(async () => expect(await runsOf(stage.temporal, workflowId)).toHaveLength(1));
  expect(await lastResultOf(stage.temporal, workflowId)).toBeUndefined();
});
