import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
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

export interface LabopsOptions {
  /** Added to the environment. */
  env?: Record<string, string | undefined>;
  /** What is written to its standard input. */
  input?: string;
  /** Instead of the built one, a program of the repository. */
  program?: string;
}

/** Longer than any command here takes on a busy machine. */
const patienceMs = 240_000;

/** Runs the operator's command line as its own process, against the deployment's Temporal. */
export async function labops(lab: Stack, args: readonly string[], { env, ...rest }: LabopsOptions = {}): Promise<Ran> {
  const { rig } = lab;
  const settings = { TEMPORAL_ADDRESS: rig.address, TASK_QUEUE: rig.taskQueue, LABOPS_ENCRYPTION_KEYS: undefined };
  return runLabops(args, { env: { ...settings, ...env }, ...rest });
}

export async function runLabops(
  args: readonly string[],
  { env, input = '', program = builtPath(builtProgram) }: LabopsOptions = {},
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
