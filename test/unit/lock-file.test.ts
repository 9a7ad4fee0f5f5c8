import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import client from '../../client/package.json' with { type: 'json' };
import { isEarlier } from '../../client/temporal-connection.js';
import manifest from '../../package.json' with { type: 'json' };
import { projectFolder } from '../rig/processes.js';

interface Locked {
  integrity?: string;
  resolved?: string;
}

/** The packages of the project's lock file, by their folders. */
const packagesOf = async () =>
  JSON.parse(await readFile(join(projectFolder, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> };

const folder = await mkdtemp(join(tmpdir(), 'lock-file-'));
afterAll(() => rm(folder, { recursive: true }));

function check(path: string) {
  const { status, stderr } = spawnSync(process.execPath, [join(projectFolder, '.ci/lock-file.js'), path]);
  return { status, said: stderr.toString() };
}

/** Checks the project's lock file with one package changed. */
async function checkWith(change: (fastify: Locked) => void) {
  const lock = await packagesOf();
  const fastify = lock.packages['node_modules/fastify'];
  if (fastify) change(fastify);
  const path = join(folder, 'package-lock.json');
  await writeFile(path, JSON.stringify(lock));
  return check(path);
}

test('every package of the lock file has a hash', () => {
  expect(check(join(projectFolder, 'package-lock.json'))).toEqual({ status: 0, said: '' });
});

test('no package runs a script of its own when it is installed, here or in the image', async () => {
  expect(await readFile(join(projectFolder, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
  const installs = (await readFile(join(projectFolder, 'Dockerfile'), 'utf8')).match(/npm (ci|install).*/g);
  expect(installs).toEqual(['npm ci --ignore-scripts']);
});

test('each package of OpenTelemetry is installed once', async () => {
  const installed = Object.keys((await packagesOf()).packages).filter((path) =>
    path.includes('node_modules/@opentelemetry/'),
  );
  expect(installed.filter((path) => path.lastIndexOf('node_modules/') > 0)).toEqual([]);
  expect(installed.length).toBeGreaterThan(5);
});

test('CI refuses a lock file with a package that has no hash, or none that can be trusted', async () => {
  const said = expect.stringContaining('node_modules/fastify has no sha512 hash') as string;
  expect(await checkWith((fastify) => delete fastify.integrity)).toEqual({ status: 1, said });
  const weak = 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=';
  expect(await checkWith((fastify) => (fastify.integrity = weak))).toMatchObject({ status: 1 });
});

test('CI refuses a package that is resolved to a private registry', async () => {
  const from = (registry: string) =>
    checkWith((fastify) => (fastify.resolved = `https://${registry}/fastify/-/fastify-5.12.8.tgz`));
  const said = expect.stringContaining('node_modules/fastify is resolved to') as string;
  expect(await from('registry.internal')).toEqual({ status: 1, said });
  expect(await from('registry.npmjs.org')).toEqual({ status: 0, said: '' });
});

test('CI checks the lock file before it installs anything', async () => {
  const script = await readFile(join(projectFolder, '.ci/run'), 'utf8');
  expect(script.indexOf('node .ci/lock-file.js')).toBeGreaterThan(0);
  expect(script.indexOf('node .ci/lock-file.js')).toBeLessThan(script.indexOf('npm ci'));
});

test.each(Object.entries({ ...client.dependencies, ...client.peerDependencies }))(
  'the range of the client’s package takes the version of %s that is tested here: %s',
  (name, range) => {
    const tested: Record<string, string> = { ...manifest.devDependencies, ...manifest.dependencies };
    const version = tested[name] ?? '';
    expect(range).toMatch(new RegExp(`^\\^${Number.parseInt(version, 10)}\\.\\d+\\.\\d+$`));
    expect(isEarlier(version, range.slice(1)), `${version} is earlier`).toBe(false);
  },
);
