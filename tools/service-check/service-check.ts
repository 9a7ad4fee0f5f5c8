import { writeFile } from 'node:fs/promises';
import { serviceDescriptionIn } from '../../client/files.js';
import { checkDescription, type Findings } from './check.js';
import { deriveService } from './deriving.js';
import { DescriptionInvalid, readDescription } from './description.js';

type Say = (line: string) => void;

function list(say: Say, title: string, entries: readonly string[]): void {
  if (entries.length > 0) say(`\n${title}\n${entries.map((entry) => `  ${entry}`).join('\n')}`);
}

function print(say: Say, { violations, missing, doubtful, unknownFields, unknown, counts }: Findings): void {
  list(say, 'Fields of answers that the client passes on without knowing them:', unknownFields);
  list(say, 'Statuses that have no meaning of their own here, and keep that of their first part:', unknown.statuses);
  list(say, 'Event types that are not handled:', unknown.events);
  list(say, 'Not counted, because the example breaks its own schema:', doubtful);
  list(say, 'Features of the client that are not described:', missing);
  list(say, 'Violations:', violations);
  const { calls, requests, examples, made } = counts;
  const checked = `${calls} calls, ${requests} requests, ${examples} examples, ${made} answers made of a schema`;
  say(`\n${checked}: ${violations.length} violations.`);
}

/** The options of `npm run service-check`. */
export interface Given {
  openapi: string;
  description?: string;
  writeDescription?: string;
}

/**
 * Derives from a deployment's OpenAPI description what differs, and compares what the client sends and reads with it.
 *
 * @returns true if they agree
 * @throws DescriptionInvalid if a file cannot be used
 */
export async function serviceCheck(
  { openapi, description: file, writeDescription }: Given,
  say: Say,
): Promise<boolean> {
  const description = await readDescription(openapi);
  const { service: derived, open } = deriveService(description);
  list(
    say,
    'Derived:',
    Object.entries(derived).map(([field, value]) => `${field}: ${JSON.stringify(value)}`),
  );
  list(say, 'Could not be derived:', open);
  const given = file === undefined ? {} : serviceDescriptionIn(file);
  if (Array.isArray(given)) throw new DescriptionInvalid(given.map((fault) => `--description ${fault}.`).join('\n'));
  const service = { ...derived, ...given };
  const findings = await checkDescription(description, { service });
  print(say, findings);
  const isWritten = writeDescription !== undefined;
  if (isWritten) {
    const missing = [...(service.missing ?? []), ...findings.missing];
    const text = `${JSON.stringify({ ...service, ...(missing.length > 0 && { missing }) }, undefined, 2)}\n`;
    await writeFile(writeDescription, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      const remedy = error.code === 'EEXIST' ? 'remove it, or give it as --description' : 'check the path';
      throw new DescriptionInvalid(`${writeDescription} cannot be written (${error.code}): ${remedy}.`);
    });
  }
  const isMissingNew = findings.missing.length > 0 && !isWritten;
  return findings.violations.length === 0 && !isMissingNew;
}
