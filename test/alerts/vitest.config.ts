import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.js';

/** `npm run alerts`: a few minutes that are not part of the suite, because Prometheus has to be there or be built first. */
export default defineConfig({
  test: {
    ...suite.test,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/alerts/**/*.test.ts'],
    reporters: ['default'],
    testTimeout: 900_000,
    hookTimeout: 20 * 60_000,
  },
});
