import { mkdir, rm, writeFile } from 'node:fs/promises';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { writeHistory } from './history-file.js';
import { openStage, type StageOptions } from './stage.js';
import { coldStories, continuedStories, deadlineStories, refusalStories, stories } from './stories/index.js';
import type { Story } from './stories/story.js';

/**
 * Records the histories that every test run replays: `npm run record-histories`. Only allowed while no order is under
 * way, so never after the first release: then a change is made behind `patched()`, the old histories stay, and new ones
 * are recorded beside them: `npm run record-histories -- <story> …` plays only the stories of these names.
 */
const folder = new URL('histories/', import.meta.url);

Runtime.install({ logger: new DefaultLogger('WARN') });

const chosen = process.argv.slice(2);
const recorded = [
  ...(await record(stories)),
  ...(await record(continuedStories, { eventsPerRun: 10 })),
  ...(await record(deadlineStories, { skipsTime: true })),
  ...(await record(coldStories, { isCold: true })),
  ...(await record(refusalStories, { isEncrypted: true })),
];
if (chosen.length === 0) await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const [name, text] of recorded) await writeFile(new URL(`${name}.json`, folder), text);

/** Plays the stories on a stage of their own; returns the histories by the names of their files. */
async function record(all: readonly Story[], options: StageOptions = {}): Promise<[string, string][]> {
  const played = all.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
  if (played.length === 0) return [];
  const stage = await openStage(options);
  try {
    const histories: [string, string][] = [];
    for (const story of played) {
      for (const [name, of] of Object.entries(await story(stage))) {
        const { workflowId, runId } = typeof of === 'string' ? { workflowId: of } : of;
        const history = await stage.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
        // The server that skips time leaves it out, and a replay needs it.
        const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
        if (started) started.workflowId = workflowId;
        histories.push([name, withoutSecrets(writeHistory(history))]);
        process.stdout.write(`recorded ${name}\n`);
      }
    }
    return histories;
  } finally {
    await stage.close();
  }
}

/** Replaces secrets that the sandbox made up, so nobody need ask whether they are real. */
function withoutSecrets(text: string): string {
  return text.replaceAll(/whsec_[\w+/=-]+/g, 'whsec_invented');
}
