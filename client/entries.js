import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * The last step of `npm pack ./client`, after tsc. The package has one implementation, in CommonJS, which every loader and Jest can load;
 * beside each entry stands the ES module that passes its exports on, so an error is the same class however it was imported. The
 * sources that the maps name come along.
 */

const folder = fileURLToPath(new URL('.', import.meta.url));
const { exports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));

await writeFile(join(folder, 'dist/package.json'), JSON.stringify({ type: 'commonjs' }));

for (const { import: entry } of Object.values(exports)) {
  if (entry === undefined) continue;
  const passOn = `export * from './${entry.default.split('/').at(-1).replace('.mjs', '.js')}';\n`;
  for (const file of [entry.default, entry.types]) await writeFile(join(folder, file), passOn);
}

for (const name of await readdir(join(folder, 'dist'), { recursive: true })) {
  if (!name.endsWith('.map')) continue;
  const path = join(folder, 'dist', name);
  const map = JSON.parse(await readFile(path, 'utf8'));
  const source = name.replace(/(\.d\.ts|\.js)\.map$/, '.ts');
  const copy = join(folder, 'dist/source', source);
  await mkdir(dirname(copy), { recursive: true });
  await cp(join(folder, '..', source), copy);
  await writeFile(path, JSON.stringify({ ...map, sources: [relative(dirname(path), copy)] }));
}
