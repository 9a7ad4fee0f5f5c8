import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

export const chart = 'deploy/chart';

/** The values of deploy/kubernetes/values/, for each of which `rendered/<name>.yaml` has what the chart makes of them. */
export const variants = ['base', 'worker-deployment', 'least', 'most'] as const;

export type Variant = (typeof variants)[number];

/** The path of a variant's values, from the project's folder. */
export function valuesPath(variant: Variant): string {
  return `deploy/kubernetes/values/${variant}.yaml`;
}

/** The path of a variant's rendered file, from the project's folder. */
export function renderedPath(variant: Variant): string {
  return `deploy/kubernetes/rendered/${variant}.yaml`;
}

/** The first line of a variant's rendered file. It names the state of the sources, so a stale file is found without Helm. */
export async function headerOf(folder: string, variant: Variant): Promise<string> {
  const hash = createHash('sha256');
  const files = await readdir(join(folder, chart), { recursive: true, withFileTypes: true });
  // The schema decides only what is refused.
  const sources = files
    .filter((entry) => entry.isFile() && entry.name !== 'values.schema.json')
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const source of [...sources.toSorted(), join(folder, valuesPath(variant))]) {
    hash.update(`${relative(folder, source)}\0`).update(await readFile(source));
  }
  return `# Written by \`npm run manifests\` from ${chart} and ${valuesPath(variant)}, sources ${hash.digest('hex').slice(0, 16)}: edit those.\n`;
}

/**
 * Renders the chart; undefined if there is no `helm` on PATH.
 * @param options further ones of `helm template`, such as `--set`
 * @throws Error with Helm's text as `stderr`, if it refuses the values
 */
export async function rendered(folder: string, variant: Variant, ...options: string[]): Promise<string | undefined> {
  // The API version whose types the tests check with.
  const release = ['lab-operations', '--namespace', 'lab-operations', '--kube-version', '1.30'];
  return helm('template', ...release, join(folder, chart), '--values', join(folder, valuesPath(variant)), ...options);
}

/** Runs Helm, and gives what it prints; undefined if there is no `helm` on PATH. */
export async function helm(...args: string[]): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('helm', args, { maxBuffer: 10_000_000 });
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
