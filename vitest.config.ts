import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { patienceMs } from './test/rig/patience.js';
import { SlowestFirst } from './test/rig/slowest-first.js';

/** Read by .ci/run, which prints the totals as its last line. */
const report = 'node_modules/.vitest/report.json';

// The compiler, the linter and the Temporal server are Go programs that a suite starts often. With more room they collect
// garbage less often, which is a third of what checking the types costs.
process.env['GOGC'] ??= '400';

const shared = {
  // Because the native core of @temporalio/worker crashes in worker threads.
  pool: 'forks' as const,
  // A process runs many files, one after the other: it loads the product once, not once for each file.
  isolate: false,
  // A process that runs many files makes much that lives briefly; with little room for it a sixth of the time goes to collecting it.
  execArgv: ['--max-semi-space-size=64'],
  setupFiles: ['test/rig/setup.ts'],
  expect: { poll: { timeout: patienceMs } },
};

/** Longer than any wait within a test, so the wait says what did not come. */
const longerThanWaits = { testTimeout: 300_000, hookTimeout: 300_000 };

export default defineConfig({
  test: {
    // A file with a Temporal server waits most of its time: for a server, for a webhook, for a process to start.
    // More of them at once would only starve the servers, whose calls then run into their deadlines.
    maxWorkers: Math.min(6, availableParallelism() * 3),
    sequence: { sequencer: SlowestFirst },
    globalSetup: ['test/rig/leaks.ts', 'test/rig/run-folder.ts'],
    // Longer than test/rig/leaks.ts waits for processes to end.
    teardownTimeout: 120_000,
    reporters: ['default', ['json', { outputFile: report }]],
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          // A part of test/unit/fuzz.test.ts plays a thousand cases, on a machine under load for minutes.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'store',
          include: ['test/store/**/*.test.ts'],
          globalSetup: ['test/rig/postgres-setup.ts'],
          ...longerThanWaits,
        },
      },
      {
        test: {
          ...shared,
          name: 'stories',
          include: ['test/{workflow,replay}/**/*.test.ts'],
          globalSetup: ['test/rig/global-setup.ts'],
          // A fault of the server that skips time: CONTRIBUTING.md. test/workflow/story.ts has seen it stand still before it says so.
          retry: { count: 1, condition: /The server that skips time has stood still/ },
          ...longerThanWaits,
        },
      },
      {
        test: {
          ...shared,
          name: 'processes',
          include: ['test/{integration,e2e}/**/*.test.ts'],
          globalSetup: ['test/rig/processes-setup.ts'],
          // Some of them wait for several processes, or for a build.
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
