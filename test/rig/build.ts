import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stop } from 'esbuild';
import { buildPrograms, buildWorkflows } from '../../tools/programs.js';
import { projectFolder } from './processes.js';

/** Below node_modules, so the built files find the packages. */
const builds = join(projectFolder, 'node_modules', '.vitest');

export interface Build {
  folder: string;
  remove: () => Promise<void>;
}

/** What `npm run build` makes, in a folder of this run: processes start from it as in production, and compile nothing. */
export async function build(): Promise<Build> {
  await mkdir(builds, { recursive: true });
  const folder = await mkdtemp(join(builds, 'build-'));
  // Node looks for the kind of module in the nearest package.json, and never above node_modules.
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  await buildPrograms(folder);
  await buildWorkflows(folder);
  // Its process would stay as long as the one that tests.
  await stop();
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
