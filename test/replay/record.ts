import { mkdir, rm, writeFile } from 'node:fs/promises';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { writeHistory } from './history-file.js';
import { openStage } from './stage.js';
import { stories } from './stories/index.js';

/**
 * Records the histories that every test run replays: `npm run record-histories`. Do it when the workflows may change
 * without regard to orders that are under way, which after the first release is never: then a change is made behind
 * `patched()`, the old histories stay, and new ones are recorded beside them.
 */
const folder = new URL('histories/', import.meta.url);

Runtime.install({ logger: new DefaultLogger('WARN') });

const stage = await openStage();
try {
  const recorded: [string, string][] = [];
  for (const story of stories) {
    for (const [name, of] of Object.entries(await story(stage))) {
      const { workflowId, runId } = typeof of === 'string' ? { workflowId: of } : of;
      recorded.push([name, writeHistory(await stage.temporal.workflow.getHandle(workflowId, runId).fetchHistory())]);
      process.stdout.write(`recorded ${name}\n`);
    }
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const [name, text] of recorded) await writeFile(new URL(`${name}.json`, folder), text);
} finally {
  await stage.close();
}
