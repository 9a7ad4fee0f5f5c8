import { TestWorkflowEnvironment } from '@temporalio/testing';

/** download-process.ts <dev-server | test-server> <folder>: see downloadWithSdk. */
const [kind, downloadDir = '.'] = process.argv.slice(2);

const server = { executable: { type: 'cached-download', downloadDir } } as const;
try {
  const environment = await (kind === 'dev-server'
    ? TestWorkflowEnvironment.createLocal({ server })
    : TestWorkflowEnvironment.createTimeSkipping({ server }));
  await environment.teardown();
} catch (error) {
  // The SDK's message repeats the long address in each layer: only the innermost says what went wrong.
  process.stderr.write(`${String(error).replace(/^.*\): /s, '')}\n`);
  process.exitCode = 1;
}
