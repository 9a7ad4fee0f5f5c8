import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** How many seconds a file takes beside others on two cores, roughly: of a file that is not named here, of its folder. */
const seconds: Readonly<Record<string, number>> = {
  'test/e2e/demo.test.ts': 284,
  'test/e2e/worker-faults.test.ts': 257,
  'test/e2e/metrics.test.ts': 94,
  'test/e2e/faults.test.ts': 91,
  'test/e2e/calls-end.test.ts': 89,
  'test/e2e/releases.test.ts': 73,
  'test/e2e/reports.test.ts': 64,
  'test/e2e/audit.test.ts': 59,
  'test/e2e/health-data.test.ts': 58,
  'test/e2e/encryption.test.ts': 58,
  'test/e2e/backend-example.test.ts': 54,
  'test/e2e/erased-histories.test.ts': 42,
  'test/e2e/': 25,
  'test/integration/client-package.test.ts': 90,
  'test/integration/process-start.test.ts': 40,
  'test/integration/': 15,
  'test/workflow/full-server.test.ts': 118,
  'test/workflow/orders-listed.test.ts': 37,
  'test/workflow/': 14,
  'test/replay/': 22,
  'test/store/opening.test.ts': 27,
  'test/store/deletion.test.ts': 24,
  'test/store/': 9,
  'test/unit/lives/lives.test.ts': 63,
  'test/unit/checks.test.ts': 59,
  'test/unit/report-file/remote-file.test.ts': 40,
  'test/unit/service/report/reports.test.ts': 29,
  'test/unit/generated-pages.test.ts': 26,
  'test/unit/command-line/program.test.ts': 23,
  'test/unit/service-check/service-check.test.ts': 19,
  'test/unit/client/unanswered.test.ts': 18,
  'test/unit/api-docs.test.ts': 18,
  'test/unit/': 3,
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
