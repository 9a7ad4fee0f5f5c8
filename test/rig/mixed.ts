import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** How many seconds a file takes beside others on two cores, roughly: of a file that is not named here, of its folder. */
const seconds: Readonly<Record<string, number>> = {
  'test/e2e/demo.test.ts': 270,
  'test/e2e/worker-faults.test.ts': 260,
  'test/e2e/calls-end.test.ts': 120,
  'test/e2e/faults.test.ts': 95,
  'test/e2e/metrics.test.ts': 85,
  'test/e2e/reports.test.ts': 70,
  'test/e2e/orders-outages.test.ts': 65,
  'test/e2e/command-line.test.ts': 55,
  'test/e2e/encryption.test.ts': 53,
  'test/e2e/releases.test.ts': 50,
  'test/e2e/': 25,
  'test/integration/client-package.test.ts': 65,
  'test/integration/process-start.test.ts': 50,
  'test/integration/codec-server.test.ts': 37,
  'test/integration/': 10,
  'test/workflow/full-server.test.ts': 195,
  'test/workflow/continuing.test.ts': 45,
  'test/workflow/': 12,
  'test/replay/': 25,
  'test/store/opening.test.ts': 47,
  'test/store/': 4,
  'test/unit/checks.test.ts': 155,
  'test/unit/generated-pages.test.ts': 95,
  'test/unit/model/lifecycle.test.ts': 93,
  'test/unit/api-docs.test.ts': 88,
  'test/unit/lives/lives.test.ts': 82,
  'test/unit/service-check/service-check.test.ts': 59,
  'test/unit/report-file/remote-file.test.ts': 38,
  'test/unit/service/reports.test.ts': 30,
  'test/unit/': 2,
};

/**
 * Files that wait for processes, evenly mixed with files that compute, so that neither a core is idle nor a server starved; of both kinds
 * the longest first, or the last one would run alone. Vitest knows durations only from an earlier run, which a fresh clone does not have.
 */
export class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    const waits = (file: TestSpecification) => /\/test\/(e2e|integration)\//.test(file.moduleId);
    const placed = [bySize.filter(waits), bySize.filter((file) => !waits(file))].flatMap(placesOf);
    return placed.toSorted((one, other) => one.at - other.at).map(({ file }) => file);
  }
}

/** Each with the share of the time of all that has passed before it. */
function placesOf(files: TestSpecification[]): { file: TestSpecification; at: number }[] {
  const whole = files.reduce((sum, file) => sum + secondsOf(file), 0);
  let before = 0;
  return files
    .toSorted((one, other) => secondsOf(other) - secondsOf(one))
    .map((file) => {
      const at = before / whole;
      before += secondsOf(file);
      return { file, at };
    });
}

function secondsOf({ moduleId }: TestSpecification): number {
  const [, found = 1] = Object.entries(seconds).find(([path]) => moduleId.includes(`/${path}`)) ?? [];
  return found;
}
