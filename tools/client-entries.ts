import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a backend can import from the client's package, without the schemas. */
export interface ClientEntry {
  /** The name that is imported: `@lab-operations/client/health-data`. */
  importedAs: string;
  /** The part of it after the package's name; undefined for the package itself. */
  subpath?: string;
  /** The path of its source from the project's folder, without extension: `client/index`. */
  source: string;
}

interface Manifest {
  name: string;
  exports: Record<string, string | { default: { types: string } }>;
}

/** The entries of client/package.json's `exports` that have types. */
export async function clientEntries(projectFolder: string): Promise<ClientEntry[]> {
  const text = await readFile(join(projectFolder, 'client/package.json'), 'utf8');
  const { name, exports } = JSON.parse(text) as Manifest;
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === 'string') return [];
    const source = /^\.\/dist\/(.+)\.d\.ts$/.exec(target.default.types)?.[1];
    if (source === undefined) throw new Error(`client/package.json: the types of ${path} are not in dist/`);
    if (path === '.') return [{ importedAs: name, source }];
    const subpath = path.slice('./'.length);
    return [{ importedAs: `${name}/${subpath}`, subpath, source }];
  });
}
