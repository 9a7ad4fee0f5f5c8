import { execFile, spawn } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Runs a program that does not outlive this process. */
export const watchdog = fileURLToPath(new URL('watchdog.sh', import.meta.url));

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** The first program of that name in the folders of PATH. */
export async function findProgram(name: string, searchPath: readonly string[]): Promise<string | undefined> {
  for (const folder of searchPath) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

export interface RunOptions {
  environment: NodeJS.ProcessEnv;
  cwd?: string;
  /** Ends the program. */
  signal?: AbortSignal;
}

/** How much of what a program wrote an error repeats. */
const errorLines = 3;

/** Runs a program to its end; its output is shown only when it fails, and then its last lines. */
export async function run(program: string, args: readonly string[], options: RunOptions): Promise<void> {
  const child = spawn(watchdog, [program, ...args], {
    cwd: options.cwd,
    env: options.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    killSignal: 'SIGKILL',
    ...(options.signal && { signal: options.signal }),
  });
  const tail = lastLines(errorLines);
  child.stdout.setEncoding('utf8').on('data', tail.add);
  child.stderr.setEncoding('utf8').on('data', tail.add);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`it ended with ${signal ?? `status ${code}`}${tail.text() && `: ${tail.text()}`}`));
    });
  });
}

/** Keeps the end of what a program writes. */
export function lastLines(count: number): { add: (text: string) => void; text: () => string } {
  let kept = '';
  return {
    add: (text) => {
      kept = (kept + text)
        .split('\n')
        .slice(-(count + 1))
        .join('\n');
    },
    text: () => kept.trim(),
  };
}

const versionTimeoutMs = 20_000;

/** The version of the server inside a `temporal` program, as `1.29.1`: its own version says nothing (`0.0.0-DEV`). */
export async function serverVersion(cli: string): Promise<string> {
  const { stdout } = await promisify(execFile)(cli, ['--version'], { timeout: versionTimeoutMs });
  const version = /\bServer (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`its --version names no server: ${stdout.trim().slice(0, 200)}`);
  return version;
}
