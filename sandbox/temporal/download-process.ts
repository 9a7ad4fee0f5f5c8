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
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
