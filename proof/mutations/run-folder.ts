import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The files that the command and the process with the tests share, in a folder of this run. That process may be killed at any
 * moment, and the next one goes on where it stopped.
 */

/** Names the folder in the environment. */
export const folderVariable = 'MUTATIONS_FOLDER';

export interface Instrumented {
  /** The files by their paths, with every change in them: one is made if its id is `__stryker__.activeMutant`. */
  texts: Record<string, string>;
  /** The ids of the changes to try. */
  ids: string[];
}

export type Line =
  | { reached: readonly string[]; whenLoaded: readonly string[] }
  | { noticed: string }
  /** None of the test file's tests noticed the change. */
  | { unnoticed: string; file: string }
  /** The test no longer passes after the changes, though none is switched on. */
  | { broken: string }
  | { finished: string };

/** A test that runs with a change switched on. */
export interface Attempt {
  id: string;
  pid: number;
  /** When it hangs, in milliseconds since the epoch. */
  until: number;
}

export class RunFolder {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get instrumented(): Instrumented {
    return JSON.parse(readFileSync(this.at('instrumented.json'), 'utf8')) as Instrumented;
  }

  set instrumented(instrumented: Instrumented) {
    writeFileSync(this.at('instrumented.json'), JSON.stringify(instrumented));
  }

  get lines(): Line[] {
    if (!existsSync(this.at('lines'))) return [];
    const lines = readFileSync(this.at('lines'), 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Line);
  }

  add(line: Line): void {
    appendFileSync(this.at('lines'), `${JSON.stringify(line)}\n`);
  }

  /** The present one. */
  get attempt(): Attempt | undefined {
    if (!existsSync(this.at('attempt.json'))) return undefined;
    return (JSON.parse(readFileSync(this.at('attempt.json'), 'utf8')) as Attempt | null) ?? undefined;
  }

  set attempt(attempt: Attempt | undefined) {
    // No reader may find half of it.
    writeFileSync(this.at('next.json'), JSON.stringify(attempt ?? null));
    renameSync(this.at('next.json'), this.at('attempt.json'));
  }

  private at(name: string): string {
    return join(this.path, name);
  }
}
