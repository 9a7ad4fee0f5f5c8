import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { outlastingStandstill } from '../../../workers/standstill.js';

/** A worker with the product's limit, and a workflow that is busy for long enough to be stopped in mid-step. */
const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' });
const worker = await Worker.create({
  connection,
  taskQueue: 'standstill',
  workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
  ...outlastingStandstill,
});
process.stdout.write('polls\n');
await worker.run();
