import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { findDevServer, findTestServer } from '../../sandbox/temporal/find.js';
import { bundleWorkflows } from '../../workers/bundle.js';

declare module 'vitest' {
  // What setup provides and `inject` reads; vitest requires an interface that it can merge.
  interface ProvidedContext {
    devServerProgram: string;
    testServerProgram: string;
    workflowBundlePath: string;
  }
}

/** Once for all files: the servers are found or built where a person sees it, and the workflows are bundled. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideServers(project);
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-test-'));
  const codePath = join(folder, 'workflow-bundle.js');
  const { code } = await bundleWorkflows('readable', { logger: new DefaultLogger('WARN') });
  await writeFile(codePath, code);
  project.provide('workflowBundlePath', codePath);
  return () => rm(folder, { recursive: true });
}

export async function provideServers(project: TestProject): Promise<void> {
  project.provide('devServerProgram', await findDevServer());
  project.provide('testServerProgram', await findTestServer());
}
