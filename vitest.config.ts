import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/rig/slowest-first.js';

/** Read by .ci/run, which prints the totals as its last line. */
const report = 'node_modules/.vitest/report.json';

const shared = {
  // Because the native core of @temporalio/worker crashes in worker threads.
  pool: 'forks' as const,
  setupFiles: ['test/rig/setup.ts'],
  // A second, the default, is short for a busy machine; a claim that holds costs none of it.
  expect: { poll: { timeout: 30_000 } },
};

/** A story end to end starts three processes and waits for webhooks; none needs a minute on two idle cores. */
const temporalTimeouts = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    // A file with a Temporal server keeps a server, a worker and its sandbox busy, and waits for them half of the time.
    maxWorkers: Math.max(2, Math.min(4, Math.ceil(availableParallelism() * 1.5))),
    sequence: { sequencer: SlowestFirst },
    globalSetup: ['test/rig/leaks.ts'],
    reporters: ['default', ['json', { outputFile: report }]],
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 20_000,
          hookTimeout: 20_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'store',
          include: ['test/store/**/*.test.ts'],
          globalSetup: ['test/rig/postgres-setup.ts'],
          // PGlite makes its directory in a few seconds.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'stories',
          include: ['test/{workflow,replay}/**/*.test.ts'],
          globalSetup: ['test/rig/global-setup.ts'],
          ...temporalTimeouts,
        },
      },
      {
        test: {
          ...shared,
          name: 'processes',
          include: ['test/{integration,e2e}/**/*.test.ts'],
          globalSetup: ['test/rig/processes-setup.ts'],
          ...temporalTimeouts,
        },
      },
    ],
  },
});
