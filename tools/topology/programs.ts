import { join } from 'node:path';
import { cached, progressReport } from '../../sandbox/temporal/cache.js';
import { temporalConfig, type TemporalConfig } from '../../sandbox/temporal/config.js';
import { findProgram, isExecutable, run } from '../../sandbox/temporal/programs.js';

/** The released server that docs/operations.md says the project was tried on. */
export const serverVersion = '1.32.0';
export const uiVersion = '2.42.1';

export interface TemporalPrograms {
  server: string;
  sqlTool: string;
  webUi: string;
}

const modules = {
  server: `go.temporal.io/server/cmd/server@v${serverVersion}`,
  sqlTool: `go.temporal.io/server/cmd/tools/sql@v${serverVersion}`,
  webUi: `github.com/temporalio/ui-server/v2/cmd/server@v${uiVersion}`,
} as const;

/** Temporal's server, its SQL tool and its Web UI, from the project's cache, else built with Go: ten minutes on two cores, once. */
export async function findTemporalPrograms(): Promise<TemporalPrograms> {
  return {
    server: await built('server', 'server'),
    sqlTool: await built('sqlTool', 'sql'),
    webUi: await built('webUi', 'server'),
  };
}

/** @param name what Go calls the program: the last folder of its module */
async function built(what: keyof typeof modules, name: string): Promise<string> {
  const config = temporalConfig();
  const module = modules[what];
  const report = progressReport();
  return cached(
    {
      what: module,
      folder: join(config.cacheFolder, module.replaceAll(/[^\w.]+/g, '-')),
      usable: async (folder) => ((await isExecutable(join(folder, name))) ? join(folder, name) : undefined),
      get: async (folder) => {
        try {
          await report.during(`building ${module}`, () => goInstall(module, folder, config));
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          throw new Error(`${module} could not be built (${reason}): install Go, or a later Go.`, { cause: error });
        }
      },
    },
    report,
  );
}

async function goInstall(module: string, folder: string, config: TemporalConfig): Promise<void> {
  const go = await findProgram('go', config.searchPath);
  if (go === undefined) throw new Error('there is no `go` on PATH');
  const environment = { ...config.environment, GOBIN: folder, GOFLAGS: '-mod=mod' };
  await run(go, ['install', module], { environment, cwd: folder });
}
