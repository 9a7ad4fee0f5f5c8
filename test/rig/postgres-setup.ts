import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { projectFolder } from './processes.js';
import { findPostgres, installCommand, startPostgres } from './postgres.js';

declare module 'vitest' {
  // What setup provides and `inject` reads; vitest requires an interface that it can merge.
  interface ProvidedContext {
    /** Of a running server; undefined where PostgreSQL is not installed. */
    postgresUrl: string | undefined;
  }
}

/** One server for all files, with the roles of deploy/. Without PostgreSQL its tests are skipped, and in CI, where nobody would see it, they fail. */
export async function providePostgres(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const programs = await findPostgres();
  if (programs === undefined) {
    if (isCi()) throw new Error(`PostgreSQL is not installed: run \`${installCommand}\`.`);
    process.stderr.write(`PostgreSQL is not installed, its tests are skipped: run \`${installCommand}\`.\n`);
    project.provide('postgresUrl', undefined);
    return undefined;
  }
  const server = await startPostgres(programs);
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(await readFile(join(projectFolder, 'deploy/database-roles.sql'), 'utf8'));
  await client.end();
  project.provide('postgresUrl', server.url);
  return () => server.stop();
}

function isCi(): boolean {
  return !['', '0', 'false'].includes(process.env['CI'] ?? '');
}
