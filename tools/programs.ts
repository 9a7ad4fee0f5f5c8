import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger } from '@temporalio/worker';
import { build } from 'esbuild';
import { bundleWorkflows, failureForms, prebuiltNames } from '../workers/bundle.js';

const projectFolder = fileURLToPath(new URL('..', import.meta.url));

/** What is started, or loaded by its path. What several of them need is written once, in chunks/. */
const entries = [
  ...['worker', 'ingress', 'codec-server', 'single-process', 'doctor', 'replay', 'migrate', 'labops'].map(
    (name) => `workers/${name}.ts`,
  ),
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
 * Bundles the programs: to load hundreds of small files takes longer than to run what is in them (docs/internals/performance.md). The licences are in
 * node_modules, which is deployed too; comments that have to stay with a package's text are in a file beside it.
 */
export async function buildPrograms(folder: string): Promise<void> {
  await build({
    absWorkingDir: projectFolder,
    entryPoints: entries,
    outbase: '.',
    outdir: folder,
    // At the depth of the programs: from both, `../` is the folder of the workflow bundles.
    chunkNames: 'chunks/[name]-[hash]',
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20', logLevel: 'warning' },
    ...{ sourcemap: true, sourcesContent: false, legalComments: 'linked' },
    external,
    banner: { js: requireOfModule },
  });
}

/** Bundles the workflows, once for each form of failures: a worker that has to do it starts in five times the time. */
export async function buildWorkflows(folder: string): Promise<void> {
  for (const failures of failureForms) {
    const { code } = await bundleWorkflows(failures, { logger: new DefaultLogger('WARN') });
    await writeFile(join(folder, prebuiltNames[failures]), code);
  }
}
