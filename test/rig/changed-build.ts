import { execFile } from 'node:child_process';
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import * as workflows from '../../workflows/index.js';
import type { Build } from './build.js';

/** A later release may begin a workflow with another command: then nothing that the release before it began can be replayed. */
const changed = `
import { upsertMemo } from '@temporalio/workflow';
import * as before from './release-before.js';
const changed = (workflow) => (...args) => (upsertMemo({ release: 'changed' }), workflow(...args));
${Object.keys(workflows)
  .map((name) => `export const ${name} = changed(before.${name});`)
  .join('\n')}
`;

/** The build of this run of the suite, but with an incompatible change of every workflow. */
export async function changedBuild(): Promise<Build> {
  const original = inject('buildFolder');
  const folder = await mkdtemp(`${original}-changed-`);
  await cp(original, folder, { recursive: true });
  await rename(join(folder, 'workflows/index.js'), join(folder, 'workflows/release-before.js'));
  await writeFile(join(folder, 'workflows/index.js'), changed);
  await promisify(execFile)(process.execPath, [join(folder, 'workers/build-bundle.js')]);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
