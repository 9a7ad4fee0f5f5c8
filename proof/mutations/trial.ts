import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderVariable, RunFolder, type Instrumented } from './run-folder.js';

export interface Trial {
  noticed: ReadonlySet<string>;
  /** By a test, not only when a file is loaded. */
  reached: ReadonlySet<string>;
  whenLoaded: ReadonlySet<string>;
}

/** Runs the tests that import the files, in a process that is begun again whenever a change has made it hang. */
export async function tryChanges(instrumented: Instrumented): Promise<Trial> {
  const path = mkdtempSync(join(tmpdir(), 'mutations-'));
  try {
    const folder = new RunFolder(path);
    folder.instrumented = instrumented;
    while (await hangs(folder, Object.keys(instrumented.texts), { [folderVariable]: path }));
    return {
      noticed: new Set(folder.lines.flatMap((line) => ('noticed' in line ? [line.noticed] : []))),
      reached: new Set(folder.lines.flatMap((line) => ('reached' in line ? line.reached : []))),
      whenLoaded: new Set(folder.lines.flatMap((line) => ('reached' in line ? line.whenLoaded : []))),
    };
  } finally {
    rmSync(path, { recursive: true });
  }
}

/** @returns true if a change had to be stopped, and others are left */
async function hangs(folder: RunFolder, files: readonly string[], env: Record<string, string>): Promise<boolean> {
  const vitest = ['node_modules/vitest/vitest.mjs', 'related', '--run', '--config', 'proof/mutations/vitest.config.ts'];
  folder.attempt = undefined;
  const tests = spawn(process.execPath, [...vitest, ...files], {
    env: { ...process.env, ...env },
    // Nothing but the table belongs on the standard output.
    stdio: ['ignore', process.stderr, process.stderr],
  });
  let stopped = false;
  const watch = setInterval(() => {
    const { attempt } = folder;
    if (!attempt || Date.now() < attempt.until) return;
    stopped = true;
    process.kill(attempt.pid, 'SIGKILL');
    folder.attempt = undefined;
    folder.add({ noticed: attempt.id });
  }, 1000);
  const [code] = (await once(tests, 'exit')) as [number | null];
  clearInterval(watch);
  if (code !== 0 && !stopped) throw new Error('The tests fail without any change: see above.');
  const broken = folder.lines.flatMap((line) => ('broken' in line ? [line.broken] : []));
  if (broken.length > 0) {
    throw new Error(
      `State outlives a test, so no result counts. After the changes these fail without any: ${broken.join('; ')}`,
    );
  }
  return stopped;
}
