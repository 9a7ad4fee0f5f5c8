import fc from 'fast-check';
import { setMaxListeners } from 'node:events';
import { describe, test, TestRunner, type RunnerTestCase, type RunnerTestSuite } from 'vitest';
import { folderVariable, RunFolder } from './run-folder.js';

/** What the switches in the changed files read, and what they count. */
interface Switches {
  readonly activeMutant: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: { static: Counts; perTest: Record<string, Counts> };
}

/** How often a change was reached, by its id. */
type Counts = Record<string, number>;

// A life sets `Date.now`.
const realNow = Date.now;

let active: string | undefined;
let steps = 0;
let mostSteps = Infinity;

const switches: Switches = {
  /** Every switch asks, so this stops a loop without end, unless it passes none of them. */
  get activeMutant() {
    steps += 1;
    if (steps > mostSteps) throw new Error('It goes on without end.');
    return active;
  },
};
Object.assign(globalThis, { __stryker__: switches });

/** Of a test that takes so many steps, or milliseconds, without a change. */
const stepLimit = (taken: number) => 100_000 + 100 * taken;
const timeLimit = (taken: number) => 10_000 + 10 * taken;

// The same cases in every run, and no search for the smallest one that fails.
fc.configureGlobal({ seed: 1, endOnFailure: true });

/** Runs a file's tests; then switches on each change that they reach and nothing has noticed yet, and runs those that reach it. */
export default class MutationRunner extends TestRunner {
  private readonly folder = new RunFolder(process.env[folderVariable] ?? '');
  private readonly ids = new Set(this.folder.instrumented.ids);
  private readonly noticed = new Set<string>();
  private readonly unnoticed = new Set<string>();
  private readonly stepsOf = new Map<string, number>();
  private unhandled = 0;

  constructor(...config: ConstructorParameters<typeof TestRunner>) {
    super(...config);
    for (const line of this.folder.lines) {
      if ('noticed' in line) this.noticed.add(line.noticed);
      if ('unnoticed' in line) this.unnoticed.add(`${line.file} ${line.unnoticed}`);
    }
    process.on('unhandledRejection', () => (this.unhandled += 1));
  }

  override onBeforeTryTask(test: RunnerTestCase): void {
    super.onBeforeTryTask(test);
    switches.currentTestId = test.id;
    steps = 0;
  }

  override onAfterTryTask(test: RunnerTestCase): void {
    switches.currentTestId = undefined;
    this.stepsOf.set(test.id, steps);
    super.onAfterTryTask(test);
  }

  /** The file's last test tries the changes: vitest's `expect` works within a test only. */
  override async importFile(...of: Parameters<TestRunner['importFile']>): Promise<unknown> {
    const imported: unknown = await super.importFile(...of);
    if (of[1] === 'collect') {
      describe('changes', () => {
        test('those that the tests reach', { timeout: 0 }, ({ task }) => this.tryChanges(task));
      });
    }
    return imported;
  }

  private async tryChanges(present: RunnerTestCase): Promise<void> {
    const { file } = present;
    const others = testsOf(file).filter((test) => test !== present);
    if (others.some(({ result }) => result?.state !== 'pass')) return;
    const { static: whenLoaded = {}, perTest = {} } = switches.mutantCoverage ?? {};
    const tests = others.toSorted((a, b) => durationOf(a) - durationOf(b));
    // Each run of a test adds one.
    for (const { context } of tests) setMaxListeners(0, context.signal);
    const reached = new Set(tests.flatMap(({ id }) => Object.keys(perTest[id] ?? {})));
    this.folder.add({ reached: [...reached], whenLoaded: Object.keys(whenLoaded) });
    for (const id of reached) {
      if (!this.ids.has(id) || this.noticed.has(id) || this.unnoticed.has(`${file.filepath} ${id}`)) continue;
      const reaching = tests.filter((test) => perTest[test.id]?.[id] !== undefined);
      await this.tryChange(id, reaching, present);
    }
    this.folder.attempt = undefined;
    for (const test of tests) {
      if (!(await this.passes(test, present))) this.folder.add({ broken: `${file.name}: ${test.name}` });
    }
    this.folder.add({ finished: file.filepath });
  }

  private async tryChange(id: string, tests: readonly RunnerTestCase[], present: RunnerTestCase): Promise<void> {
    for (const test of tests) {
      this.folder.attempt = { id, pid: process.pid, until: realNow() + timeLimit(durationOf(test)) };
      [active, steps, mostSteps] = [id, 0, stepLimit(this.stepsOf.get(test.id) ?? 0)];
      const passes = await this.passes(test, present);
      const goesOn = steps > mostSteps;
      [active, mostSteps] = [undefined, Infinity];
      if (passes && !goesOn) continue;
      this.noticed.add(id);
      return this.folder.add({ noticed: id });
    }
    this.folder.add({ unnoticed: id, file: present.file.filepath });
  }

  /** @returns false also if a rejection is left unhandled, which makes vitest fail */
  private async passes(test: RunnerTestCase, { result }: RunnerTestCase): Promise<boolean> {
    const before = this.unhandled;
    try {
      await TestRunner.getTestFn(test)();
    } catch {
      failedSoftly(result);
      return false;
    }
    // Node reports them after all microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    return !failedSoftly(result) && this.unhandled === before;
  }
}

/** What `expect.soft` leaves, which is taken away. */
function failedSoftly(result: RunnerTestCase['result']): boolean {
  if (result?.state !== 'fail') return false;
  Object.assign(result, { state: 'run', errors: undefined });
  return true;
}

function testsOf({ tasks }: RunnerTestSuite): RunnerTestCase[] {
  return tasks.flatMap((task) => (task.type === 'suite' ? testsOf(task) : [task]));
}

function durationOf({ result }: RunnerTestCase): number {
  return result?.duration ?? 0;
}
