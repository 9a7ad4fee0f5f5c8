import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';

const quiet = { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) };
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: quiet } });

type Bundle = { code: string } | { codePath: string };

/** Replays all with one worker: to start one takes longer than a replay. @returns what each failed with, or undefined */
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
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories)) failures.push(error);
  return failures;
}
