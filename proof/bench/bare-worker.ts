import { NativeConnection, Runtime, DefaultLogger, Worker } from '@temporalio/worker';
import { labDataConverter } from '../../client/encryption/payload-codec.js';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { bareActivities } from './bare-activities.js';
import { bareWorkerConfig } from './config.js';

/** The worker of the bare workflow, as the SDK's samples start one. */
const { address, taskQueue, codePath, baseUrl, apiKey, encryptionKeys, maxCachedWorkflows } = bareWorkerConfig();
Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: { codePath },
  activities: bareActivities(baseUrl, apiKey),
  maxCachedWorkflows,
  ...(encryptionKeys && { dataConverter: labDataConverter(parseKeyRing(encryptionKeys)) }),
});
process.stdout.write('bare worker started\n');
await worker.run();
await connection.close();
