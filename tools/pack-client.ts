import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientEntries } from './client-entries.js';

/*
 * The last step of `npm pack ./client`, after tsc. The package has one implementation, in CommonJS, which every loader and Jest can load.
 * Beside each entry stands an ES module that passes its exports on, so an error is the same class however it was imported. Node's own
 * modules are loaded without `require`, which a bundler cannot carry into an ES module. The package also contains the sources that
 * the maps name; the command line is a program, and has neither maps nor types; and declarations that no entry reaches are left out.
 */

const projectFolder = fileURLToPath(new URL('..', import.meta.url));
const dist = join(projectFolder, 'client/dist');

await writeFile(join(dist, 'package.json'), JSON.stringify({ type: 'commonjs' }));
for (const { source } of await clientEntries(projectFolder)) {
  for (const extension of ['.mjs', '.d.mts'])
    await writeFile(join(dist, source + extension), `export * from './${basename(source)}.js';\n`);
}

for (const name of await readdir(dist, { recursive: true })) {
  const path = join(dist, name);
  const isProgram = name.startsWith('client/command-line/');
  if (name.endsWith('.js')) {
    const code = await readFile(path, 'utf8');
    const loading = code.replaceAll(/\brequire\("node:/g, 'process.getBuiltinModule("node:');
    await writeFile(path, isProgram ? loading.replace(/\n\/\/# sourceMappingURL=.*/, '') : loading);
  } else if (isProgram) {
    await rm(path);
  } else if (name.endsWith('.map')) {
    const source = name.replace(/(\.d\.ts|\.js)\.map$/, '.ts');
    const copy = join(dist, 'source', source);
    await mkdir(dirname(copy), { recursive: true });
    await cp(join(projectFolder, source), copy);
    const map = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...map, sources: [relative(dirname(path), copy)] }));
  }
}

const reached = new Set<string>();

async function reach(declarations: string): Promise<void> {
  if (reached.has(declarations)) return;
  reached.add(declarations);
  const imported = (await readFile(declarations, 'utf8')).matchAll(/(?:from |import\()["'](\.[^"']+)\.js["']/g);
  for (const [, module = ''] of imported) await reach(join(dirname(declarations), `${module}.d.ts`));
}

for (const { source } of await clientEntries(projectFolder)) await reach(join(dist, `${source}.d.ts`));
for (const name of await readdir(dist, { recursive: true })) {
  const declarations = /^(.*\.d\.ts)(\.map)?$/.exec(join(dist, name))?.[1];
  if (declarations !== undefined && !reached.has(declarations)) await rm(join(dist, name));
}

const schemas = join(projectFolder, 'client/schemas');
await mkdir(join(dist, 'schemas'));
for (const name of await readdir(schemas)) {
  const schema: unknown = JSON.parse(await readFile(join(schemas, name), 'utf8'));
  await writeFile(join(dist, 'schemas', name), JSON.stringify(schema));
}
