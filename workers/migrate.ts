import { parseArgs } from 'node:util';
import { StoreFailed } from '../store/database.js';
import { migrateDatabase } from '../store/schema-state.js';
import { isProgram, runProgram, StartFailed } from './process.js';
import { readMigrationConfig } from './settings/config.js';

const help = `Usage: labops migrate

Brings the tables of health data in the database of DATABASE_URL up to date, and gives the roles of deploy/database-roles.sql their
rights. Its user has to own the schema health_data, or be allowed to create it. Repeat it as you like.

Exit status: 0 they are up to date; 1 they cannot be; 2 the command line or a setting is invalid.
`;

/** `labops migrate`, also `npm run migrate`. Returns the exit status. */
export async function migrate(args: readonly string[]): Promise<number> {
  const isHelp = helpAsked(args);
  if (isHelp === undefined) {
    process.stderr.write(`error: unknown argument.\n${help}`);
    return 2;
  }
  process.stdout.write(isHelp ? help : await migrated());
  return 0;
}

/** Undefined if an argument is unknown. */
function helpAsked(args: readonly string[]): boolean | undefined {
  try {
    return parseArgs({ args: [...args], options: { help: { type: 'boolean', short: 'h' } } }).values.help === true;
  } catch {
    return undefined;
  }
}

/** @throws ConfigInvalid, StartFailed */
async function migrated(): Promise<string> {
  const { databaseUrl, warnings } = readMigrationConfig();
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  try {
    const { applied, roles } = await migrateDatabase(databaseUrl);
    const ofTables = applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing was missing';
    const ofRoles = roles.length > 0 ? roles.join(', ') : 'none of its roles exists here';
    return `Tables: ${ofTables}.\nRights: ${ofRoles}.\n`;
  } catch (error) {
    if (error instanceof StoreFailed) throw new StartFailed(error.message, { cause: error });
    throw error;
  }
}

if (isProgram('workers/migrate')) await runProgram(() => migrate(process.argv.slice(2)));
