import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientEntries } from './client-entries.js';

/*
 * The last step of `npm pack ./client`, after tsc. The package has one implementation, in CommonJS, which every loader and Jest can load.
 * Beside each entry stands an ES module that passes its exports on, so an error is the same class however it was imported. Node's own
 * modules are loaded without `require`, which a bundler cannot carry into an ES module. The package also contains the sources that
 * the maps name.
 */

const projectFolder = fileURLToPath(new URL('..', import.meta.url));
const dist = join(projectFolder, 'client/dist');

await writeFile(join(dist, 'package.json'), JSON.stringify({ type: 'commonjs' }));
for (const { source } of await clientEntries(projectFolder)) {
  for (const extension of ['.mjs', '.d.mts'])
    await writeFile(join(dist, source + extension), `export * from './${basename(source)}.js';\n`);
}
for (const name of await readdir(dist, { recursive: true })) {
  if (name.endsWith('.js')) {
    const code = await readFile(join(dist, name), 'utf8');
    await writeFile(join(dist, name), code.replaceAll(/\brequire\("node:/g, 'process.getBuiltinModule("node:'));
  }
  if (!name.endsWith('.map')) continue;
  const source = name.replace(/(\.d\.ts|\.js)\.map$/, '.ts');
  const copy = join(dist, 'source', source);
  await mkdir(dirname(copy), { recursive: true });
  await cp(join(projectFolder, source), copy);
  const map = JSON.parse(await readFile(join(dist, name), 'utf8')) as object;
  await writeFile(join(dist, name), JSON.stringify({ ...map, sources: [relative(dirname(join(dist, name)), copy)] }));
}
