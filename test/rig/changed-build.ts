import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { buildWorkflows } from '../../tools/programs.js';
import * as workflows from '../../workflows/index.js';
import type { Build } from './build.js';
import { projectFolder } from './processes.js';

/** A later release may begin a workflow with another command: then nothing that the release before it began can be replayed. */
const changed = `
import { upsertMemo } from '@temporalio/workflow';
import * as before from ${JSON.stringify(join(projectFolder, 'workflows/index.ts'))};
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
  const from = join(folder, 'workflows');
  await mkdir(from);
  await writeFile(join(from, 'index.js'), changed);
  await buildWorkflows(folder, from);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
