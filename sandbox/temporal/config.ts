import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The places of Temporal servers: where they are looked for, and where fetched or built ones are put. */
export interface TemporalConfig {
  /** TEMPORAL_CLI: the `temporal` program to use, and no other. */
  cli?: string;
  /** TEMPORAL_TEST_SERVER: the time-skipping test server to use, and no other. */
  testServer?: string;
  /** The folders of PATH. */
  searchPath: readonly string[];
  /** The project's folder in the user's cache directory. May be deleted at any time. */
  cacheFolder: string;
  /** The environment of the programs that fetch and build servers. */
  environment: NodeJS.ProcessEnv;
}

export function temporalConfig(environment: NodeJS.ProcessEnv = process.env): TemporalConfig {
  const { TEMPORAL_CLI: cli, TEMPORAL_TEST_SERVER: testServer } = environment;
  return {
    ...(cli && { cli }),
    ...(testServer && { testServer }),
    searchPath: (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
    cacheFolder: join(userCache(environment), 'lab-operations-worker'),
    environment,
  };
}

function userCache(environment: NodeJS.ProcessEnv): string {
  if (environment.XDG_CACHE_HOME) return environment.XDG_CACHE_HOME;
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache');
}
