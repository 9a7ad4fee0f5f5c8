import type { CommandLine } from '../client/command-line/command-line.js';
import { migrateDatabase } from '../store/schema-state.js';
import { readMigrationConfig } from './settings/config.js';

/**
 * `labops migrate`.
 * @throws ConfigInvalid, StoreFailed
 */
export async function migrate(commandLine: CommandLine): Promise<void> {
  const { databaseUrl, warnings } = readMigrationConfig();
  for (const warning of warnings) commandLine.terminal.err(`${warning}\n`);
  const { applied, roles } = await migrateDatabase(databaseUrl);
  const ofTables = applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing was missing';
  const ofRoles = roles.length > 0 ? roles.join(', ') : 'none of its roles exists here';
  commandLine.print({ applied, roles }, () => `Tables: ${ofTables}.\nRights: ${ofRoles}.`);
}
