import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger } from '@temporalio/worker';
import { build } from 'esbuild';
import { bundleWorkflows, failureForms, prebuiltNames } from '../workers/bundle.js';

const projectFolder = fileURLToPath(new URL('..', import.meta.url));

/** What is started, or loaded by its path. What several of them need is written once, in chunks/. */
const programs = [
  ...['worker', 'ingress', 'codec-server', 'single-process', 'labops'].map((name) => `workers/${name}.ts`),
  'sandbox/main.ts',
  'client/encryption/failure-converter.ts',
];

/**
 * What Node finds in node_modules. Temporal's packages load files of their own by path, and share OpenTelemetry's with us. The others
 * are native, load a file of their own, or are not installed.
 */
const external = ['@temporalio/*', '@opentelemetry/*', '@electric-sql/pglite', 'fs-native-extensions', 'pg-native'];

/** CommonJS packages call it. */
const requireOfModule = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/**
 * Bundles the programs: to load hundreds of small files takes longer than to run what is in them (docs/internals/performance.md).
 * Comments that have to stay with a package's text are in a file beside it, and the licences of all that is bundled in `licences.txt`.
 */
export async function buildPrograms(folder: string, entryPoints: readonly string[] = programs): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: projectFolder,
    entryPoints: [...entryPoints],
    outbase: '.',
    outdir: folder,
    // At the depth of the programs: from both, `../` is the folder of the workflow bundles.
    chunkNames: 'chunks/[name]-[hash]',
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20', logLevel: 'warning' },
    ...{ sourcemap: true, sourcesContent: false, legalComments: 'linked' },
    external,
    banner: { js: requireOfModule },
    metafile: true,
  });
  await writeFile(join(folder, 'licences.txt'), await licencesOf(Object.keys(metafile.inputs)));
}

/** The licences, as text, of the packages that these files are part of. */
async function licencesOf(files: readonly string[]): Promise<string> {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
  const texts = [...packages].sort().map(async (name) => {
    const path = join(projectFolder, name);
    const licences = (await readdir(path)).filter((file) => /^licen[cs]e/i.test(file));
    const parts = await Promise.all(licences.map((file) => readFile(join(path, file), 'utf8')));
    // Some packages have no text, and state their licence by its name alone.
    const { version, license } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8')) as Record<
      string,
      string
    >;
    return [`== ${name.replace('node_modules/', '')}@${version} (${license})`, ...parts].join('\n\n');
  });
  return (await Promise.all(texts)).join('\n\n');
}

/** Bundles the workflows, once for each form of failures: a worker that has to do it starts in five times the time. */
export async function buildWorkflows(folder: string): Promise<void> {
  for (const failures of failureForms) {
    const { code } = await bundleWorkflows(failures, { logger: new DefaultLogger('WARN') });
    await writeFile(join(folder, prebuiltNames[failures]), code);
  }
}
