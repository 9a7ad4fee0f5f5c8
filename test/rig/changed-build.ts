import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import { inject } from 'vitest';
import { bundleWorkflows, prebuiltNames } from '../../workers/bundle.js';
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

/** The build of this run of the suite, but with an incompatible change of every workflow, for a deployment without encryption. */
export async function changedBuild(): Promise<Build> {
  const original = inject('buildFolder');
  const folder = await mkdtemp(`${original}-changed-`);
  await cp(original, folder, { recursive: true });
  const from = join(folder, 'workflows');
  await mkdir(from);
  await writeFile(join(from, 'index.js'), changed);
  const { code } = await bundleWorkflows('readable', { logger: new DefaultLogger('WARN'), from });
  await writeFile(join(folder, prebuiltNames.readable), code);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
