import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Folders and files in the order in which they start; a file that is not named here starts with its folder. The longest start first, or
 * the last one runs alone while a core is idle. Measured.
 */
const waiting = [
  'test/e2e/demo.test.ts',
  'test/e2e/worker-faults.test.ts',
  'test/e2e/faults.test.ts',
  'test/e2e/calls-end.test.ts',
  'test/e2e/reports.test.ts',
  'test/e2e/metrics.test.ts',
  'test/integration/client-package.test.ts',
  'test/e2e/',
  'test/integration/',
];

const computing = [
  'test/unit/checks.test.ts',
  'test/unit/generated-pages.test.ts',
  'test/unit/model/',
  'test/unit/lives/',
  'test/unit/api-docs.test.ts',
  'test/workflow/full-server.test.ts',
  'test/store/opening.test.ts',
  'test/workflow/continuing.test.ts',
  'test/workflow/cold-worker.test.ts',
  'test/store/deletion.test.ts',
  'test/replay/',
  'test/workflow/',
  'test/store/',
  'test/unit/',
];

/**
 * Files that wait for processes, evenly mixed with files that compute: so neither a core is idle nor a server starved.
 * Vitest sorts by the durations of the last run, which a fresh clone does not have, and else by the size of the files.
 */
export class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    const placed = [waiting, computing].flatMap((order) => {
      const those = bySize.filter((file) => placeIn(order, file) !== -1);
      const sorted = those.toSorted((one, other) => placeIn(order, one) - placeIn(order, other));
      return sorted.map((file, index) => ({ file, at: index / sorted.length }));
    });
    return placed.toSorted((one, other) => one.at - other.at).map(({ file }) => file);
  }
}

function placeIn(order: readonly string[], { moduleId }: TestSpecification): number {
  return order.findIndex((path) => moduleId.includes(`/${path}`));
}
