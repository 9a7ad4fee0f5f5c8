import '../../proof/lives/sandbox.js';
import { afterAll } from 'vitest';
import { stopProcesses } from './processes.js';

afterAll(stopProcesses);

/**
 * The seed of every property, as a red run's log names it: `FAST_CHECK_SEED=-1234 npx vitest run <file>` plays that run
 * again. Without it each run uses seeds of its own.
 */
const seed = process.env['FAST_CHECK_SEED'];
if (seed !== undefined) {
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ seed: Number(seed) });
}
