import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** `npm run alerts`: a few minutes that are not part of the suite, because Prometheus has to be there or be built first. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/alerts/**/*.test.ts'],
    globalSetup: ['test/rig/global-setup.ts'],
    setupFiles: ['test/rig/setup.ts'],
    pool: 'forks',
    testTimeout: 900_000,
    hookTimeout: 20 * 60_000,
  },
});
