import { writeFile } from 'node:fs/promises';
import { serviceDescriptionIn } from '../../client/files.js';
import { commandLine } from '../command-line.js';
import { checkDescription, type Findings } from './check.js';
import { deriveService } from './deriving.js';
import { DescriptionInvalid, readDescription } from './description.js';

/*
 * `npm run service-check -- --openapi FILE`: derives from a deployment's OpenAPI description what differs, and compares what the client
 * sends and reads with it. Exit status 0: they agree; 1: they do not; 2: a file or an option cannot be used.
 */

function list(title: string, entries: readonly string[]): void {
  if (entries.length > 0) console.log(`\n${title}\n${entries.map((entry) => `  ${entry}`).join('\n')}`);
}

function print({ violations, missing, doubtful, unknownFields, unknown, counts }: Findings): void {
  list('Fields of answers that the client passes on without knowing them:', unknownFields);
  list('Statuses that have no meaning of their own here, and keep that of their first part:', unknown.statuses);
  list('Event types that are not handled:', unknown.events);
  list('Not counted, because the example breaks its own schema:', doubtful);
  list('Features of the client that are not described:', missing);
  list('Violations:', violations);
  const { calls, requests, examples, made } = counts;
  const checked = `${calls} calls, ${requests} requests, ${examples} examples, ${made} answers made of a schema`;
  console.log(`\n${checked}: ${violations.length} violations.`);
}

interface Given {
  openapi: string;
  description?: string;
  writeDescription?: string;
}

/** @throws DescriptionInvalid */
async function run({ openapi, description: file, writeDescription }: Given): Promise<void> {
  const description = await readDescription(openapi);
  const { service: derived, open } = deriveService(description);
  list(
    'Derived:',
    Object.entries(derived).map(([field, value]) => `${field}: ${JSON.stringify(value)}`),
  );
  list('Could not be derived:', open);
  const given = file === undefined ? {} : serviceDescriptionIn(file);
  if (Array.isArray(given)) throw new DescriptionInvalid(given.map((fault) => `--description ${fault}.`).join('\n'));
  const service = { ...derived, ...given };
  const findings = await checkDescription(description, { service });
  print(findings);
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
  process.exitCode = findings.violations.length > 0 || isMissingNew ? 1 : 0;
}

const given = commandLine(
  'service-check',
  'Derives how a deployment differs from its OpenAPI description, and compares what the client sends and reads with it.',
)
  .requiredOption('--openapi <file>', 'the OpenAPI description, 3.0 or 3.1, JSON or YAML')
  .option('--description <file>', 'the file of SERVICE_DESCRIPTION: its fields take precedence over what is derived')
  .option('--write-description <file>', 'writes that file; what is not described becomes `missing`')
  .addHelpText('after', '\nExit status 0: they agree. 1: they do not. 2: a file or an option cannot be used.')
  .parse()
  .opts<Given>();
try {
  await run(given);
} catch (error) {
  if (!(error instanceof DescriptionInvalid)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
