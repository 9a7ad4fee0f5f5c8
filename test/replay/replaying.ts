import '../rig/runtime.js';
import { Worker } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import { pino } from 'pino';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { labDataConverter } from '../../client/encryption/payload-codec.js';
import { markingUnencrypted } from '../../workers/encryption.js';
import { inventedKeys } from './keys.js';

type Bundle = { code: string } | { codePath: string };

const converted = { dataConverter: labDataConverter(parseKeyRing(inventedKeys)) };
const encrypting = markingUnencrypted(converted, 'required', pino({ level: 'silent' }));

/** Replays all with one worker, which requires encryption as some of the recorded ones did: to start one takes longer than a replay. @returns what each failed with, or undefined */
export async function replay(
  texts: readonly string[],
  historyOf: (text: string) => object,
  workflowBundle: Bundle,
): Promise<unknown[]> {
  const histories = texts.map((text) => {
    const [, workflowId = ''] = /"workflowId":"([^"]+)"/.exec(text) ?? [];
    return { workflowId, history: historyOf(text) };
  });
  const failures: unknown[] = [];
  for await (const { error } of replayed({ workflowBundle, ...encrypting }, histories)) failures.push(error);
  return failures;
}

/*
 * Lets the SDK believe that its hook is installed. It replays in this thread, and the hook takes a stack trace for each promise of a
 * workflow: replays would take twice as long, and tests that run in this process afterwards fifteen times as long.
 */
globalHandlers.installed = true;

/** To be imported from here, so replays run without that hook. */
export const replayed = Worker.runReplayHistories.bind(Worker);
