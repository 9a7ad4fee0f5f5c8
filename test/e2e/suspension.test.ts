import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { devServer } from '../rig/environments.js';
import { startProgram } from '../rig/processes.js';

const rig = devServer();

test('a worker that stands still for longer than 5 seconds in mid-step goes on, and finishes it', async () => {
  const env = { TEMPORAL_ADDRESS: rig.address };
  const worker = await startProgram('test/e2e/suspension/worker.ts', { env, ready: /polls/ });
  const workflow = await rig.client.workflow.start('busy', {
    ...{ workflowId: 'busy', taskQueue: 'suspension' },
    // Temporal's own limit for a step, 10 seconds, is less than the pause and the step take on a slow machine.
    workflowTaskTimeout: '2 minutes',
  });
  await worker.waitFor(/a step has begun/);
  process.kill(worker.pid, 'SIGSTOP');
  // The SDK's own limit for a step is 5 seconds.
  await sleep(6_000);
  process.kill(worker.pid, 'SIGCONT');
  await expect(workflow.result()).resolves.toEqual(expect.any(Number));
  expect(worker.output()).not.toMatch(/timed out|corrupted/);
  await worker.stop('SIGKILL');
});
