import { realpathSync, existsSync } from 'node:fs';
import { LabOperationsError } from '../service/lab-operations-error.js';
import type { Logger } from 'pino';
import type { TracedProcess, Tracing } from './monitoring/otlp-tracing.js';

/** Why a process could not start, in one line that names the setting or the thing to fix. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed';
}

/**
 * True if this program was started, not imported by a test or by another program. By its name, because in dist/ a module may be in
 * a file that programs share.
 *
 * @param name the program's path in the project, without its extension
 */
export function isProgram(name: string): boolean {
  const [, script = ''] = process.argv;
  const path = script && realpathSync(script);
  return path.endsWith(`/${name}.js`) || path.endsWith(`/${name}.ts`);
}

/** Runs a process to its end. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  const status = await statusOf(main, (error) => void process.stderr.write(`${explain(error)}\n`));
  // Whatever a broken start left open (a connection that still tries) must not keep the process alive.
  process.exit(status);
}

/**
 * The exit status: 0 after an orderly end, 1 when it could not start or broke, 2 when the settings are not right, or what a command was given; or the status that
 * `main` returns.
 * @param report writes why it failed
 */
export async function statusOf(main: () => Promise<number | void>, report: (error: unknown) => void): Promise<number> {
  try {
    return (await main()) ?? 0;
  } catch (error) {
    report(error);
    return error instanceof LabOperationsError && error.kind === 'invalid' ? 2 : 1;
  }
}

/** The message, and of what nobody expects the stack, too. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isFault = ![StartFailed, LabOperationsError].some((known) => error instanceof known);
  return (isFault && error.stack) || error.message;
}

/**
 * Resolves at the first SIGINT or SIGTERM. Later ones are ignored: a terminal and a package manager both send Ctrl-C
 * on, and the running shutdown has its own limit.
 */
export function shutdownRequested(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, resolve);
  });
}

/** True in dist/, where the programs and what they share are one folder below; false if they run from the sources. */
export const isBuilt = import.meta.url.endsWith('.js');

/** @throws StartFailed if a file that is loaded by its path is missing */
export function requireBuilt(path: string): string {
  if (existsSync(path)) return path;
  throw new StartFailed(`${path} is missing: run \`npm run build\`, and deploy the whole of dist/.`);
}

/** Call it before anything is started that it traces. OpenTelemetry's SDK is loaded only where it is used. */
export async function startTracing(
  { traces }: { traces: 'otlp' | 'off' },
  process: TracedProcess,
  log: Logger,
): Promise<Tracing | undefined> {
  if (traces === 'off') return undefined;
  const { exportTraces } = await import('./monitoring/otlp-tracing.js');
  return exportTraces(process, log);
}
