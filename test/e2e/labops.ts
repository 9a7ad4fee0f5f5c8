import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { run } from '../../client/command-line/program.js';
import { processTerminal } from '../../client/command-line/terminal.js';
import { LabOperations } from '../../client/index.js';
import { workerCommands } from '../../workers/commands.js';
import { builtPath } from '../rig/built.js';
import { projectFolder } from '../rig/processes.js';
import type { Stack } from './stack.js';

const builtProgram = 'workers/labops.ts';

/** The output of a run of `labops`, and its exit status. */
export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

type Env = Record<string, string | undefined>;

export interface LabopsOptions {
  /** Added to the environment. */
  env?: Env;
  /** What is written to its standard input. */
  input?: string;
}

/** Longer than any command here takes on a busy machine. */
const patienceMs = 240_000;

/** Runs the operator's command line in this process, against the deployment's Temporal: what only a process shows is in command-line.test.ts. */
export async function labops(lab: Stack, args: readonly string[], options: LabopsOptions = {}): Promise<Ran> {
  return runLabops(args, withSettings(lab, options));
}

/** As its own process. `program`: instead of the built one, a program of the repository. */
export async function labopsProcess(
  lab: Stack,
  args: readonly string[],
  { program, ...options }: LabopsOptions & { program?: string } = {},
): Promise<Ran> {
  return runProcess(args, withSettings(lab, options), program);
}

function withSettings({ rig, keys }: Stack, { env, ...rest }: LabopsOptions): LabopsOptions {
  const settings = { TEMPORAL_ADDRESS: rig.address, TASK_QUEUE: rig.taskQueue, LABOPS_ENCRYPTION_KEYS: keys };
  return { env: { ...settings, ...env }, ...rest };
}

export async function runLabops(args: readonly string[], { env = {}, input = '' }: LabopsOptions = {}): Promise<Ran> {
  const ran = { stdout: '', stderr: '' };
  const terminal = {
    ...processTerminal,
    isWatched: false,
    canAsk: false,
    out: (written: string) => void (ran.stdout += written),
    err: (written: string) => void (ran.stderr += written),
    readAll: () => Promise.resolve(Buffer.from(input)),
  };
  // Both read their settings before they first wait.
  const code = await within(env, () =>
    run(args, terminal, (options) => within(env, () => LabOperations.connect(options)), workerCommands),
  );
  return { code, ...ran };
}

/** A command that reads the worker's settings, in this process. It reads them late, so they stay set until it has ended: one at a time. */
export async function workerCommand(args: readonly string[], env: Env): Promise<Ran> {
  const before = process.env;
  process.env = added(env);
  try {
    return await runLabops(args);
  } finally {
    process.env = before;
  }
}

const added = (env: Env) =>
  Object.fromEntries(Object.entries({ ...process.env, ...env }).filter(([, value]) => value !== undefined));

function within<Result>(env: Env, work: () => Result): Result {
  const before = process.env;
  process.env = added(env);
  try {
    return work();
  } finally {
    process.env = before;
  }
}

export async function runProcess(
  args: readonly string[],
  { env, input = '' }: LabopsOptions = {},
  program = builtPath(builtProgram),
): Promise<Ran> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: projectFolder,
    env: { ...process.env, ...env },
    timeout: patienceMs,
    killSignal: 'SIGKILL',
  });
  const kill = () => child.kill('SIGKILL');
  // An interrupted run of the tests leaves no command behind.
  process.once('exit', kill);
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  process.off('exit', kill);
  return { code, stdout, stderr };
}

/** The one JSON document that a command answered with; anything else on standard output fails. */
export async function answer<Answer>(run: Promise<Ran>): Promise<Answer> {
  const { code, stdout, stderr } = await run;
  if (code !== 0) throw new Error(`labops ended with ${code}:\n${stdout}\n${stderr}`);
  return JSON.parse(stdout) as Answer;
}
