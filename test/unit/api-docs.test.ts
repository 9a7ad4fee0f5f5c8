import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { projectFolder } from '../rig/processes.js';

test("the reference of the client's entries is written without a warning", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'api-docs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  // It ends with an error if there was a warning, and the message contains the output.
  await promisify(execFile)(process.execPath, ['--import', 'tsx', 'tools/api-docs.ts', folder], { cwd: projectFolder });
  const pages = await readdir(join(folder, 'modules'));
  expect(pages).toEqual(
    expect.arrayContaining(['_lab-operations_client.html', '_lab-operations_client_health-data.html']),
  );
});
