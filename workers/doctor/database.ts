import { DatabaseNotUtf8, StoreFailed } from '../../store/database.js';
import { readSchemaState, type SchemaState, TablesOutdated } from '../../store/schema-state.js';
import type { WorkerConfig } from '../settings/config.js';
import { fault, ok, type Verdict, warning } from './findings.js';

/** The database for health data: reachable, with the tables of this release. */
export async function database({
  databaseUrl,
  healthData,
}: Partial<Pick<WorkerConfig, 'databaseUrl' | 'healthData'>>): Promise<Verdict> {
  if (healthData === 'off') return ok('No health data are kept (HEALTH_DATA=off).');
  if (databaseUrl === undefined) {
    return warning(
      'DATABASE_URL is not set here: with these settings deletions do not become final.',
      "Set the worker's DATABASE_URL here; if it has none, set it there, too, or HEALTH_DATA=off if no health data are kept.",
    );
  }
  try {
    return verdictOf(await readSchemaState(databaseUrl));
  } catch (error) {
    if (!(error instanceof StoreFailed)) throw error;
    if (error instanceof DatabaseNotUtf8) return fault(error.problem, DatabaseNotUtf8.remedy);
    const remedy = 'Start it, or correct DATABASE_URL; its user needs rights on the schema health_data.';
    return fault(`The database cannot be used (${error.message.replace(/\.$/, '')}).`, remedy);
  }
}

function verdictOf({ missing, unknown, mayMigrate }: SchemaState): Verdict {
  if (missing.length > 0 && !mayMigrate) return fault(new TablesOutdated(missing).problem, TablesOutdated.remedy);
  if (unknown.length > 0) {
    const found = `The database was migrated by a later release (${unknown.join(', ')}).`;
    return warning(found, 'If that is not a rollout, run the later release: only the next one is compatible.');
  }
  if (missing.length > 0) {
    return warning(
      `The database lacks ${missing.join(', ')}.`,
      'Start a worker: the first that needs the tables migrates them.',
    );
  }
  return ok('The database answers, and its tables are those of this release.');
}
