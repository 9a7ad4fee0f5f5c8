import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, loopback } from '../../sandbox/temporal/ports.js';
import { lastLines, spawnWatched } from '../../sandbox/temporal/programs.js';

export const installCommand = 'apt-get install -y postgresql';

export interface PostgresServer {
  /** Of its database for everything; tests make their own. */
  url: string;
  stop(): Promise<void>;
}

const packaged = '/usr/lib/postgresql';
const startWithinMs = 240_000;

/** The folder of PostgreSQL's server programs: on PATH, else the latest of Debian's packages; undefined: none. */
export async function findPostgres(path = process.env['PATH'] ?? '', packages = packaged): Promise<string | undefined> {
  const versions = existsSync(packages) ? await readdir(packages) : [];
  const latestFirst = versions.toSorted((one, other) => Number(other) - Number(one));
  const folders = [...path.split(delimiter), ...latestFirst.map((version) => join(packages, version, 'bin'))];
  const found = folders.find((folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')));
  return found;
}

/** @param what needs it, for the message */
export async function requirePostgres(what: string): Promise<string> {
  const programs = await findPostgres();
  if (programs === undefined) throw new Error(`The measure "${what}" needs PostgreSQL: ${installCommand}`);
  return programs;
}

/**
 * Starts a PostgreSQL server of its own, on the loopback interface, with its data in a temporary folder. It does not
 * outlive this process. PostgreSQL refuses to run as root: there it runs as `nobody`.
 *
 * @param more settings of the server, in addition or instead
 */
export async function startPostgres(
  programs: string,
  more: Record<string, string | number> = {},
): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-postgres-'));
  const removed = () => rm(folder, { recursive: true, force: true });
  try {
    const as = await unprivileged(folder);
    const [initdb, postgres] = await Promise.all(['initdb', 'postgres'].map((name) => realpath(join(programs, name))));
    if (initdb === undefined || postgres === undefined) throw new Error('PostgreSQL has no programs');
    const data = join(folder, 'data');
    await run([...as, initdb, '-D', data, '-U', 'lab', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], folder);
    const port = await freePort();
    const stop = await serve([...as, postgres, '-D', data, ...settings({ port, ...more })], folder);
    return {
      url: `postgres://lab@${loopback}:${port}/postgres`,
      stop: async () => {
        await stop();
        await removed();
      },
    };
  } catch (error) {
    await removed();
    throw error;
  }
}

/** None of it must survive, so it need not reach the disk. */
function settings(more: Record<string, string | number>): string[] {
  const set = { listen_addresses: loopback, unix_socket_directories: '', fsync: 'off', max_connections: 50, ...more };
  return Object.entries(set).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** The prefix of a command that must run without root's rights; hands the folder to the user who runs it. */
async function unprivileged(folder: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const [uid, gid] = await Promise.all(['-u', '-g'].map((which) => run(['id', which, 'nobody'])));
  await chown(folder, Number(uid), Number(gid));
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}

async function run([program = '', ...args]: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, cwd === undefined ? {} : { cwd });
  return stdout.trim();
}

/** Settles when it takes connections, with a function that ends it. */
async function serve(command: readonly string[], cwd: string): Promise<() => Promise<void>> {
  const [program = '', ...args] = command;
  const child = spawnWatched(program, args, { cwd });
  child.stdout.resume();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const tail = lastLines(5);
  await new Promise<void>((resolve, reject) => {
    const tooLong = setTimeout(() => child.kill('SIGKILL'), startWithinMs);
    void ended.then(() => reject(new Error(`PostgreSQL did not start:\n${tail.text()}`)));
    child.once('error', reject);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail.add(text);
      if (!/ready to accept connections/.test(tail.text())) return;
      clearTimeout(tooLong);
      resolve();
    });
  });
  return async () => {
    child.kill('SIGINT'); // "fast": ends sessions instead of waiting for them
    await ended;
  };
}
