import { join } from 'node:path';
import { inject } from 'vitest';
import { startProcess, type ProcessOptions, type StartedProcess } from './processes.js';

/**
 * A program of this project as its own process, from the build that was made for this run of the suite: as in production.
 *
 * @param file the TypeScript file, from the project's folder
 */
export async function startBuilt(
  file: string,
  options: ProcessOptions & { args?: readonly string[] } = {},
): Promise<StartedProcess> {
  return startProcess(process.execPath, [builtPath(file), ...(options.args ?? [])], options);
}

/** @param file a TypeScript file, from the project's folder */
export function builtPath(file: string): string {
  return join(inject('buildFolder'), file.replace(/\.ts$/, '.js'));
}
