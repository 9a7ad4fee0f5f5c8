import { defineConfig } from 'vitest/config';

/** The unit tests of what is mutated. They need no server; all of them take seconds, so each mutant has those that reach it. */
export default defineConfig({
  test: {
    include: ['test/unit/{order,link,report,appointment,deletion,entity,match-review,policies}/**/*.test.ts'],
    setupFiles: ['test/rig/setup.ts'],
    testTimeout: 60_000,
  },
});
