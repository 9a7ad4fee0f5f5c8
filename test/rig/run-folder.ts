import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  // What setup provides and `inject` reads; vitest requires an interface that it can merge.
  interface ProvidedContext {
    /** For what is made once for a run, by the first test that needs it: nothing in it is older than the run. */
    runFolder: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-run-'));
  project.provide('runFolder', folder);
  return () => rm(folder, { recursive: true });
}
