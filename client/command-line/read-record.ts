import { appendFileSync } from 'node:fs';
import type { Command } from 'commander';
import { isReference } from '../../protocol/ids.js';
import type { ReadRecord } from '../../service/reads.js';
import { readReadsFile } from '../config.js';
import { UsageError } from './failures.js';

/** The areas whose answers say something of a person, also those of commands, which answer with the state. */
const ofPersons = ['orders', 'links', 'reports', 'users', 'appointments', 'match-reviews'];

/** Appends one line of JSON to the file LABOPS_READS_FILE before the command begins: what cannot be recorded is not shown. */
export function recordRead(command: Command, actor: string | undefined): void {
  const file = readReadsFile();
  const area = command.parent?.name() ?? '';
  if (file === undefined || !ofPersons.includes(area)) return;
  const { reference, user } = command.opts<{ reference?: string; user?: string }>();
  const subject = command.args[0] ?? reference ?? user;
  const record: ReadRecord = {
    at: new Date().toISOString(),
    ...(actor !== undefined && { actor }),
    what: `labops ${area} ${command.name()}`,
    // Text that is not an id may be anything, such as a name.
    ...(isReference(subject) && { subject }),
  };
  try {
    appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new UsageError(`The file of LABOPS_READS_FILE cannot be written (${code}): nothing was read or sent`);
  }
}
