import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { findDevServer, findTestServer } from '../../sandbox/temporal/find.js';
import { bundleWorkflows } from '../../workers/bundle.js';
import { build } from './build.js';
import { providePostgres } from './postgres-setup.js';

declare module 'vitest' {
  // What setup provides and `inject` reads; vitest requires an interface that it can merge.
  interface ProvidedContext {
    devServerProgram: string;
    testServerProgram: string;
    buildFolder: string;
    workflowBundlePath: string;
  }
}

type End = () => Promise<void>;

/** Once for all files, and only what the files of this run need. */
export async function setup(project: TestProject): Promise<End> {
  const folders = await foldersOf(project);
  const ends: (End | undefined)[] = [];
  const needs = (...names: string[]) => names.some((name) => folders.has(name));
  if (needs('integration', 'e2e', 'alerts', 'workflow', 'replay')) {
    // Found or built where a person sees it.
    project.provide('devServerProgram', await findDevServer());
    project.provide('testServerProgram', await findTestServer());
  }
  if (needs('store')) ends.push(await providePostgres(project));
  if (needs('integration', 'e2e', 'alerts')) {
    // For files that start the project's programs as processes: compiled, with their workflow bundles.
    const { folder, remove } = await build();
    project.provide('buildFolder', folder);
    project.provide('workflowBundlePath', join(folder, 'workflow-bundle.js'));
    ends.push(remove);
  } else if (needs('workflow', 'replay')) ends.push(await provideBundle(project));
  return async () => {
    for (const end of ends) await end?.();
  };
}

/** The folders in test/ of the files that this run chooses. A word of the command line that is the value of an option only adds some. */
async function foldersOf(project: TestProject): Promise<ReadonlySet<string>> {
  const words = process.argv.slice(2).filter((word) => word !== 'run' && !word.startsWith('-'));
  const { testFiles: chosen } = await project.globTestFiles(words);
  const { testFiles: all } = await project.globTestFiles();
  const files = chosen.length > 0 ? chosen : all;
  return new Set(files.map((file) => relative(join(project.config.root, 'test'), file).split(sep)[0] ?? ''));
}

/** The workflows alone, without the programs. */
async function provideBundle(project: TestProject): Promise<End> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-test-'));
  const codePath = join(folder, 'workflow-bundle.js');
  const { code } = await bundleWorkflows('readable', { logger: new DefaultLogger('WARN') });
  await writeFile(codePath, code);
  project.provide('workflowBundlePath', codePath);
  return () => rm(folder, { recursive: true });
}
