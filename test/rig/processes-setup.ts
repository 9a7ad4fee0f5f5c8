import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { build } from './build.js';
import { provideServers } from './global-setup.js';

declare module 'vitest' {
  // What setup provides and `inject` reads; vitest requires an interface that it can merge.
  interface ProvidedContext {
    buildFolder: string;
  }
}

/** Once for all files that start the project's programs as processes: compiles them, with their workflow bundles. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideServers(project);
  const { folder, remove } = await build();
  project.provide('buildFolder', folder);
  project.provide('workflowBundlePath', join(folder, 'workflow-bundle.js'));
  return remove;
}
