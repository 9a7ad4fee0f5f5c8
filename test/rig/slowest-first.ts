import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Folders and files in the order in which they start; a file that is not named here starts with its folder. Projects come one after
 * the other: a file of another project between them would end a process, and with it the product that it has loaded and the stack
 * that stands in it. Within a project the longest start first, or the last one runs alone while a core is idle. Measured.
 */
const order = [
  'test/e2e/demo.test.ts',
  'test/e2e/worker-faults.test.ts',
  'test/e2e/faults.test.ts',
  'test/e2e/calls-end.test.ts',
  'test/e2e/reports.test.ts',
  'test/e2e/metrics.test.ts',
  'test/integration/client-package.test.ts',
  'test/e2e/',
  'test/integration/',
  'test/unit/checks.test.ts',
  'test/unit/model/',
  'test/unit/generated-pages.test.ts',
  'test/unit/lives/',
  'test/unit/api-docs.test.ts',
  'test/unit/',
  'test/store/opening.test.ts',
  'test/store/deletion.test.ts',
  'test/store/',
  'test/replay/',
  'test/workflow/full-server.test.ts',
  'test/workflow/continuing.test.ts',
  'test/workflow/cold-worker.test.ts',
];

/** Vitest sorts by the durations of the last run, which a fresh clone does not have, and else by the size of the files. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    return bySize.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = order.findIndex((path) => moduleId.includes(`/${path}`));
  return place === -1 ? order.length : place;
}
