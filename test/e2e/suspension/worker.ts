import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { suspensionTolerance } from '../../../workers/worker/queues.js';

/** A worker with the product's limit, and a workflow that is busy for long enough to be stopped in mid-step. */
const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' });
const worker = await Worker.create({
  connection,
  taskQueue: 'suspension',
  workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
  ...suspensionTolerance,
});
process.stdout.write('polls\n');
await worker.run();
