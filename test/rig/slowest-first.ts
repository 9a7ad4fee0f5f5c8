import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Folders and files in the order in which they start. The longest waits start first, or the last file of the suite runs
 * alone while a core is idle. Measured; a file that is not named here starts with its folder.
 */
const order = [
  'test/e2e/demo.test.ts',
  'test/e2e/worker-faults.test.ts',
  'test/e2e/faults.test.ts',
  'test/e2e/calls-end.test.ts',
  'test/e2e/reports.test.ts',
  'test/e2e/metrics.test.ts',
  // In one go: a file of another project between them would end a process and the stack that stands in it.
  'test/e2e/',
  // It takes both cores for a minute, in which the programs that the first files start would starve.
  'test/unit/checks.test.ts',
  'test/unit/model/',
  'test/integration/temporal-servers.test.ts',
  'test/unit/generated-pages.test.ts',
  'test/unit/lives/',
  'test/unit/api-docs.test.ts',
  'test/workflow/',
  'test/integration/',
  'test/store/',
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
