import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/* Preloaded by every thread of a worker whose memory is measured: on SIGHUP each collects its garbage and prints what is left, in bytes. */

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const channel = new BroadcastChannel('collect').unref();

function report(): void {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`collected in thread ${threadId}: ${heapUsed + external}\n`);
}

channel.onmessage = report;
if (isMainThread)
  process.on('SIGHUP', () => {
    channel.postMessage(null);
    report();
  });
