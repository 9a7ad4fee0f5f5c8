import { defineConfig } from 'vitest/config';

/** Read by .ci/run, which prints the totals as its last line. */
const report = 'node_modules/.vitest/report.json';

const shared = {
  // Because the native core of @temporalio/worker crashes in worker threads.
  pool: 'forks' as const,
  setupFiles: ['test/rig/setup.ts'],
  // A second, the default, is short for a busy machine.
  expect: { poll: { timeout: 10_000 } },
};

export default defineConfig({
  test: {
    // Two, because every file with a Temporal server keeps a server, a worker and its sandbox busy.
    maxWorkers: 2,
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
          name: 'temporal',
          include: ['test/{workflow,integration,e2e,replay}/**/*.test.ts'],
          globalSetup: ['test/rig/global-setup.ts'],
          // A story end to end starts three processes and waits for webhooks; none needs a minute on two idle cores.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
