import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { patienceMs } from './test/rig/patience.js';
import { Mixed } from './test/rig/mixed.js';

/** Read by .ci/run, which prints the totals as its last line. */
const report = 'node_modules/.vitest/report.json';

// The compiler, the linter and the Temporal server are Go programs that a suite starts often. With more room they collect
// garbage less often, which is a third of what checking the types costs.
process.env['GOGC'] ??= '400';

/** Some tests wait for several processes, or for a build; a part of test/unit/fuzz.test.ts plays a thousand cases. Longer than any wait within a test, so the wait says what did not come. */
const timeout = 600_000;

export default defineConfig({
  test: {
    include: ['test/{unit,store,workflow,replay,integration,e2e}/**/*.test.ts'],
    // Because the native core of @temporalio/worker crashes in worker threads.
    pool: 'forks',
    // A process runs many files, one after the other: it loads the product once, not once for each file.
    isolate: false,
    // A process that runs many files makes much that lives briefly; with little room for it a sixth of the time goes to collecting it.
    execArgv: ['--max-semi-space-size=64'],
    // A file with a Temporal server waits most of its time: for a server, for a webhook, for a process to start.
    // More of them at once would only starve the servers, whose calls then run into their deadlines.
    maxWorkers: Math.min(6, availableParallelism() * 3),
    sequence: { sequencer: Mixed },
    globalSetup: ['test/rig/leaks.ts', 'test/rig/run-folder.ts', 'test/rig/global-setup.ts'],
    setupFiles: ['test/rig/setup.ts'],
    expect: { poll: { timeout: patienceMs } },
    testTimeout: timeout,
    hookTimeout: timeout,
    // Longer than test/rig/leaks.ts waits for processes to end.
    teardownTimeout: 120_000,
    // A fault of the server that skips time: CONTRIBUTING.md. test/workflow/story.ts has seen it stand still before it says so.
    retry: { count: 1, condition: /The server that skips time has stood still/ },
    reporters: ['default', ['json', { outputFile: report }]],
  },
});
