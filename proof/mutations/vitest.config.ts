import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import { folderVariable, RunFolder } from './run-folder.js';

const folder = new RunFolder(process.env[folderVariable] ?? '');
const { texts } = folder.instrumented;
const finished = folder.lines.flatMap((line) => ('finished' in line ? [line.finished] : []));

/** The tests that notice most for their time come first: then properties, which play hundreds of cases, have little left. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => rankOf(a) - rankOf(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  if (readFileSync(moduleId, 'utf8').includes("from 'fast-check'")) return 2;
  return moduleId.endsWith('life.test.ts') ? 1 : 0;
}

/** The unit tests of what is changed, which need no server, one file after the other in one process. */
export default defineConfig({
  plugins: [{ name: 'mutations', enforce: 'pre', load: (id) => texts[id] }],
  test: {
    include: ['test/unit/{order,link,report,appointment,deletion,delivery,entity,match-review,policies}/**/*.test.ts'],
    exclude: finished,
    passWithNoTests: true,
    setupFiles: ['test/rig/setup.ts'],
    runner: 'proof/mutations/runner.ts',
    sequence: { sequencer: QuickestFirst },
    isolate: false,
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 600_000,
    silent: true,
    // The runner counts them.
    onUnhandledError: () => false,
  },
});
