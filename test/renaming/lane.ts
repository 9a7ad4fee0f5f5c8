import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createVitest } from 'vitest/node';
import type { TestModule, Vitest } from 'vitest/node';

/**
 * Tests of sheer size and of time hold no name, take longer than all others together, and may be late on a machine that
 * is as busy as this makes it.
 */
const withoutPatience = /^(?!.*(?:million|longer|slowly|timeout|own time|whole time|never ends|stands still))/;

/** What a run of some test files came to. */
export interface Outcome {
  green: boolean;
  /** The first test that failed, or what kept a file from being read. */
  by?: string;
}

/**
 * A copy of the tree in a directory of its own, and the runner in it: the working tree is never changed. The runner is
 * started once and keeps what it has transformed; each run has a new process for the tests.
 */
export class Lane {
  readonly #root: string;
  readonly #vitest: Vitest;

  private constructor(root: string, vitest: Vitest) {
    this.#root = root;
    this.#vitest = vitest;
  }

  static async open(projectFolder: string): Promise<Lane> {
    const root = await mkdtemp(join(tmpdir(), 'labops-renamings-'));
    const leftOut = ['node_modules', 'dist', '.git', 'coverage'];
    await cp(projectFolder, root, { recursive: true, filter: (source) => !leftOut.includes(basename(source)) });
    await symlink(join(projectFolder, 'node_modules'), join(root, 'node_modules'));
    const vitest = await createVitest(
      'test',
      {
        root,
        config: false,
        watch: false,
        include: ['test/unit/**/*.test.ts'],
        pool: 'forks',
        // One process for all files of a run: they share nothing but modules, and a process costs more than its tests.
        isolate: false,
        fileParallelism: false,
        maxWorkers: 1,
        bail: 1,
        testNamePattern: withoutPatience,
        reporters: [{}],
        // Longer than the slowest test takes on a busy machine: a test that is late has noticed nothing.
        testTimeout: 30_000,
        hookTimeout: 30_000,
        teardownTimeout: 2_000,
      },
      { cacheDir: join(root, '.vite'), logLevel: 'silent', server: { watch: null } },
    );
    await vitest.standalone();
    return new Lane(root, vitest);
  }

  read(file: string): Promise<string> {
    return readFile(join(this.#root, file), 'utf8');
  }

  /** Runs the test files with another text in one source file. */
  async runWith(file: string, text: string, suite: readonly string[]): Promise<Outcome> {
    const original = await this.read(file);
    await this.#put(file, text);
    try {
      return await this.run(suite);
    } finally {
      await this.#put(file, original);
    }
  }

  async run(suite: readonly string[]): Promise<Outcome> {
    for (const file of suite) {
      const specifications = await this.#vitest.globTestSpecifications([join(this.#root, file)]);
      if (specifications.length === 0) throw new Error(`there is no test file ${file}`);
      const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications(specifications, false);
      // The runner also lists the files of earlier runs, as they ended then.
      const ran = testModules.filter(({ moduleId }) => specifications.some((each) => each.moduleId === moduleId));
      if (ran.length === 0) throw new Error(`${file} was not run`);
      const by = ran.map(failureOf).find((failure) => failure !== undefined);
      if (by !== undefined) return { green: false, by };
      if (unhandledErrors.length > 0) return { green: false, by: `${file}: an error outside of its tests` };
    }
    return { green: true };
  }

  async close(): Promise<void> {
    await this.#vitest.close();
    await rm(this.#root, { recursive: true, force: true });
  }

  async #put(file: string, text: string): Promise<void> {
    await writeFile(join(this.#root, file), text);
    this.#vitest.invalidateFile(join(this.#root, file));
  }
}

function failureOf(module: TestModule): string | undefined {
  if (module.state() !== 'failed') return undefined;
  for (const test of module.children.allTests('failed')) return test.fullName;
  return `${basename(module.moduleId)} cannot be run`;
}
