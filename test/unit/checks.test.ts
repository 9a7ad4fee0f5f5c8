import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { projectFolder } from '../rig/processes.js';

/** Beside the other tests rather than before them: the three together take a minute of one core. */
test.each(['check:lock', 'check:types', 'check:lint', 'check:format'])('npm run %s finds nothing', async (script) => {
  const found = await promisify(execFile)('npm', ['run', '--silent', script], { cwd: projectFolder }).then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
  expect(found).toBe('');
});
